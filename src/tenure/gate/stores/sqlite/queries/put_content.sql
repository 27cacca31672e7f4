INSERT INTO content (path, device, inode, size, mtime_ns, ctime_ns, digest)
VALUES (:path, :device, :inode, :size, :mtime_ns, :ctime_ns, :digest)
ON CONFLICT (path) DO UPDATE SET
    device = excluded.device,
    inode = excluded.inode,
    size = excluded.size,
    mtime_ns = excluded.mtime_ns,
    ctime_ns = excluded.ctime_ns,
    digest = excluded.digest;
