INSERT INTO program (digest, body) VALUES (:digest, :body) ON CONFLICT (digest) DO NOTHING;
