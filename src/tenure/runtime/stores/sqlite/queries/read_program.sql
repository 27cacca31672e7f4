SELECT body FROM program WHERE digest = :digest;
