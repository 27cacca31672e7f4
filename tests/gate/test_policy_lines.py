"""The line that an error names is the line where the thing stands."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.policy_lines import Path, locate, nearest

PLAIN = '''\
# a policy
trunk = "main"      # 2

[jobs.lint]         # 4
run = "ruff"        # 5
needs = [           # 6
    "a",            # 7
    # not "b"
    "c", "d",       # 9
]

[jobs.test]         # 12
run = """
[jobs.fake]
run = 'no'
"""                 # ends at 16
set-env = { A = "1", B = "}" }   # 17
jobs.deep.er = 1    # 18
[ jobs . "odd name" ]            # 19
"quo\\u0074ed" = 'x = "1'         # 20
[gate]              # 21
lease_ttl = "60s"   # 22
'''


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("trunk",), 2),
        (("jobs",), 4),
        (("jobs", "lint"), 4),
        (("jobs", "lint", "run"), 5),
        (("jobs", "lint", "needs"), 6),
        (("jobs", "lint", "needs", 0), 7),
        (("jobs", "lint", "needs", 1), 9),
        (("jobs", "lint", "needs", 2), 9),
        (("jobs", "test"), 12),
        (("jobs", "test", "run"), 13),
        (("jobs", "test", "set-env"), 17),
        (("jobs", "test", "set-env", "A"), 17),
        (("jobs", "test", "set-env", "B"), 17),
        (("jobs", "test", "jobs", "deep"), 18),
        (("jobs", "test", "jobs", "deep", "er"), 18),
        (("jobs", "odd name"), 19),
        (("jobs", "odd name", "quoted"), 20),
        (("gate",), 21),
        (("gate", "lease_ttl"), 22),
    ],
)
def test_everything_stands_where_it_stands(path, line):
    tomllib.loads(PLAIN)
    assert locate(PLAIN)[path] == line


def test_what_has_no_line_of_its_own_gets_the_one_around_it():
    lines = locate(PLAIN)
    assert nearest(lines, ("jobs", "lint", "stage")) == 4
    assert nearest(lines, ("jobs", "lint", "needs", 9)) == 6
    assert nearest(lines, ("setup",)) is None
    assert ("jobs", "fake") not in lines


def test_a_table_stands_at_its_own_header_even_when_mentioned_before():
    text = '[jobs.test.set-env]\nA = "1"\n\n[jobs.test]\nrun = "x"\n'
    assert locate(text)["jobs", "test"] == 4
    assert locate(text)["jobs",] == 1


def test_carriage_returns_and_a_missing_last_newline_change_nothing():
    text = "a = 1\r\n[b]\r\nc = [\r\n  1,\r\n  2]"
    tomllib.loads(text)
    lines = locate(text)
    assert lines["a",] == 1
    assert lines["b",] == 2
    assert lines["b", "c", 0] == 4
    assert lines["b", "c", 1] == 5


@pytest.mark.parametrize(
    ("value", "below"),
    [
        ('"a\\"]"', "basic"),
        ("'a\\'", "literal"),
        ('"""a\n"" \\""" b"""""', "multi-line basic ending in quotes"),
        ("'''a\n'' [x]\n'''", "multi-line literal"),
        ('""', "empty"),
        ('""""""', "empty multi-line"),
        ("[[1, 2], ['a', [\"b\"]]]", "nested arrays"),
        ("[ # comment ]\n 1, # two\n]", "comments in an array"),
        ("[{a = 1}, {b = {c = ']'}}]", "tables in an array"),
        ("{a.b = 1, c = [1, 2]}", "dotted in an inline table"),
        ("1979-05-27 07:32:00Z", "date"),
        ("-inf", "float"),
        ("0xdead_beef", "integer"),
        ("true", "boolean"),
        ("[]", "empty array"),
        ("{}", "empty table"),
    ],
)
def test_any_value_is_passed_over_whole(value, below):
    text = f"first = {value} # x = 1\nlast = 1\n"
    tomllib.loads(text)
    found = locate(text)
    assert found["last",] == value.count("\n") + 2
    assert {path[0] for path in found} == {"first", "last"}


def test_arrays_of_tables_are_passed_over():
    text = "[[x.y]]\na = 1\n[[x.y]]\na = 2\n[x.z]\nb = 3\n"
    assert locate(text)["x", "z", "b"] == 6


NAMES = st.text("abc-_19", min_size=1, max_size=3) | st.text(
    st.characters(codec="utf-8", exclude_characters="\x7f", exclude_categories=["Cc", "Cs"]),
    max_size=3,
)
SCALARS = st.sampled_from(['"x"', "'[y'", "1", "true", '"""\nz\n"""', "[1,\n 2]", "{q = 1}", '"#"'])


@given(st.dictionaries(NAMES, st.dictionaries(NAMES, SCALARS, max_size=3), max_size=4))
def test_every_key_of_a_written_text_is_found_on_its_line(tables):
    out: list[str] = []
    expected: dict[Path, int] = {}
    line = 1
    for table, keys in tables.items():
        out.append(f"[ {quoted(table)} ] # [no]")
        expected[table,] = line
        line += 1
        for key, value in keys.items():
            out.append(f"\t{quoted(key)} = {value}")
            expected[table, key] = line
            line += value.count("\n") + 1
    text = "\n".join(out)
    tomllib.loads(text)
    found = locate(text)
    assert {path: found[path] for path in expected} == expected


def quoted(name: str) -> str:
    return '"' + name.replace("\\", "\\\\").replace('"', '\\"') + '"'
