DELETE FROM memo_path WHERE memo = :memo;
