INSERT INTO program (digest, body) VALUES (?, ?) ON CONFLICT (digest) DO NOTHING;
