SELECT DISTINCT session.id FROM checkpoint INNER JOIN session ON session.key = checkpoint.session WHERE checkpoint.run = ?;
