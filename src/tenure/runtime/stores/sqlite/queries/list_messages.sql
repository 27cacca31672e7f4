SELECT body FROM (
    SELECT turn.ended_at_head AS turn, 0 AS place, work.content AS body
    FROM turn
    INNER JOIN work ON work.sequence = turn.work
    WHERE turn.session = ?1 AND turn.ended_at_head > ?2
        AND (?3 < 0 OR turn.opened_at_head < ?2 + ?3)
        AND turn.begins_with_work AND turn.opened_at_head >= ?2
    UNION ALL
    SELECT turn.ended_at_head, message.id, message.body
    FROM turn
    INNER JOIN message
        ON message.id >= turn.first_message + max(0, ?2 - turn.opened_at_head - turn.begins_with_work)
        AND message.id < turn.first_message + turn.ended_at_head - turn.opened_at_head - turn.begins_with_work
    WHERE turn.session = ?1 AND turn.ended_at_head > ?2
        AND (?3 < 0 OR turn.opened_at_head < ?2 + ?3)
)
ORDER BY turn, place
LIMIT ?3;
