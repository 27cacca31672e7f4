"""A policy that cannot be read, or cannot work, says where and what next, and nothing runs."""

import pytest

from tests.faces.calls import PASS, gated, job, store, tenure
from tests.gate.repos import commit, git, make_repo

RUN = '[jobs.a]\nrun = "touch ran"\n'

#: text, what each line of the complaint begins with (after `tenure: `), and what it contains
TEXTS: dict[str, tuple[str | bytes, list[str]]] = {
    "nothing at all": ("", ["tenure.toml: jobs: a policy without requirements"]),
    "no requirement": ('trunk = "main"\n', ["tenure.toml: jobs: a policy without requirements"]),
    "an empty table of jobs": ("[jobs]\n", ["tenure.toml:1: jobs: a policy without requirements"]),
    "jobs that are no table": ("jobs = 3\n", ["tenure.toml:1: jobs: expected a table"]),
    "no TOML": ("[jobs.a\nrun = 3\n", ["tenure.toml:1: it does not parse as TOML"]),
    "a key twice": (RUN + 'run = "b"\n', ["tenure.toml:3: it does not parse as TOML"]),
    "not UTF-8": (b"# caf\xe9\n" + RUN.encode(), ["tenure.toml:1: byte 0xe9 is not UTF-8"]),
    "a byte order mark": (b"\xef\xbb\xbf" + RUN.encode(), ["tenure.toml:1: it starts with a byte"]),
    "nested too deep": (f"x = {'[' * 9000}{']' * 9000}\n", ["tenure.toml: its values are nested"]),
    "an unknown key": ("tunk = 'main'\n" + RUN, ["tenure.toml:1: tunk: unknown key; did you mean"]),
    "an unknown key of a job": (
        RUN + "imputs = ['a']\n",
        ["tenure.toml:3: jobs.a.imputs: unknown key; did you mean 'inputs'?"],
    ),
    "a wrong type": (
        RUN + "timeout = 10\n",
        ["tenure.toml:3: jobs.a.timeout: expected a duration"],
    ),
    "a wrong stage": (RUN + 'stage = "tets"\n', ["tenure.toml:3: jobs.a.stage: there is no stage"]),
    "neither run nor shell": ("[jobs.a]\ncwd = '.'\n", ["tenure.toml:1: jobs.a: there is neither"]),
    "run and shell": (RUN + 'shell = "b"\n', ["tenure.toml:3: jobs.a.shell: `run` and `shell`"]),
    "an empty command": (
        '[jobs.a]\nrun = ""\n',
        ["tenure.toml:2: jobs.a.run: the command is empty"],
    ),
    "an empty list": ("[jobs.a]\nrun = []\n", ["tenure.toml:2: jobs.a.run: the command is empty"]),
    "a shell operator": (
        '[jobs.a]\nrun = "a && b"\n',
        ["tenure.toml:2: jobs.a.run: `&&` would be an argument"],
    ),
    "an open quote": (
        '[jobs.a]\nrun = "echo \'a"\n',
        ["tenure.toml:2: jobs.a.run: the quotes are unbalanced"],
    ),
    "itself": (
        RUN + 'needs = ["a"]\n',
        ["tenure.toml:3: jobs.a.needs[0]: a job cannot need itself"],
    ),
    "nobody": (RUN + 'needs = ["b"]\n', ["tenure.toml:3: jobs.a.needs[0]: there is no job 'b'"]),
    "a cycle": (
        (
            '[jobs.a]\nrun = "x"\nneeds = ["b"]\n[jobs.b]\nrun = "x"\nneeds = ["c"]\n'
            '[jobs.c]\nrun = "x"\nneeds = ["a"]\n'
        ),
        ["tenure.toml:3: jobs.a.needs: the jobs need each other in a circle: a → b → c → a"],
    ),
    "a later stage": (
        '[jobs.a]\nrun = "x"\nstage = "build"\nneeds = ["b"]\n[jobs.b]\nrun = "x"\nstage = "test"\n',
        ["tenure.toml:4: jobs.a.needs[0]: 'b' runs later"],
    ),
    "an output outside": (
        RUN + 'outputs = ["../x"]\n',
        ["tenure.toml:3: jobs.a.outputs[0]: "],
    ),
    "the whole tree as output": (
        RUN + 'outputs = ["."]\n',
        ["tenure.toml:3: jobs.a.outputs[0]: the whole tree cannot be an output"],
    ),
    "one output of two jobs": (
        RUN + 'outputs = ["out/x"]\n[jobs.b]\nrun = "x"\noutputs = ["out"]\n',
        ["tenure.toml:6: jobs.b.outputs: 'out' meets the output 'out/x' of 'a'"],
    ),
    "no inputs": (RUN + "inputs = []\n", ["tenure.toml:3: jobs.a.inputs: one pass would count"]),
    "git's variable": (
        RUN + 'env = ["GIT_DIR"]\n',
        ["tenure.toml:3: jobs.a.env[0]: 'GIT_DIR' never"],
    ),
    "our variable": (
        RUN + 'set-env = { TENURE_RUN = "1" }\n',
        ["tenure.toml:3: jobs.a.set-env.TENURE_RUN: 'TENURE_RUN' never reaches"],
    ),
    "a reserved name": (
        '[jobs.trunk]\nrun = "x"\n',
        ["tenure.toml:1: jobs.trunk: 'trunk' is a reser"],
    ),
    "the mark of the base": (
        '[jobs."a@base"]\nrun = "x"\n',
        ['tenure.toml:1: jobs."a@base": `@` is reserved'],
    ),
    "a name with a slash": ('[jobs."a/b"]\nrun = "x"\n', ['tenure.toml:1: jobs."a/b": ']),
    "a lease too short": (
        RUN + '[gate]\nlease_ttl = "30s"\n',
        ["tenure.toml:4: gate.lease_ttl: "],
    ),
    "several at once": (
        "tunk = 1\n" + RUN + "timeout = 3\nneeds = ['b']\n",
        [
            "tenure.toml:1: tunk: unknown key",
            "tenure.toml:4: jobs.a.timeout: expected a duration",
            "tenure.toml:5: jobs.a.needs[0]: there is no job 'b'",
        ],
    ),
}

#: Keys that a later version will know: where they would stand, and what names them.
LATER = {
    'repository = "x"\n': "repository",
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_bad_policy_is_named_by_file_line_and_key(tmp_path, name):
    text, expected = TEXTS[name]
    repo = make_repo(tmp_path / "repo", {"tenure.toml": text})
    ending = tenure(repo, "done")
    assert (ending.code, ending.out) == (2, ""), ending
    lines = ending.err.splitlines()
    assert len(lines) == len(expected), ending
    for line, begins in zip(lines, expected, strict=True):
        assert line.startswith(f"tenure: {begins}"), ending
    assert not (repo / "ran").exists()
    assert not store(repo).exists()


@pytest.mark.parametrize("text", LATER)
def test_a_key_of_a_later_version_is_refused_by_name(tmp_path, text):
    repo = make_repo(tmp_path / "repo", {"tenure.toml": text + RUN})
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert f": {LATER[text]}: not supported by this version yet; remove it" in ending.err


def test_each_problem_of_a_policy_is_in_the_object(tmp_path):
    repo = make_repo(tmp_path / "repo", {"tenure.toml": TEXTS["several at once"][0]})
    found = tenure(repo, "done", "--json").object
    assert found["error"]["kind"] == "PolicyError"
    assert [line.split(": ")[0] for line in found["problems"]] == [
        "tenure.toml:1",
        "tenure.toml:4",
        "tenure.toml:5",
    ]


def test_two_policies_are_an_error(tmp_path):
    repo = gated(tmp_path / "repo", files={"pyproject.toml": "[tool.tenure.jobs.a]\nrun = 'x'\n"})
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "there are two policies" in ending.err
    assert "keep one of them" in ending.err


def test_a_policy_in_pyproject_counts_like_one_of_its_own(tmp_path):
    text = '[project]\nname = "x"\n[tool.tenure.jobs.lint]\nrun = "true"\n'
    repo = make_repo(tmp_path / "repo", {"pyproject.toml": text})
    assert tenure(repo, "done").code == 0


def test_a_problem_in_pyproject_is_named_with_its_line_there(tmp_path):
    text = '[project]\nname = "x"\n[tool.tenure.jobs.lint]\nrun = "true"\nrum = 1\n'
    repo = make_repo(tmp_path / "repo", {"pyproject.toml": text})
    ending = tenure(repo, "done")
    assert ending.err.startswith("tenure: pyproject.toml:5: tool.tenure.jobs.lint.rum: unknown key")


def test_no_policy_leads_to_init(tmp_path):
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "there is no policy" in ending.err
    assert "tenure init" in ending.err


def test_a_policy_that_is_not_committed_does_not_count(tmp_path):
    """It is untracked, which is what has to be mended first."""
    repo = make_repo(tmp_path / "repo", {"a.txt": "a\n"})
    (repo / "tenure.toml").write_text(PASS)
    ending = tenure(repo, "done")
    assert ending.code == 3, ending
    assert "tenure.toml (untracked)" in ending.err


def test_inputs_that_match_nothing_are_an_error(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true", inputs=["src/**"]))
    ending = tenure(repo, "done")
    assert ending.code == 2
    assert "jobs.lint.inputs: no file of the candidate matches" in ending.err


@pytest.mark.parametrize(
    ("outputs", "what"),
    [
        (["a.txt"], "a.txt is tracked"),
        (["dir"], "dir is tracked"),
        (["new.txt"], "new.txt is not ignored by git"),
    ],
)
def test_an_output_is_neither_tracked_nor_unignored(tmp_path, outputs, what):
    repo = gated(tmp_path / "repo", job("lint", "true", outputs=outputs), {"dir/b.txt": "b\n"})
    ending = tenure(repo, "done")
    assert ending.code == 2, ending
    assert f"jobs.lint.outputs: {what}" in ending.err
    assert (repo / "a.txt").read_text() == "a\n"
    assert (repo / "dir" / "b.txt").exists()


def test_a_policy_that_was_mended_is_read_again(tmp_path):
    repo = make_repo(tmp_path / "repo", {"tenure.toml": "[jobs]\n"})
    assert tenure(repo, "done").code == 2
    commit(repo, {"tenure.toml": PASS})
    git(repo, "commit", "-q", "--amend", "-m", "One commit")
    assert tenure(repo, "done").code in (0, 2)
