SELECT receipt.sequence, dropped.reason, receipt.body FROM receipt
LEFT JOIN dropped ON dropped.receipt = receipt.id
WHERE receipt.repository = :repository AND receipt.identity = :identity
ORDER BY receipt.sequence DESC
LIMIT 1;
