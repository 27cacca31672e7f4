SELECT body FROM proof WHERE id = :id;
