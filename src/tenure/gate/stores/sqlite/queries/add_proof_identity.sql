INSERT INTO proof_identity (proof, identity) VALUES (:proof, :identity)
ON CONFLICT DO NOTHING;
