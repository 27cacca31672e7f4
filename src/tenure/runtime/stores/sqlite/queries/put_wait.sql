UPDATE wait SET blocking = ?, word = ?, value = ?, resolved_wall_ns = ? WHERE id = ?;
