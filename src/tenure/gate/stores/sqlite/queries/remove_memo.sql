DELETE FROM memo WHERE id = :memo;
