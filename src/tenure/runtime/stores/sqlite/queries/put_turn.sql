INSERT INTO turn (id, session, work, program, state, opened_at_head, drives, claim, receipt, committed_wall_ns, result)
VALUES (:id, :session, :work, :program, :state, :opened_at_head, :drives, :claim, :receipt, :committed_wall_ns, :result)
ON CONFLICT (id) DO UPDATE SET
    state = excluded.state,
    drives = excluded.drives,
    claim = excluded.claim,
    receipt = excluded.receipt,
    committed_wall_ns = excluded.committed_wall_ns,
    result = excluded.result;
