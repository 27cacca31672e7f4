SELECT path, device, inode, size, mtime_ns, ctime_ns FROM trunk_path;
