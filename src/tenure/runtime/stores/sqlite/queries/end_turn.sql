INSERT INTO turn (work, session, opened_at_head, ended_at_head, first_message, begins_with_work, receipt, committed_wall_ns, ending)
VALUES (?, ?, ?, ?, (SELECT coalesce(max(id), 0) + 1 FROM message), ?, ?, ?, ?);
