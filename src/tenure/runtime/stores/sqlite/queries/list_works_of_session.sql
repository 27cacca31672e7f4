SELECT id FROM work WHERE session = :session;
