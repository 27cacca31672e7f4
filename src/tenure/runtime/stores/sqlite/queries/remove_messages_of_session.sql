DELETE FROM message WHERE id IN (
    SELECT message.id
    FROM turn
    INNER JOIN message
        ON message.id >= turn.first_message
        AND message.id < turn.first_message + turn.ended_at_head - turn.opened_at_head - turn.begins_with_work
    WHERE turn.session = ?
);
