INSERT INTO turn_cancel (turn, reason) VALUES (?, ?) ON CONFLICT (turn) DO NOTHING;
