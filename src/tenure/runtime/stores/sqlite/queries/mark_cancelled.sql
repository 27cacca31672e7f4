INSERT INTO turn_cancel (turn, reason) VALUES (:turn, :reason) ON CONFLICT (turn) DO NOTHING;
