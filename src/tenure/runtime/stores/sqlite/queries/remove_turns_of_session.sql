DELETE FROM turn WHERE session = :session;
