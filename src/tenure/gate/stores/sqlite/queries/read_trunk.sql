SELECT ref FROM trunk;
