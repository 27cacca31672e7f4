SELECT path, device, inode, size, mtime_ns, ctime_ns, digest FROM content;
