SELECT
    memo.id,
    memo.tip,
    proof.id,
    proof.body,
    json_array_length(proof.body, '$.evidence'),
    (
        SELECT count(*) FROM json_each(proof.body, '$.evidence') AS item
        WHERE item.value ->> 'source' = 'executed'
    ),
    (
        SELECT group_concat(item.value ->> 'requirement', ', ')
        FROM json_each(proof.body, '$.evidence') AS item
        WHERE item.value ->> 'flaky'
    ),
    proof.body ->> 'judged_by',
    proof.body ->> 'worktree',
    proof.candidate
FROM memo
INNER JOIN proof ON proof.id = memo.proof
WHERE memo.tree = :tree
    AND memo.base = :base
    AND NOT EXISTS (
        SELECT 1 FROM proof_identity AS part
        WHERE part.proof = proof.id
            AND coalesce(
                (
                    SELECT
                        CASE WHEN dropped.receipt IS NULL THEN receipt.outcome ELSE 'dropped' END
                    FROM receipt
                    LEFT JOIN dropped ON dropped.receipt = receipt.id
                    WHERE receipt.repository = proof.repository
                        AND receipt.identity = part.identity
                    ORDER BY receipt.sequence DESC
                    LIMIT 1
                ),
                'none'
            ) <> 'passed'
    )
    AND NOT EXISTS (
        SELECT 1 FROM json_each(proof.body, '$.evidence') AS item
        LEFT JOIN receipt ON receipt.id = item.value ->> 'receipt'
        LEFT JOIN dropped ON dropped.receipt = receipt.id
        WHERE receipt.id IS NULL OR dropped.receipt IS NOT NULL
    )
ORDER BY memo.id DESC;
