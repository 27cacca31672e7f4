DELETE FROM run WHERE id = :id;
