INSERT INTO setting (name, value) VALUES (:name, :value) RETURNING name;
