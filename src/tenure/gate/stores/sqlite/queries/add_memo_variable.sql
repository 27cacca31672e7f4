INSERT INTO memo_variable (memo, name, digest) VALUES (:memo, :name, :digest);
