DELETE FROM receipt WHERE id = :id;
