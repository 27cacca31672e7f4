SELECT receipt.sequence, dropped.reason, receipt.body FROM receipt
LEFT JOIN dropped ON dropped.receipt = receipt.id
WHERE receipt.repository = :repository AND receipt.requirement = :requirement
ORDER BY receipt.sequence DESC
LIMIT 1;
