SELECT id FROM memo WHERE proof = :proof;
