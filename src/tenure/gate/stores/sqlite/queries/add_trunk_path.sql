INSERT INTO trunk_path (path, device, inode, size, mtime_ns, ctime_ns)
VALUES (:path, :device, :inode, :size, :mtime_ns, :ctime_ns);
