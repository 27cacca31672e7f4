INSERT INTO session (id, agent, host, head, open_turn, settings, created_wall_ns, deleted)
VALUES (:id, :agent, :host, :head, :open_turn, :settings, :created_wall_ns, :deleted)
ON CONFLICT (id) DO UPDATE SET
    head = excluded.head,
    open_turn = excluded.open_turn,
    settings = excluded.settings,
    deleted = excluded.deleted;
