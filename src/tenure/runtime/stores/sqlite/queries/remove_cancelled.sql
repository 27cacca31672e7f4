DELETE FROM work WHERE sequence IN (
    SELECT sequence FROM work
    WHERE cancelled_wall_ns < ? AND source_key IS NULL
    ORDER BY cancelled_wall_ns
    LIMIT ?
)
RETURNING id;
