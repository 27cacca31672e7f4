INSERT INTO dropped (receipt, reason) VALUES (:receipt, :reason) ON CONFLICT (receipt) DO NOTHING;
