DELETE FROM proof_identity WHERE proof = :id;
