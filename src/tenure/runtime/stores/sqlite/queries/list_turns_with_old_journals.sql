SELECT turn.id FROM turn
WHERE turn.state = 'committed'
    AND turn.committed_wall_ns < :before
    AND EXISTS (SELECT 1 FROM journal WHERE journal.turn = turn.id)
ORDER BY turn.committed_wall_ns
LIMIT :limit;
