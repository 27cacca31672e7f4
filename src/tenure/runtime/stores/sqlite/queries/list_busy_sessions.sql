SELECT id FROM session WHERE open_turn IS NOT NULL AND deleted = 0 AND id > :after
UNION
SELECT session FROM work WHERE state = 'pending' AND session > :after
ORDER BY 1
LIMIT :limit;
