"""What may not stand in any text of the project, and what its decisions must say."""

import re

import pytest

from tests.architecture.source import ROOT, package, texts

#: Spelled in pieces, so that this file may be searched too.
HOSTS = re.compile(
    "|".join(
        re.escape(".".join(pieces))
        for pieces in (
            ("pypi", "org"),
            ("pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("debian", "org"),
            ("crates", "io"),
        )
    )
)
MACHINE_PATHS = re.compile(r"(?<![\w}/.\-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot")) + r")/\w")
IGNORED_TYPE = re.compile(r"#\s*type:\s*" + "ignore|#\\s*pyright:\\s*" + "ignore")


def test_no_text_names_a_package_host():
    assert [path for path, text in texts() if HOSTS.search(text)] == []


def test_no_text_names_a_place_on_one_machine():
    found = [
        f"{path}: {match[0]}" for path, text in texts() for match in MACHINE_PATHS.finditer(text)
    ]
    assert found == []


def test_no_type_error_is_ignored():
    assert [path for path, text in texts() if IGNORED_TYPE.search(text)] == []


def test_no_lint_rule_is_switched_off_without_naming_it():
    bare = re.compile(r"#\s*no" + r"qa(?!:\s*[A-Z]+\d+)")
    assert [module.name for module in package() if bare.search(module.text)] == []


DECISIONS = sorted((ROOT / "docs" / "adr").glob("[0-9]*.md"))
SECTIONS = ("## Context", "## Decision", "## Consequences", "## How it is enforced")


def test_there_are_decisions():
    assert len(DECISIONS) >= 8


def test_no_decision_number_is_used_twice():
    numbers = [path.name.split("-")[0] for path in DECISIONS]
    assert sorted(set(numbers)) == numbers


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_has_its_sections(path):
    text = path.read_text(encoding="utf-8")
    assert re.match(rf"# {path.name.split('-')[0]}\. .+[^.]\n", text), "a sentence as title"
    assert re.search(r"^Status: (accepted|superseded by \d{4})", text, re.MULTILINE)
    positions = [text.find(section) for section in SECTIONS]
    assert -1 not in positions, f"has every one of {SECTIONS}"
    assert positions == sorted(positions)


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_what_enforces_a_decision_exists(path):
    """Every `tests/…` path, and every test named after `::`, that a decision leans on."""
    enforced = path.read_text(encoding="utf-8").split("## How it is enforced")[1]
    named = re.findall(r"`((?:tests|src|bench)/[\w/.]+)(?:::(\w+))?`", enforced)
    assert named or "pyproject.toml" in enforced, "name the test or the contract"
    for file, test in named:
        assert (ROOT / file).exists(), f"{file} does not exist"
        if test:
            assert f"def {test}(" in (ROOT / file).read_text(encoding="utf-8"), f"no {test} there"


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_every_decision_is_listed(path):
    index = (ROOT / "docs" / "adr" / "README.md").read_text(encoding="utf-8")
    assert f"({path.name})" in index


def test_the_changelog_has_a_place_for_what_comes_next():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text
    allowed = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}
    assert set(re.findall(r"^### (.+)$", text, re.MULTILINE)) <= allowed


@pytest.mark.parametrize(
    "page",
    sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]),
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_every_link_of_a_page_leads_somewhere(page):
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text)
    inside = [target for target in targets if "://" not in target]
    assert [target for target in inside if not (page.parent / target).exists()] == []
