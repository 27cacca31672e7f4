DELETE FROM dropped WHERE receipt = :id;
