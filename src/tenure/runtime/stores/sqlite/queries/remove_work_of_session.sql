DELETE FROM work WHERE session = :session;
