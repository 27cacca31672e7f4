DELETE FROM proof WHERE id = :id;
