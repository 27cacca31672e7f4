SELECT proof.body FROM proof
INNER JOIN proof_identity AS part ON part.proof = proof.id
WHERE proof.repository = :repository
    AND part.identity = :identity
    AND EXISTS (
        SELECT 1 FROM json_each(proof.body, '$.evidence') AS item
        WHERE item.value ->> 'receipt' = :receipt
    )
ORDER BY proof.sequence DESC;
