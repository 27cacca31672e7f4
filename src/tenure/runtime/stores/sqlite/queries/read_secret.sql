SELECT body FROM secret WHERE only = 1;
