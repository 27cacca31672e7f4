SELECT name, digest FROM memo_variable WHERE memo = :memo;
