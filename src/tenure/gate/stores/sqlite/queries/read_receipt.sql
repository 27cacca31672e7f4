SELECT sequence, body FROM receipt WHERE id = :id;
