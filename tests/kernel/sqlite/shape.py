"""What a database looks like, whoever made it and in however many steps."""

import re

import apsw


def shape(connection: apsw.Connection) -> dict[str, str]:
    """Every table and index with its definition, spaces and comments aside."""
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {name: re.sub(r"\s+", " ", re.sub(r"--.*", "", sql)).strip() for name, sql in rows}
