"""Text inside Markdown as GitHub and GitLab show it: whatever it contains, it stays text."""

#: What would mean something in the middle of a line; the last few also inside a table or HTML.
_ESCAPED = {ord(one): f"\\{one}" for one in r"\`*_[]~$"}
_ESCAPED |= {ord("&"): "&amp;", ord("<"): "&lt;", ord(">"): "&gt;", ord("|"): "&#124;"}
_ESCAPED |= {ord("@"): "&#64;"}  # a summary notifies nobody


def text(value: str) -> str:
    """A sentence, in one line; also inside a table."""
    return _one_line(value).translate(_ESCAPED)


def code(value: str) -> str:
    """A name, a path or a command, in one line; also inside a table."""
    return f"<code>{text(value)}</code>" if value else ""


def block(value: str) -> str:
    """Lines as they are."""
    longest = run = 0
    for one in value:
        run = run + 1 if one == "`" else 0
        longest = max(longest, run)
    fence = "`" * max(3, longest + 1)
    lines = "\n".join(map(_one_line, value.split("\n")))
    return f"{fence}text\n{lines}\n{fence}"


def table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of cells that are Markdown already; a head that ends in a colon is for numbers."""
    lines = [
        [head.removesuffix(":") for head in heads],
        ["---:" if head.endswith(":") else "---" for head in heads],
        *rows,
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _one_line(value: str) -> str:
    return "".join(one if one.isprintable() else " " for one in value)
