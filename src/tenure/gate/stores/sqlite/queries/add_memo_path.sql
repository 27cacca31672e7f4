INSERT INTO memo_path (memo, path, device, inode, size, mtime_ns, ctime_ns)
VALUES (:memo, :path, :device, :inode, :size, :mtime_ns, :ctime_ns);
