INSERT INTO secret (only, body) VALUES (1, ?) ON CONFLICT (only) DO NOTHING;
