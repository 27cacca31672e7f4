SELECT body FROM message
WHERE session = :session AND number > :after
ORDER BY number
LIMIT :limit;
