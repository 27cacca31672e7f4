SELECT receipt.sequence, dropped.reason, receipt.body FROM receipt
LEFT JOIN dropped ON dropped.receipt = receipt.id
ORDER BY receipt.sequence;
