SELECT path, device, inode, size, mtime_ns, ctime_ns FROM memo_path WHERE memo = :memo;
