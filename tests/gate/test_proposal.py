"""A proposed policy: from what is there, nothing twice, every line with its source, always one that parses."""

import sys
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.policy import Job
from tenure.gate.policy_text import parse
from tenure.gate.proposal import READ, WORKFLOWS, propose
from tenure.gate.proposal.text import quoted
from tenure.gate.proposal.tools import recognised

CI = f"{WORKFLOWS}ci.yml"

PRE_COMMIT = """\
repos:
  - repo: https://github.com/astral-sh/ruff-pre-commit
    rev: v0.9.0
    hooks: [{id: ruff, args: [--fix]}, {id: ruff-format}]
  - repo: https://github.com/pre-commit/pre-commit-hooks
    rev: v5.0.0
    hooks: [{id: trailing-whitespace}, {id: no-commit-to-branch}]
"""
GITHUB = """\
on: [push, pull_request]
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: pip install -e .[dev]
      - name: Lint
        run: |
          # both
          ruff check . && \\
            mypy src
      - run: cd web && npm test
      - run: ./scripts/smoke.sh --fast
      - run: pytest --python ${{ matrix.python }}
      - run: for f in *.py; do ruff check "$f"; done
"""


def proposed(files: dict[str, str]) -> dict[str, Job]:
    return parse("tenure.toml", propose(files, "main").encode()).jobs


def commands(files: dict[str, str]) -> dict[str, tuple[str, str]]:
    """Each job's stage and command, by its name."""
    return {
        name: (job.stage, job.run if isinstance(job.run, str) else " ".join(job.run))
        for name, job in proposed(files).items()
    }


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        (
            {"pyproject.toml": "[tool.ruff]\n[tool.mypy]\nfiles = ['src']\n[tool.pytest]\n"},
            {
                "format": ("fix", "ruff format ."),
                "lint": ("check", "ruff check ."),
                "types": ("check", "mypy"),
                "test": ("test", "pytest -q"),
            },
        ),
        (
            {"pyproject.toml": "[tool.black]\n[tool.ruff]\n", "uv.lock": "version = 1\n"},
            {"format": ("fix", "uv run black ."), "lint": ("check", "uv run ruff check .")},
        ),
        (
            {"setup.cfg": "[flake8]\n[mypy]\n[tool:pytest]\n"},
            {
                "lint": ("check", "flake8"),
                "types": ("check", "mypy ."),
                "test": ("test", "pytest -q"),
            },
        ),
        (
            {"pyproject.toml": '[dependency-groups]\ndev = ["pytest>=8", "coverage"]\n'},
            {"test": ("test", "pytest -q")},
        ),
        (
            {"tox.ini": "[tox]\nenvlist = py311,lint\n[testenv]\ncommands = stestr run\n"
             "[testenv:lint]\ncommands =\n    flake8 src\n    ./strict\n"},
            {"lint": ("check", "tox -e lint"), "test": ("test", "tox -q")},
        ),
        (
            {"tox.toml": '[env_run_base]\ncommands = [["pytest"]]\n[env.types]\ncommands = [["mypy", "src"]]\n'},
            {"types": ("check", "tox -e types"), "test": ("test", "tox -q")},
        ),
        (
            {"noxfile.py": "import nox\n\n@nox.session(python=['3.11'])\ndef tests(session):\n"
             "    session.run('stestr')\n\n@nox.session(name='lint')\ndef a(session):\n"
             "    session.run('ruff', 'check', '.')\n\ndef test(): ...\n"},
            {"lint": ("check", "nox -s lint"), "test": ("test", "nox -s tests")},
        ),
        (
            {"justfile": "set shell := ['sh']\n[private]\nhidden:\n  x\n\ntest *args='': build\n  cargo test\n\n"
             "lint target:\n  x {{target}}\n\nfmt: # all of it\n  ./fmt\nbuild:\n  make it\n"},
            {"format": ("fix", "just fmt"), "build": ("build", "just build"), "test": ("test", "just test")},
        ),
        (
            {"Makefile": "CHECK := x\ntest: build ## all\n\t@$(PY) -m stestr\n.PHONY: lint\nlint:\n\t./lint\nall: test\n"},
            {"lint": ("check", "make lint"), "test": ("test", "make test")},
        ),
        (
            {"package.json": '{"scripts": {"test": "vitest run", "lint": "eslint . && ./more", "dev": "vite",'
             ' "typecheck": "tsc --noEmit", "format": "prettier --write ."}}', "pnpm-lock.yaml": ""},
            {
                "format": ("fix", "pnpm run format"),
                "lint": ("check", "pnpm run lint"),
                "types": ("check", "pnpm run typecheck"),
                "test": ("test", "pnpm run test"),
            },
        ),
        (
            {"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'},
            {"test": ("test", "/bin/sh")},
        ),
        (
            {
                "turbo.json": '// comment\n{"tasks": {"build": {}, "lint": {}, "dev": {"persistent": true}}}',
                "package.json": '{"packageManager": "yarn@4.1.0", "scripts": {"lint": "turbo run lint"}}',
            },
            {"build": ("build", "yarn turbo run build"), "lint": ("check", "yarn turbo run lint")},
        ),
        (
            {"Cargo.toml": "[package]\n", "go.mod": "module x\n"},
            {
                "format": ("fix", "cargo fmt --all"),
                "format-gofmt": ("fix", "gofmt -l -w ."),
                "lint": ("check", "cargo clippy --all-targets"),
                "vet": ("check", "go vet ./..."),
                "test": ("test", "cargo test"),
                "test-go": ("test", "go test ./..."),
            },
        ),
        (
            {"lefthook.yml": "pre-commit:\n  commands:\n    fmt:\n      run: black {staged_files}\n"
             "    own:\n      run: ./check {staged_files}\n  jobs:\n    - group:\n        jobs:\n"
             "          - name: smoke\n            run: ./smoke\npost-merge:\n  commands:\n    x:\n      run: mypy\n"},
            {"format": ("fix", "black ."), "smoke": ("check", "./smoke")},
        ),
        (
            {"prek.toml": '[[repos]]\nrepo = "builtin"\nhooks = [{ id = "trailing-whitespace" }]\n'},
            {"hooks": ("fix", "prek run --all-files")},
        ),
        (
            {".gitlab-ci.yml": ".base:\n  script: [mypy]\nunit:\n  script:\n    - pip install x\n    - python -m pytest -q\n"},
            {"test": ("test", "python -m pytest -q")},
        ),
    ],
)  # fmt: skip
def test_each_source_is_read_as_its_tool_reads_it(files, wanted):
    found = commands(files)
    if wanted == {"test": ("test", "/bin/sh")}:  # the placeholder, which fails until it is replaced
        assert "say in tenure.toml what has to pass" in str(proposed(files)["test"].run)
        return
    assert found == wanted


def test_a_workflow_gives_what_it_runs_and_nothing_else_does():
    found = proposed({CI: GITHUB, "pyproject.toml": "[tool.ruff]\n"})
    assert {name: (job.argv, job.cwd) for name, job in found.items() if job.stage != "fix"} == {
        "lint": (("ruff", "check", "."), "."),
        "types": (("mypy", "src"), "."),
        "test": (("npm", "test"), "web"),
    }
    text = propose({CI: GITHUB, "pyproject.toml": "[tool.ruff]\n"}, "main")
    assert f"# pyproject.toml: [tool.ruff]; see also {CI}\n[jobs.lint]" in text
    assert f"#   {CI}: ./scripts/smoke.sh --fast\n" in text
    assert f"#   {CI}: pytest --python ${{{{ matrix.python }}}}\n" in text
    assert f"#   {CI}: a script that is more than a list of commands\n" in text
    assert "pip install" not in text


def test_a_workflow_that_judges_no_commit_is_passed_over():
    release = GITHUB.replace("on: [push, pull_request]", "on:\n  release:\n    types: [published]")
    assert "mypy" not in propose({CI: release}, "main")
    assert "mypy" in propose({CI: release.replace("release:", "pull_request:")}, "main")


def test_a_tool_that_is_configured_here_and_hooked_there_runs_once():
    found = proposed({"pyproject.toml": "[tool.ruff]\n", ".pre-commit-config.yaml": PRE_COMMIT})
    assert list(found) == ["format", "hooks", "lint"]
    assert found["hooks"].set_env == {"SKIP": "ruff,ruff-format,no-commit-to-branch"}
    assert found["hooks"].stage == "fix", "a hook may rewrite what it looks at"
    alone = proposed({".pre-commit-config.yaml": PRE_COMMIT, CI: GITHUB})
    assert alone["hooks"].set_env == {"SKIP": "no-commit-to-branch"}
    assert "lint" not in alone, "CI's ruff is among the hooks"
    hooks = PRE_COMMIT.partition("  - repo: https://github.com/pre-commit/pre")[0]
    files = {"pyproject.toml": "[tool.ruff]\n", ".pre-commit-config.yaml": hooks}
    assert "hooks" not in proposed(files)
    assert "#   .pre-commit-config.yaml: each of its hooks is a job of its own" in propose(
        files, "m"
    )


def test_a_target_that_runs_what_is_there_already_is_only_named():
    files = {
        "pyproject.toml": "[tool.ruff]\n[tool.pytest]\n",
        "Makefile": "test:\n\tpython -m pytest\ncheck: test\nformat:\n\truff check --fix .\n\truff format .\n",
        CI: "on: push\njobs: {a: {steps: [{run: make test}, {run: 'uv run pytest'}]}}\n",
    }
    assert list(proposed(files)) == ["format", "lint", "test"]
    assert f"[tool.pytest]; see also Makefile: test, {CI}\n" in propose(files, "main")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("pyproject.toml", "[tool.ruff\n"),
        ("pyproject.toml", "[tool]\nruff = 3\npytest = []\n[project]\ndependencies = 3\n"),
        ("tox.ini", "no section\n"),
        ("setup.cfg", "[a\n"),
        ("noxfile.py", "def (:\n"),
        ("noxfile.py", "\0"),
        ("package.json", '{"scripts": '),
        ("package.json", '{"scripts": {"test": 3}, "packageManager": []}'),
        ("package.json", "[" * 100_000),
        ("turbo.json", '{"tasks": []}'),
        (".pre-commit-config.yaml", "repos: [\n"),
        (".pre-commit-config.yaml", "repos:\n- hooks: [3, {id: []}, {id: x, stages: 3}]\n- 4\n"),
        (".pre-commit-config.yaml", "[" * 100_000),
        ("lefthook.yml", "pre-commit: {commands: {a: 3, b: {run: [x]}}, jobs: [3, {group: 4}]}\n"),
        ("prek.toml", "repos = 3\n"),
        (".gitlab-ci.yml", "a: !reference [x]\n"),
        (".gitlab-ci.yml", "2020-01-01: {script: [[x], 3]}\n"),
        (CI, "on: [{a: b}]\njobs: 3\n"),
        (CI, "on: push\njobs: {a: {steps: [{run: 3}, 4, {run: 'pytest', working-directory: /etc}]}}\n"),
        (CI, "on: push\njobs: {a: {steps: [{run: \"pytest 'x\"}]}}\n"),
        ("justfile", ":\n=\ntest\n"),
        ("Makefile", "\ttest\n:\n"),
    ],
)  # fmt: skip
def test_what_is_malformed_is_said_or_passed_over_and_stops_nothing(name, content):
    files = {"go.mod": "module x\n", name: content}
    found = proposed(files)
    assert {"vet", "test"} <= set(found)


def test_what_does_not_parse_is_named_with_its_reason():
    text = propose({"pyproject.toml": "[tool.ruff\n", ".pre-commit-config.yaml": "a: [\n"}, "main")
    assert "#   pyproject.toml: it does not parse (" in text
    assert "#   .pre-commit-config.yaml: it does not parse (" in text


def test_a_file_that_repeats_itself_by_reference_costs_little():
    rows = ["a0: &a0 {jobs: [{name: x, run: ./x}]}"]
    rows += [
        f"a{n}: &a{n} {{jobs: [{', '.join([f'{{group: *a{n - 1}}}'] * 50)}]}}" for n in range(1, 6)
    ]
    assert proposed({"lefthook.yml": "\n".join([*rows, "pre-commit: *a5"])})
    steps = "s: &s {steps: [" + ", ".join(["{run: make test}"] * 300) + "]}\n"
    steps += "on: push\njobs: {" + ", ".join(f"j{n}: *s" for n in range(3000)) + "}\n"
    assert list(proposed({CI: steps})) == ["test"]


def test_without_a_reader_of_yaml_the_hooks_are_proposed_and_the_reader_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    text = propose({".pre-commit-config.yaml": PRE_COMMIT, CI: GITHUB}, "main")
    assert list(parse("tenure.toml", text.encode()).jobs) == ["hooks"]
    assert f"#   {CI}: reading it takes PyYAML, `pip install 'tenure[init]'`" in text


def test_a_command_of_the_shell_is_given_to_one_and_others_are_not():
    files = {
        "lefthook.yml": "pre-push: {jobs: [{name: a, run: './a | b'}, {name: b, run: './a \"b c\"'}]}\n"
    }
    found = proposed(files)
    assert found["a"].run == "./a | b"
    assert found["b"].run == ("./a", "b c")


@pytest.mark.parametrize(
    ("command", "key", "stage"),
    [
        ("uv run --frozen --group dev pytest -x", "pytest", "test"),
        ("PYTHONPATH=src python3.12 -m pytest", "pytest", "test"),
        ("coverage run -m pytest", "pytest", "test"),
        ("poetry run black --check .", "black", "check"),
        ("black -l 100 .", "black", "fix"),
        ("ruff check --fix", "ruff check", "fix"),
        (".venv/bin/ruff format --diff", "ruff format", "check"),
        ("npx eslint . --fix", "eslint", "fix"),
        ("pnpm exec tsc", "tsc", "check"),
        ("yarn lint", "script lint", "check"),
        ("npm run test", "script test", "test"),
        ("npm ci", None, None),
        ("yarn install", None, None),
        ("pnpm -r build", "script build", "build"),
        ("cargo nextest run", "cargo test", "test"),
        ("tox -e lint", "tox lint", "check"),
        ("nox", "nox test", "test"),
        ("pre-commit run -a", "hooks", "fix"),
        ("pre-commit install", None, None),
        ("make", None, None),
        ("make deploy", None, None),
        ("echo pytest", None, None),
        ("'", None, None),
        ("", None, None),
        ("x" * 5000, None, None),
    ],
)
def test_a_tool_is_known_however_it_is_called(command, key, stage):
    tool = recognised(command)
    assert (tool and tool.key, tool and tool.stage) == (key, stage)


@given(st.text())
def test_any_text_is_a_string_of_a_policy(text):
    expected = text.encode("utf-8", "replace").decode()
    assert tomllib.loads(f"a = {quoted(text)}") == {"a": expected}


WORDS = st.sampled_from(
    ["ruff check .", "pytest -q 'a b'", "make test", "a\nb", "x && y", "${{ x }}", "\x1b[2J", "trunk", "#", '"""']
)  # fmt: skip
ANY: st.SearchStrategy[Any] = st.recursive(
    WORDS | st.text(max_size=8) | st.none() | st.integers(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(WORDS | st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
SHAPES = st.one_of(
    st.fixed_dictionaries({"scripts": st.dictionaries(st.sampled_from(["test", "lint"]), ANY)}),
    st.fixed_dictionaries({"on": st.just("push"), "jobs": st.fixed_dictionaries(
        {"a": st.fixed_dictionaries({"steps": st.lists(st.fixed_dictionaries(
            {"run": ANY, "working-directory": ANY}), max_size=3)})})}),
    st.fixed_dictionaries({"repos": st.lists(st.fixed_dictionaries({"hooks": st.lists(
        st.fixed_dictionaries({"id": ANY, "entry": ANY}), max_size=3)}), max_size=2)}),
    st.fixed_dictionaries({"pre-push": st.fixed_dictionaries({"jobs": st.lists(
        st.fixed_dictionaries({"name": ANY, "run": ANY, "root": ANY}), max_size=3)})}),
    ANY,
)  # fmt: skip


@given(
    st.dictionaries(st.sampled_from([*READ, CI]), st.text() | SHAPES.map(repr), max_size=4),
    st.text(min_size=1),
)
def test_whatever_a_repository_contains_the_proposal_is_a_policy(files, trunk):
    assert proposed(files)
    assert parse("tenure.toml", propose(files, trunk).encode()).trunk in (trunk, None)


def test_each_job_says_what_it_means_that_it_names_no_inputs():
    text = propose({"go.mod": "module x\n"}, "main")
    told = '# inputs = ["src/**"]: the files it reads; without it, any change runs this again\n'
    assert text.count(told) == text.count("[jobs.") > 1


@pytest.mark.parametrize(
    ("hooks", "why"),
    [
        ("[{id: ruff}, {id: x}]", "what is another job here"),
        (
            "[{id: no-commit-to-branch}, {id: x}]",
            "what is about the moment of committing, not about a commit",
        ),
    ],
)
def test_what_is_skipped_is_said_to_be_what_it_is(hooks, why):
    files = {
        ".pre-commit-config.yaml": f"repos: [{{repo: local, hooks: {hooks}}}]\n",
        "pyproject.toml": "[tool.ruff]\n",
    }
    assert f"# SKIP names {why}\n" in propose(files, "main")
