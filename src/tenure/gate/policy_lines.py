"""Where the keys of a TOML text stand. Read only when something is wrong with one of them."""

Path = tuple[str | int, ...]

_BLANK = " \t"
_BARE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")


def locate(text: str) -> dict[Path, int]:
    """The line, from 1, of each table, key and list item of a text that parses as TOML.

    A table stands where its own header is, or else where it is first mentioned. Indices of
    arrays of tables are left out of the paths of what is below them.
    """
    scan = _Scan(text)
    scan.document()
    return scan.mentioned | scan.lines


def nearest(lines: dict[Path, int], path: Path) -> int | None:
    """The line of `path`, or of the closest thing around it that has one."""
    for length in range(len(path), 0, -1):
        if path[:length] in lines:
            return lines[path[:length]]
    return None


class _Scan:
    """One pass over the text; `at` only moves forward."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.lines: dict[Path, int] = {}
        self.mentioned: dict[Path, int] = {}

    def document(self) -> None:
        table: Path = ()
        while self.skip(_BLANK + "\r\n"):
            if self.text[self.at] == "[":
                start = self.at
                self.skip("[" + _BLANK)
                table = self.key()
                self.skip(_BLANK + "]")
                self.note(table, start)
            else:
                self.pair(table)

    def pair(self, table: Path) -> None:
        """`key = value`."""
        start = self.at
        path = table + self.key()
        self.note(path, start)
        self.skip(_BLANK + "=")
        self.value(path)

    def note(self, path: Path, start: int) -> None:
        line = self.text.count("\n", 0, start) + 1
        self.lines.setdefault(path, line)
        for length in range(1, len(path)):
            self.mentioned.setdefault(path[:length], line)

    def key(self) -> Path:
        """A dotted key, each part bare or quoted."""
        parts: list[str] = []
        while self.at < len(self.text):
            self.skip(_BLANK)
            start = self.at
            if self.text[self.at] in "\"'":
                self.string()
                parts.append(_unquoted(self.text[start : self.at]))
            else:
                while self.text[self.at : self.at + 1] in _BARE:
                    self.at += 1
                parts.append(self.text[start : self.at])
            self.skip(_BLANK)
            if self.text[self.at : self.at + 1] != ".":
                break
            self.at += 1
        return tuple(parts)

    def value(self, path: Path) -> None:
        opening = self.text[self.at : self.at + 1]
        if opening in ("[", "{"):
            self.at += 1
            count = 0
            while self.skip(_BLANK + "\r\n,") and self.text[self.at] not in "]}":
                if opening == "{":
                    self.pair(path)
                else:
                    self.note((*path, count), self.at)
                    self.value((*path, count))
                    count += 1
            self.at += 1
        elif opening in ('"', "'"):
            self.string()
        else:
            while self.at < len(self.text) and self.text[self.at] not in ",]}#\n":
                self.at += 1

    def string(self) -> None:
        """Any of the four kinds, quotes included."""
        quote = self.text[self.at]
        many = self.text.startswith(quote * 3, self.at)
        end = quote * 3 if many else quote
        self.at += len(end)
        while self.at < len(self.text) and not self.text.startswith(end, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(end)
        while many and self.text.startswith(quote, self.at):  # up to two belong to the content
            self.at += 1

    def skip(self, characters: str) -> bool:
        """Pass over the characters, and over comments where a line may end. False at the end."""
        while self.at < len(self.text):
            if self.text[self.at] == "#" and "\n" in characters:
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif self.text[self.at] in characters:
                self.at += 1
            else:
                return True
        return False


def _unquoted(token: str) -> str:
    import tomllib

    return str(tomllib.loads(f"key = {token}")["key"])
