SELECT id FROM memo WHERE tree = :tree AND base = :base ORDER BY id DESC;
