"""Text in, a policy out, or an error with file, line, key and what to do."""

import pickle
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.errors import PolicyError
from tenure.gate.policy import DEFAULT_LEASE, Job, Policy, keys_of
from tenure.gate.policy_job import split_words
from tenure.gate.policy_text import choose, parse
from tenure.kernel.lease import LeaseTimings

WHOLE = """\
trunk = "main"

[jobs.format]
stage = "fix"
run = "ruff format ."

[jobs.build]
stage = "build"
shell = "make > build.log"
outputs = ["dist/", "build.log"]

[jobs.test]
stage = "test"
run = ["pytest", "-q", "--junit-xml=report.xml"]
inputs = ["src/**", "tests/**", "pyproject.toml"]
outputs = ["report.xml"]
needs = ["build"]
env = ["DATABASE_URL"]
pass-env = ["SSH_AUTH_SOCK"]
set-env = { HYPOTHESIS_PROFILE = "ci" }
context = ["ruff --version", ["node", "--version"]]
timeout = "10m"
reuse = false
cwd = "./sub/"

[gate]
lease_ttl = "30s"
renew_interval = "10s"
"""


def test_a_whole_policy_is_read():
    assert parse("tenure.toml", WHOLE.encode()) == Policy(
        file="tenure.toml",
        trunk="main",
        lease=LeaseTimings(ttl=30.0, renew_interval=10.0),
        jobs={
            "format": Job(name="format", stage="fix", run=("ruff", "format", ".")),
            "build": Job(
                name="build",
                stage="build",
                run="make > build.log",
                outputs=("dist", "build.log"),
            ),
            "test": Job(
                name="test",
                stage="test",
                run=("pytest", "-q", "--junit-xml=report.xml"),
                inputs=("src/**", "tests/**", "pyproject.toml"),
                outputs=("report.xml",),
                needs=("build",),
                env=("DATABASE_URL",),
                pass_env=("SSH_AUTH_SOCK",),
                set_env={"HYPOTHESIS_PROFILE": "ci"},
                context=(("ruff", "--version"), ("node", "--version")),
                timeout_seconds=600.0,
                reuse=False,
                cwd="sub",
            ),
        },
    )


def test_jobs_keep_the_order_of_the_file():
    text = "".join(f"[jobs.{name}]\nrun = 'x'\n" for name in ("z", "a", "m"))
    assert list(parse("tenure.toml", text.encode()).jobs) == ["z", "a", "m"]


def test_a_policy_in_pyproject_says_the_same():
    text = WHOLE.replace("[jobs", "[tool.tenure.jobs").replace("[gate", "[tool.tenure.gate")
    text = '[project]\nname = "x"\n\n[tool.tenure]\n' + text
    own, project = parse("tenure.toml", WHOLE.encode()), parse("pyproject.toml", text.encode())
    assert (project.jobs, project.trunk, project.lease) == (own.jobs, own.trunk, own.lease)
    assert project.file == "pyproject.toml"


def test_the_least_policy_is_one_command():
    policy = parse("tenure.toml", b'[jobs.test]\nrun = "true"\n')
    assert policy.jobs == {"test": Job(name="test", run=("true",))}
    assert policy.lease is DEFAULT_LEASE


def refusal(text: str | bytes, file: str = "tenure.toml") -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        parse(file, text.encode() if isinstance(text, str) else text)
    return caught.value


HEAD = "[jobs.test]\n"
RUN = '[jobs.test]\nrun = "x"\n'

ERRORS = [
    # text, line, key, what, next
    ("", None, "jobs", "a policy without requirements proves nothing", "declare a job"),
    ('trunk = "main"', None, "jobs", "without requirements", ""),
    ("[jobs]\n", 1, "jobs", "without requirements", ""),
    ("# one\njobs = 3\n", 2, "jobs", "expected a table, found an integer (3)", ""),
    ("[jobs]\ntest = 'pytest'\n", 2, "jobs.test", "expected a table, found a string", ""),
    (RUN + "tunk = 1\n", 3, "jobs.test.tunk", "unknown key", ""),
    ("tunk = 'main'\n" + RUN, 1, "tunk", "unknown key", "did you mean 'trunk'?"),
    ("trunk = 1\n" + RUN, 1, "trunk", "expected a string, found an integer (1)", "in quotes"),
    ("trunk = ' '\n" + RUN, 1, "trunk", "no name of a branch", ""),
    ("[job.test]\nrun = 'x'\n[jobs.a]\nrun = 'x'", 1, "job", "unknown key", "did you mean 'jobs'?"),
    (RUN + "input = ['a']\n", 3, "jobs.test.input", "unknown key", "did you mean 'inputs'?"),
    (RUN + "pass_env = ['A']\n", 3, "jobs.test.pass_env", "unknown key", "'pass-env'?"),
    (RUN + "Timeout = '1s'\n", 3, "jobs.test.Timeout", "unknown key", "'timeout'?"),
    (RUN + "xyzzy = 1\n", 3, "jobs.test.xyzzy", "unknown key", "known here: stage, run, shell"),
    (RUN + "[gate]\nlease-ttl = '9s'\n", 4, "gate.lease-ttl", "unknown key", "'lease_ttl'?"),
    # what runs
    (HEAD, 1, "jobs.test", "neither `run` nor `shell`", "say what is to be run"),
    (HEAD + "run = ''\n", 2, "jobs.test.run", "the command is empty", ""),
    (HEAD + "run = ' '\n", 2, "jobs.test.run", "the command is empty", ""),
    (HEAD + "run = []\n", 2, "jobs.test.run", "the command is empty", ""),
    (HEAD + "run = ['', 'a']\n", 2, "jobs.test.run", "the command is empty", ""),
    (HEAD + "run = \"''\"\n", 2, "jobs.test.run", "the command is empty", ""),
    (HEAD + "run = ['a',\n 1]\n", 3, "jobs.test.run[1]", "expected a string, found an integer", ""),
    (HEAD + "run = true\n", 2, "jobs.test.run", "found a boolean (true)", ""),
    (HEAD + "run = 1979-05-27\n", 2, "jobs.test.run", "found a date or time", ""),
    (HEAD + 'run = "pytest -k \'a"\n', 2, "jobs.test.run", "quotes are unbalanced", "close"),
    (HEAD + "run = 'a\\'\n", 2, "jobs.test.run", "ends in a backslash", ""),
    (
        HEAD + "run = 'make && make test'\n",
        2,
        "jobs.test.run",
        "`&&` would be an argument",
        "shell",
    ),
    (HEAD + "run = 'a | b'\n", 2, "jobs.test.run", "`|` would be an argument", "shell"),
    (HEAD + "run = 'a > b'\n", 2, "jobs.test.run", "`>` would be an argument", "shell"),
    (HEAD + "run = 'A=1 pytest'\n", 2, "jobs.test.run", "name of the program", "set-env"),
    (HEAD + "run = 'a\\u0000b'\n".replace("'", '"'), 2, "jobs.test.run", "NUL", ""),
    (HEAD + "shell = '  '\n", 2, "jobs.test.shell", "it is empty", ""),
    (HEAD + "shell = ['a']\n", 2, "jobs.test.shell", "expected a string, found a list", ""),
    (RUN + "shell = 'x'\n", 3, "jobs.test.shell", "exclude each other", "keep one"),
    (RUN + "context = 'a'\n", 3, "jobs.test.context", "expected a list of commands", '["a"]'),
    (RUN + "context = ['a', '']\n", 3, "jobs.test.context[1]", "command is empty", ""),
    (RUN + "context = [{a = 1}]\n", 3, "jobs.test.context[0]", "found a table", ""),
    # stage, timeout, flags
    (RUN + "stage = 'tests'\n", 3, "jobs.test.stage", "no stage 'tests'", "did you mean 'test'?"),
    (RUN + "stage = 'x'\n", 3, "jobs.test.stage", "no stage 'x'", "fix, build, check, test"),
    (RUN + "stage = 1\n", 3, "jobs.test.stage", "expected a string", ""),
    (RUN + "timeout = 600\n", 3, "jobs.test.timeout", "duration with its unit", 'write "600s"'),
    (RUN + "timeout = 1.5\n", 3, "jobs.test.timeout", "found a float (1.5)", 'write "1.5s"'),
    (RUN + "timeout = true\n", 3, "jobs.test.timeout", "expected a duration", ""),
    (RUN + "timeout = '10 min'\n", 3, "jobs.test.timeout", "'10 min' is not a duration", "90s"),
    (RUN + "timeout = '0s'\n", 3, "jobs.test.timeout", "no time at all", ""),
    (RUN + "reuse = 'no'\n", 3, "jobs.test.reuse", "expected true or false, found a string", ""),
    (RUN + "retries = '1'\n", 3, "jobs.test.retries", "expected a number of retries", ""),
    (RUN + "retries = true\n", 3, "jobs.test.retries", "found a boolean", ""),
    (RUN + "retries = -1\n", 3, "jobs.test.retries", "-1 is no number", "use 0 to 10"),
    (RUN + "retries = 11\n", 3, "jobs.test.retries", "11 is no number", "use 0 to 10"),
    # paths
    (RUN + "inputs = 'src'\n", 3, "jobs.test.inputs", "expected a list of strings", '["src"]'),
    (RUN + "inputs = []\n", 3, "jobs.test.inputs", "count for every tree", "leave it out"),
    (RUN + "inputs = [\n'a',\n1,\n]\n", 5, "jobs.test.inputs[1]", "found an integer (1)", "quotes"),
    (RUN + "inputs = [\n'a',\n'a',\n]\n", 5, "jobs.test.inputs[1]", "'a' is listed twice", ""),
    (RUN + "inputs = [\n'a',\n'/etc',\n]\n", 5, "jobs.test.inputs[1]", "absolute", "relative"),
    (RUN + "inputs = ['b', 'a',\n'../b']\n", 4, "jobs.test.inputs[2]", "may leave the tree", ""),
    (RUN + "inputs = ['.git/x']\n", 3, "jobs.test.inputs[0]", "git directory", ""),
    (RUN + "inputs = ['*.{a,b}']\n", 3, "jobs.test.inputs[0]", "braces", ""),
    (RUN + "inputs = ['!a']\n", 3, "jobs.test.inputs[0]", "only include", ""),
    (RUN + "outputs = ['/tmp/x']\n", 3, "jobs.test.outputs[0]", "absolute", ""),
    (RUN + "outputs = ['a/../../x']\n", 3, "jobs.test.outputs[0]", "may leave the tree", ""),
    (RUN + "outputs = ['.git']\n", 3, "jobs.test.outputs[0]", "git directory", ""),
    (RUN + "outputs = ['.']\n", 3, "jobs.test.outputs[0]", "the whole tree", ""),
    (RUN + "outputs = ['']\n", 3, "jobs.test.outputs[0]", "empty", ""),
    (RUN + "outputs = ['*.xml']\n", 3, "jobs.test.outputs[0]", "wildcards", ""),
    (RUN + "outputs = ['a', 'a/b']\n", 3, "jobs.test.outputs", "the output 'a' of this job", ""),
    (
        RUN + "outputs = ['r.xml']\n[jobs.b]\nrun = 'x'\noutputs = ['./r.xml']\n",
        6,
        "jobs.b.outputs",
        "'r.xml' meets the output 'r.xml' of 'test'",
        "place of its own",
    ),
    (RUN + "cwd = '/x'\n", 3, "jobs.test.cwd", "absolute", ""),
    (RUN + "cwd = 'a/..'\n", 3, "jobs.test.cwd", "may leave the tree", ""),
    (RUN + "cwd = '*'\n", 3, "jobs.test.cwd", "wildcards", ""),
    (RUN + "cwd = 1\n", 3, "jobs.test.cwd", "expected a string", ""),
    # variables
    (RUN + "env = ['1A']\n", 3, "jobs.test.env[0]", "no name of a variable", ""),
    (RUN + "env = ['A B']\n", 3, "jobs.test.env[0]", "no name of a variable", ""),
    (RUN + "env = ['']\n", 3, "jobs.test.env[0]", "no name of a variable", ""),
    (RUN + "env = ['A=1']\n", 3, "jobs.test.env[0]", "no name of a variable", ""),
    (RUN + "env = ['GIT_DIR']\n", 3, "jobs.test.env[0]", "never reaches a job", "redirect git"),
    (RUN + "pass-env = ['TENURE_X']\n", 3, "jobs.test.pass-env[0]", "never reaches", ""),
    (RUN + "set-env = {GIT_DIR = 'x'}\n", 3, "jobs.test.set-env.GIT_DIR", "never reaches", ""),
    (RUN + "set-env = {TENURE_STORE = 'x'}\n", 3, "jobs.test.set-env.TENURE_STORE", "never", ""),
    (RUN + "[jobs.test.set-env]\nA = 1\n", 4, "jobs.test.set-env.A", "expected a string", "quotes"),
    (RUN + "set-env = {'a-b' = 'x'}\n", 3, "jobs.test.set-env.a-b", "no name of a variable", ""),
    (RUN + "set-env = ['A=1']\n", 3, "jobs.test.set-env", "expected a table, found a list", ""),
    (RUN + "set-env = {A = '1'}\nenv = ['B', 'A']\n", 4, "jobs.test.env[1]", "in set-env too", ""),
    (RUN + "set-env = {A = '1'}\npass-env = ['A']\n", 4, "jobs.test.pass-env[0]", "in set-env", ""),
    (RUN + "env = ['A']\npass-env = ['A']\n", 4, "jobs.test.pass-env[0]", "in env too", ""),
    # names
    ("[jobs.'te st']\nrun = 'x'\n", 1, 'jobs."te st"', "no name of a job", "letters"),
    ("[jobs.-test]\nrun = 'x'\n", 1, "jobs.-test", "no name of a job", ""),
    ("[jobs.'']\nrun = 'x'\n", 1, 'jobs.""', "no name of a job", ""),
    ("[jobs.'../x']\nrun = 'x'\n", 1, 'jobs."../x"', "no name of a job", ""),
    ("[jobs.'té']\nrun = 'x'\n", 1, 'jobs."té"', "no name of a job", ""),
    ("[jobs.'test@base']\nrun = 'x'\n", 1, 'jobs."test@base"', "`@` is reserved", ""),
    ("[jobs.trunk]\nrun = 'x'\n", 1, "jobs.trunk", "reserved", ""),
    ("[jobs." + "a" * 81 + "]\nrun = 'x'\n", 1, "jobs." + "a" * 81, "longer than 80", ""),
    # needs
    (RUN + "needs = ['test']\n", 3, "jobs.test.needs[0]", "cannot need itself", ""),
    (
        RUN + "needs = [\n  'biuld',\n]\n[jobs.build]\nrun = 'x'\n",
        4,
        "jobs.test.needs[0]",
        "there is no job 'biuld'",
        "did you mean 'build'?",
    ),
    (
        "[jobs.a]\nstage = 'build'\nrun = 'x'\nneeds = ['b']\n[jobs.b]\nstage = 'test'\nrun = 'x'\n",
        4,
        "jobs.a.needs[0]",
        "'b' runs later: test comes after build",
        "same or an earlier stage",
    ),
    (
        "".join(f"[jobs.{a}]\nrun='x'\nneeds=['{b}']\n" for a, b in ("xc", "ba", "cb", "ac")),
        6,
        "jobs.b.needs",
        "circle: b → a → c → b",
        "",
    ),
    # lease
    (
        RUN + "[gate]\nlease_ttl = '30s'\nrenew_interval = '11s'\n",
        4,
        "gate.lease_ttl",
        "at least three times",
        "lengthen lease_ttl",
    ),
    (RUN + "[gate]\nlease_ttl = '59s'\n", 4, "gate.lease_ttl", "at least three times", ""),
    (RUN + "[gate]\nrenew_interval = '21s'\n", 4, "gate.renew_interval", "three times", ""),
    (RUN + "[gate]\nlease_ttl = 60\n", 4, "gate.lease_ttl", "with its unit", '"60s"'),
    ("gate = 1\n" + RUN, 1, "gate", "expected a table", ""),
]


@pytest.mark.parametrize(
    ("text", "line", "key", "what", "after"), ERRORS, ids=[f"{e[2]}-{e[3]}" for e in ERRORS]
)
def test_an_error_says_where_what_and_what_next(text, line, key, what, after):
    error = refusal(text)
    (problem,) = error.problems
    for told in (error, problem):
        assert (told.file, told.line, told.key) == ("tenure.toml", line, key)
        assert what in told.what
        assert after in told.next
    where = f"tenure.toml:{line}: {key}: " if line else f"tenure.toml: {key}: "
    assert str(error).startswith(where)


LATER = [
    ("repository = 'x'\n" + RUN, 1, "repository"),
    (RUN + "[gate]\nrepository = 'x'\n", 4, "gate.repository"),
]


@pytest.mark.parametrize(("text", "line", "key"), LATER, ids=[row[2] for row in LATER])
def test_a_key_of_a_later_version_is_refused_by_name(text, line, key):
    error = refusal(text)
    assert len(error.problems) == 1
    assert (error.line, error.key) == (line, key)
    assert error.what == "not supported by this version yet"


def test_all_errors_of_a_file_are_told_together_in_its_order():
    error = refusal(
        "[jobs.b]\nstage = 'tset'\nruns = 'x'\n[jobs.a]\nrun = 'x'\nneeds = ['c']\ntimeout = 5\n"
    )
    told = [(problem.line, problem.key) for problem in error.problems]
    assert told == [
        (1, "jobs.b"),
        (2, "jobs.b.stage"),
        (3, "jobs.b.runs"),
        (6, "jobs.a.needs[0]"),
        (7, "jobs.a.timeout"),
    ]
    assert (error.line, error.key) == (1, "jobs.b")


def test_an_error_survives_pickling_with_its_problems():
    error = refusal(RUN + "a = 1\nb = 2\n")
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    assert [str(problem) for problem in again.problems] == [str(p) for p in error.problems]
    assert len(again.problems) == 2


def test_an_error_in_pyproject_has_its_whole_key_and_line():
    text = '[project]\nname = "x"\n[tool.tenure.jobs.test]\nrun = "x"\nstage = "tset"\n'
    error = refusal(text, "pyproject.toml")
    assert (error.file, error.line) == ("pyproject.toml", 5)
    assert error.key == "tool.tenure.jobs.test.stage"
    missing = refusal('[project]\nname = "x"\n[tool.tenure]\ntrunk = "main"\n', "pyproject.toml")
    assert (missing.line, missing.key) == (3, "tool.tenure.jobs")


BROKEN = [
    (b'[jobs.test]\nrun = "x\n', 2, "does not parse as TOML"),
    (b"[jobs.test]\nrun = 'x'\nrun = 'y'\n", 3, "does not parse as TOML"),
    (b"[jobs.test]\n[jobs.test]\n", 2, "does not parse as TOML"),
    (b"a = [1,\n2", 2, "does not parse as TOML"),
    (b"a = 1\n\xff\xfe", 2, "byte 0xff is not UTF-8"),
    (b"\xef\xbb\xbf[jobs.test]\n", 1, "byte order mark"),
    ("[jobs.test]\n".encode("utf-16"), 1, "is not UTF-8"),
    (b"a = " + b"9" * 5000, None, "does not parse as TOML"),
    (b"a = " + b"[" * 5000 + b"]" * 5000, None, "nested too deeply"),
]


@pytest.mark.parametrize(
    ("data", "line", "what"), BROKEN, ids=[repr(row[0][:12]) for row in BROKEN]
)
def test_a_file_that_does_not_parse_is_told_with_its_line(data, line, what):
    error = refusal(data)
    assert error.line == line
    assert what in str(error)
    assert len(error.problems) == 1


def test_pyproject_without_a_policy_is_no_policy():
    assert "there is no [tool.tenure] table" in str(refusal("[tool.ruff]\n", "pyproject.toml"))
    assert "it is no table" in str(refusal("[tool]\ntenure = 1\n", "pyproject.toml"))


OWN, PROJECT = RUN.encode(), b"[tool.tenure.jobs.test]\nrun = 'x'\n"


def test_the_one_policy_is_chosen():
    assert choose({"tenure.toml": OWN}) == ("tenure.toml", OWN)
    assert choose({"tenure.toml": OWN, "pyproject.toml": None}) == ("tenure.toml", OWN)
    assert choose({"tenure.toml": None, "pyproject.toml": PROJECT}) == ("pyproject.toml", PROJECT)
    mention = b"[project]\nname = 'tenure-demo'\n"
    assert choose({"tenure.toml": OWN, "pyproject.toml": mention}) == ("tenure.toml", OWN)
    assert choose({"tenure.toml": b"", "pyproject.toml": b""}) == ("tenure.toml", b"")


def test_two_policies_are_an_error_that_names_both():
    with pytest.raises(PolicyError) as caught:
        choose({"tenure.toml": OWN, "pyproject.toml": PROJECT})
    assert "tenure.toml" in str(caught.value)
    assert "pyproject.toml" in str(caught.value)
    assert "keep one of them" in caught.value.next


@pytest.mark.parametrize(
    "files", [{}, {"tenure.toml": None}, {"pyproject.toml": b"[project]\nname = 'tenure'\n"}]
)
def test_no_policy_is_an_error_that_says_how_to_begin(files):
    with pytest.raises(PolicyError) as caught:
        choose(files)
    assert caught.value.next == "run `tenure init`"
    assert caught.value.exit_code == 2


def test_a_pyproject_that_mentions_us_and_does_not_parse_is_not_passed_over():
    with pytest.raises(PolicyError, match=r"pyproject\.toml:1: it does not parse"):
        choose({"tenure.toml": OWN, "pyproject.toml": b"[tool.tenure\n"})


def test_a_broken_pyproject_that_does_not_mention_us_is_somebody_elses():
    assert choose({"tenure.toml": OWN, "pyproject.toml": b"[tool.\n"})[0] == "tenure.toml"


def test_a_command_line_is_split_as_a_shell_would_without_being_one():
    assert split_words("pytest -q  tests") == ("pytest", "-q", "tests")
    assert split_words("pytest -k 'a and b' \"c d\" e\\ f") == (
        "pytest",
        "-k",
        "a and b",
        "c d",
        "e f",
    )
    assert split_words("sh -c 'a && b | c > d'") == ("sh", "-c", "a && b | c > d")
    assert split_words("grep ';' x") == ("grep", ";", "x")
    assert split_words("echo $HOME ~ *") == ("echo", "$HOME", "~", "*")
    assert split_words("./a=b x=1") == ("./a=b", "x=1")
    assert split_words("a\tb\nc\u00a0d") == ("a", "b", "c\u00a0d")


@given(st.text(st.sampled_from("ab \t\n-'\"\\#é\x0b\x1c\u2003"), max_size=12))
def test_the_short_way_to_split_words_is_the_long_way(text):
    import shlex

    from tenure.gate.errors import UsageError

    try:
        expected = tuple(shlex.split(text))
    except ValueError:
        with pytest.raises(UsageError):
            split_words(text)
    else:
        assert split_words(text) == expected


@given(st.binary(max_size=60))
def test_any_bytes_are_a_policy_or_an_error(data):
    for file in ("tenure.toml", "pyproject.toml"):
        with pytest.raises(PolicyError):
            parse(file, data)


VALUES = st.recursive(
    st.sampled_from(
        [
            *("1", "-0.5", "true", "''", "'a'", "'a b'", "'../x'", "'10m'", "'test'", "'b'", "nan"),
            *("'@'", '"\\u0000"', "1979-05-27", "'*.py'", "'GIT_X'", "'A'", "'&&'", '"\'"', "'/'"),
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | st.dictionaries(st.sampled_from(["A", "b", "TENURE_X", "run"]), inner, max_size=2).map(
            lambda items: "{" + ", ".join(f"{k} = {v}" for k, v in items.items()) + "}"
        )
    ),
    max_leaves=5,
)
JOB_KEYS = st.sampled_from([*keys_of("jobs.NAME"), "slot", "unknown"])
TABLES = st.dictionaries(
    st.sampled_from(["jobs.a", "jobs.b", "jobs.'c@d'", "jobs.test", "gate", "setup", "jobs"]),
    st.dictionaries(JOB_KEYS | st.sampled_from(keys_of("gate")), VALUES, max_size=5),
    max_size=4,
)


@given(TABLES)
def test_any_values_under_the_known_keys_are_a_policy_or_errors_with_lines(tables):
    text = "".join(
        f"[{table}]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())
        for table, keys in sorted(tables.items())
    )
    try:
        policy = parse("tenure.toml", text.encode())
    except PolicyError as error:
        problems = error.problems
    else:
        assert policy.jobs
        return
    assert problems
    for problem in problems:
        assert problem.line is not None or problem.key == "jobs"
        assert problem.what
    lines = [problem.line or 0 for problem in problems]
    assert lines == sorted(lines)


IMPORTS = """
import sys
import msgspec
import tenure.gate.policy_text
assert not {"tomllib", "shlex", "difflib"} & set(sys.modules)
import tomllib
before = set(sys.modules)
tenure.gate.policy_text.parse("tenure.toml", sys.stdin.buffer.read())
print(*sorted(set(sys.modules) - before))
"""


def test_reading_a_policy_imports_nothing_but_the_parser():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTS], input=WHOLE, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["tenure.gate.duration"]


def test_the_line_of_a_later_item_is_right_though_an_earlier_one_is_wrong():
    error = refusal(RUN + "inputs = [\n1,\n'a',\n'a',\n'../b']\n")
    assert [problem.line for problem in error.problems] == [4, 6, 7]
