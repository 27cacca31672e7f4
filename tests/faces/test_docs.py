"""The documents say what is so: every verb, key, code and variable is in them, and nothing in them is stale."""

import re
import tomllib
from itertools import chain
from pathlib import Path

import pytest

from docs.reference import generate
from tenure.faces.cli.exits import MEANING
from tenure.faces.cli.verbs import VERBS
from tenure.gate import policy
from tenure.gate.jobs import environment
from tenure.gate.policy_text import parse

ROOT = Path(__file__).resolve().parents[2]

PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
WRITTEN_FOR_USERS = [page for page in PAGES if "adr" not in page.parts]

_FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]\n]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def reference(page: str) -> str:
    return (ROOT / "docs" / "reference" / page).read_text(encoding="utf-8")


def blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return [content for found, content in _FENCE.findall(text) if found == language]


@pytest.mark.parametrize("page", sorted(generate.PAGES))
def test_the_reference_is_what_the_code_says(page):
    text = reference(page)
    assert generate.rendered(page, text) == text, "run `make docs`"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_in_the_reference_and_in_the_readme(verb):
    assert f"\n## {verb}\n" in reference("cli.md")
    first = verb.partition(" ")[0]
    assert re.search(rf"tenure[^`\n]*\b{first}\b|`{first}`", (ROOT / "README.md").read_text()), verb


def test_no_verb_is_documented_that_does_not_exist():
    for page in WRITTEN_FOR_USERS:
        named = set(re.findall(r"`tenure ([a-z]+)\b", page.read_text(encoding="utf-8")))
        assert named <= set(VERBS), f"{name(page)}: {sorted(named - set(VERBS))}"


def test_the_readme_names_the_commands_of_a_fresh_machine():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "make demo" in text
    assert "make test" in text


@pytest.mark.parametrize("key", sorted({row.key for row in policy.reference_rows()}))
def test_every_policy_key_is_in_the_reference(key):
    assert f"| `{key}` |" in reference("policy.md")


def test_every_key_of_a_later_version_is_named():
    keys = set().union(*policy.LATER.values())
    assert keys, "there are none any more: take the section out"
    page = reference("policy.md")
    assert {key for key in keys if f"`{key}`" not in page} == set()
    assert {key for key in keys if f"| `{key}` |" in page} == set(), "as if they could be used"


@pytest.mark.parametrize("code", [int(code) for code in MEANING])
def test_every_exit_code_is_in_the_reference_and_in_the_readme(code):
    page = reference("exit-codes.md")
    assert f"| `{code}` |" in page
    assert f"- **{code}** " in page, "and what to do"
    assert f"`{code}`" in (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "variable",
    [
        *sorted(environment.BASE),
        *environment.PINNED,
        environment.RUN_MARKER,
        environment.JOB_MARKER,
        environment.CHECKOUT,
        "TENURE_STORE",
        "GIT_OPTIONAL_LOCKS",
    ],
)
def test_every_environment_variable_is_in_the_reference(variable):
    assert f"`{variable}`" in reference("environment.md")


def test_no_variable_of_ours_is_missing_in_the_reference():
    """Whatever the source calls TENURE_ and something is described."""
    named = set()
    for folder in ("gate", "faces"):
        for module in (ROOT / "src" / "tenure" / folder).rglob("*.py"):
            named.update(re.findall(r'"(TENURE_[A-Z]+)"', module.read_text(encoding="utf-8")))
    page = reference("environment.md")
    assert named
    assert {variable for variable in named if f"`{variable}`" not in page} == set()


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_policy_shown_is_one(page):
    for text in blocks(page, "toml"):
        content = tomllib.loads(text)
        if set(content) & {"jobs", "trunk"}:
            assert parse("tenure.toml", text.encode()).jobs


def test_the_readme_shows_a_policy():
    assert any("[jobs." in text for text in blocks(ROOT / "README.md", "toml"))


_RUN = re.compile(
    r"(run )?[0-9a-f]{12}  (done|check|fix|standards)  (running|ending|dead|passed|failed|\w+)"
    r"  [0-9a-f]{12}  [\d.]+ (s|min|h) ago  /"
)


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_run_shown_is_shown_as_it_is_told(page):
    for text in blocks(page, "text"):
        for line in text.splitlines():
            if re.match(r"(run )?[0-9a-f]{12}  ", line):
                assert _RUN.match(line), line


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_relative_link_leads_somewhere(page):
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in _LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{link} leads nowhere"
        if anchor:
            anchors = {_anchor(title) for title in _HEADING.findall(target.read_text())}
            assert anchor in anchors, f"{link}: no such heading"


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", WRITTEN_FOR_USERS, ids=name)
def test_every_page_is_led_to(page):
    """From the README or the index of the documents, or from the index of the reference."""
    doors = [ROOT / "README.md", ROOT / "docs" / "README.md", ROOT / "docs/reference/README.md"]
    if page in doors[:1]:
        return
    led = {
        (door.parent / link.partition("#")[0]).resolve()
        for door in doors
        for link in _LINK.findall(door.read_text(encoding="utf-8"))
    }
    assert page in led


def test_every_target_of_make_that_is_named_exists():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z][a-z0-9-]*):.*##", makefile, re.MULTILINE))
    for page in PAGES:
        named = set(re.findall(r"`make ([a-z][a-z0-9-]*)", page.read_text(encoding="utf-8")))
        assert named <= targets, f"{name(page)}: {sorted(named - targets)}"


def test_every_dependency_has_a_line_that_says_why():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *chain(*project["optional-dependencies"].values())]
    text = (ROOT / "docs" / "explanation" / "dependencies.md").read_text(encoding="utf-8")
    names = {re.split(r"[<>=!~\[ ]", requirement)[0] for requirement in wanted} - {"tenure"}
    missing = [
        n for n in names if f"`{n}`" not in text and f"`{n.removeprefix('pytest-')}`" not in text
    ]
    assert sorted(missing) == []


def test_the_readme_is_short():
    assert (ROOT / "README.md").read_text(encoding="utf-8").count("\n") < 220
