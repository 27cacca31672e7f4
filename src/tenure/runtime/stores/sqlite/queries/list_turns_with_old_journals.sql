-- By the journals that are left, oldest first, and not by all the turns there ever were.
SELECT DISTINCT turn FROM (
    SELECT journal.turn AS turn
    FROM journal
    INNER JOIN turn ON turn.id = journal.turn
    WHERE turn.state = 'committed' AND turn.committed_wall_ns < :before
    ORDER BY journal.id
    LIMIT :limit * 16
)
LIMIT :limit;
