DELETE FROM setup WHERE repository = :repository AND checkout = :checkout;
