"""SQL as text: one statement a file, named by what it does, read when first needed."""

import os


class Statements:
    """The statements of one directory."""

    def __init__(self, directory: str) -> None:
        self._directory = directory
        self._known: dict[str, str] = {}

    def __getitem__(self, name: str) -> str:
        """The text of `name.sql`. The same string each time, which is what the driver caches by."""
        text = self._known.get(name)
        if text is None:
            with open(os.path.join(self._directory, f"{name}.sql"), encoding="utf-8") as file:
                text = self._known[name] = file.read()
        return text


def beside(module_file: str, directory: str) -> str:
    """The path of a directory that lies beside a module."""
    return os.path.join(os.path.dirname(os.path.abspath(module_file)), directory)


#: The kernel's own.
KERNEL = Statements(beside(__file__, "queries"))
