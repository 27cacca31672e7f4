INSERT INTO format (line, version)
VALUES (?, ?)
ON CONFLICT (line) DO UPDATE SET version = excluded.version
