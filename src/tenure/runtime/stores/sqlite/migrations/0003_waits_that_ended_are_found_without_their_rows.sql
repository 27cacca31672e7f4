DROP INDEX wait_ended;

CREATE INDEX wait_ended ON wait (turn, session) WHERE blocking = 1 AND word IS NOT NULL;

DROP INDEX wait_due;

CREATE INDEX wait_due ON wait (due_at, turn, session) WHERE blocking = 1 AND word IS NULL;
