"""Text that can be shown and stored anywhere, whatever bytes a path is made of."""


def readable(text: str) -> str:
    """`text` with every undecodable byte of a path as `\\xNN`, so that any encoding has it."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    except UnicodeEncodeError:  # half of a character that never was a byte
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
