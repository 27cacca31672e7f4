SELECT body FROM run WHERE id = :id;
