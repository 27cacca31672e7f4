DELETE FROM trunk_path;
