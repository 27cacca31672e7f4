SELECT id, session, work, program, state, opened_at_head, drives, claim, receipt, committed_wall_ns, result FROM turn WHERE state = 'open' ORDER BY id LIMIT :limit;
