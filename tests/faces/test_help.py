"""What `--help` says: everything on one screen, then each verb with an example that is one."""

import shlex

import pytest

from tenure.faces.cli.exits import MEANING
from tenure.faces.cli.grammar import parse
from tenure.faces.cli.verbs import GROUPS, VERBS
from tests.faces.calls import tenure

#: The usual terminal, less the line on which the shell asks for the next command.
COLUMNS, ROWS = 80, 23


def help_of(folder, *verb):
    ending = tenure(folder, *verb, "--help", env={"COLUMNS": str(COLUMNS)})
    assert (ending.code, ending.err) == (0, "")
    return ending.out


def test_all_verbs_and_exit_codes_are_on_one_screen(tmp_path):
    lines = help_of(tmp_path).splitlines()
    assert len(lines) <= ROWS
    assert max(map(len, lines)) < COLUMNS
    named = {
        line[10:].split()[0] for line in lines if line[10:] and line[:10].strip() in {"", *GROUPS}
    }
    assert {verb.partition(" ")[0] for verb in VERBS} <= named
    codes = " ".join(lines).partition("Exit codes: ")[2]
    assert [int(one.split()[0]) for one in codes.split("; ")[:-1]] == sorted(MEANING)


def test_it_ends_with_how_to_begin(tmp_path):
    assert "\nFirst `tenure init`, then `tenure done`." in help_of(tmp_path)
    assert tenure(tmp_path).err == (
        "tenure: there is no verb; `tenure init` proposes a policy, `tenure done` proves a commit, "
        "`tenure --help` lists the rest\n"
    )


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_an_example_that_can_be_typed(verb):
    first, *words = shlex.split(VERBS[verb].example)
    assert first == "tenure"
    assert parse(words).verb == verb


@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_has_help_that_fits(monkeypatch, capsys, verb):
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    with pytest.raises(SystemExit):
        parse([*verb.split(), "--help"])
    told = capsys.readouterr().out
    assert f"\nexample: {VERBS[verb].example}\n" in told
    assert max(map(len, told.splitlines())) < COLUMNS


@pytest.mark.parametrize(
    ("verb", "told"),
    [
        ("done", "exit code: 0 met, 1 not met; the others are in `tenure --help`"),
        ("check", "exit code: 0 passed, 1 not passed; the others are in `tenure --help`"),
        ("init", None),
        ("gc", None),
    ],
)
def test_exit_codes_are_told_where_there_is_a_verdict(tmp_path, verb, told):
    last = help_of(tmp_path, verb).splitlines()[-1]
    assert last == told if told else last.startswith("example: ")


@pytest.mark.parametrize("verb", ["hook", "mcp"])
def test_no_option_is_offered_that_is_refused(tmp_path, verb):
    assert "--json" not in help_of(tmp_path, verb)
    assert "standard input" in help_of(tmp_path, verb)
