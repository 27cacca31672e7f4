INSERT INTO memo (tree, base, tip, proof) VALUES (:tree, :base, :tip, :proof) RETURNING id;
