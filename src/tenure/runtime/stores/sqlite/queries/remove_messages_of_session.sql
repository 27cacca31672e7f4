DELETE FROM message WHERE session = :session;
