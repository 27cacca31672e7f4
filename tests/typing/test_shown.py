"""Programs and snippets that the documents show are code that a type checker accepts."""

import re
from pathlib import Path

import pytest

from tests.typing.test_typing import mypy

ROOT = Path(__file__).resolve().parents[2]

#: What a snippet of a how-to may take for granted.
GRANTED = "import apsw\nfrom tenure import Runtime, Session\n\n"

_PYTHON = re.compile(r"^```python ?([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def shown() -> list[tuple[str, str]]:
    """A name and the text for each."""
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    found = []
    for page in pages:
        blocks = _PYTHON.findall(page.read_text(encoding="utf-8"))
        for number, (file, code) in enumerate(blocks):
            if page.parent.name == "how-to" or page.name == "README.md" or "session" in page.name:
                name = re.sub(r"\W", "_", f"{page.parent.name}_{page.stem}_{number}")
                found.append((f"{name}.py", code if file else GRANTED + code))
    return found


def test_there_are_programs_and_snippets():
    assert len(shown()) >= 5


@pytest.mark.slow
def test_what_is_shown_type_checks(tmp_path):
    for name, code in shown():
        (tmp_path / name).write_text(code, encoding="utf-8")
    assert mypy(tmp_path, *(name for name, _ in shown())) == ""
