"""What a user can type, write or see is documented: verbs, keys and exit codes."""

import re
from functools import cache

import pytest

from tenure.faces.cli.exits import MEANING
from tenure.faces.cli.grammar import VERBS
from tenure.gate.policy import LATER, reference_rows
from tests.architecture.source import ROOT

README = ROOT / "README.md"

pytestmark = pytest.mark.xfail(
    not README.exists(), reason="there is no README yet, so nothing is documented", strict=False
)


@cache
def documents() -> str:
    """The README and every page of the documentation, decisions aside."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if "adr" not in path.parts]
    return "\n".join(path.read_text(encoding="utf-8") for path in [README, *sorted(pages)])


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_is_documented(verb):
    assert re.search(rf"\btenure {verb}\b", documents())


@pytest.mark.parametrize("row", reference_rows(), ids=lambda row: f"{row.table}.{row.key}")
def test_every_policy_key_is_documented(row):
    assert re.search(rf"`{re.escape(row.key)}`|^{re.escape(row.key)} = ", documents(), re.MULTILINE)


@pytest.mark.parametrize("code", sorted(MEANING), ids=lambda code: str(int(code)))
def test_every_exit_code_is_documented(code):
    assert re.search(rf"^\|\s*`?{int(code)}`?\s*\|", documents(), re.MULTILINE), "a row of a table"


def test_the_readme_names_the_commands_of_a_fresh_machine():
    text = README.read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


def test_no_verb_is_documented_that_does_not_exist():
    named = set(re.findall(r"`tenure ([a-z]+)\b", documents()))
    assert named <= set(VERBS)


def test_nothing_refused_by_name_is_documented_as_a_key():
    for keys in LATER.values():
        for key in keys:
            assert not re.search(rf"^\|\s*`{re.escape(key)}`\s*\|", documents(), re.MULTILINE)
