DELETE FROM memo_variable WHERE memo = :memo;
