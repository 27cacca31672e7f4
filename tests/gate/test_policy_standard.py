"""`[standards.NAME]` is read exactly as written, and whatever is wrong with one has a line and a next step."""

import pytest

from tenure.gate.errors import PolicyError
from tenure.gate.policy import policy_digest
from tenure.gate.policy_text import parse
from tenure.gate.standard import Metric

JOB = '[jobs.test]\nrun = "x"\noutputs = ["coverage.json", "out/"]\n'
GOOD = {
    "from": '"test"',
    "metric": '{ file = "coverage.json", json = "totals.percent" }',
    "direction": '"up"',
    "limit": "87.5",
}


def text(**changes):
    """A policy whose standard has these keys; None takes one away."""
    keys = {**GOOD, **changes}
    lines = [f"{key.rstrip('_')} = {value}" for key, value in keys.items() if value is not None]
    return JOB + "[standards.coverage]\n" + "\n".join(lines) + "\n"


def read(**changes):
    return parse("tenure.toml", text(**changes).encode()).standards["coverage"]


def problems(policy):
    with pytest.raises(PolicyError) as caught:
        parse("tenure.toml", policy.encode())
    return [(each.line, each.key, each.what, each.next) for each in caught.value.problems]


def test_a_standard_is_read():
    found = read(margin="0.10")
    assert (found.name, found.job, found.direction) == ("coverage", "test", "up")
    assert (found.limit, found.margin) == ("87.5", "0.1")
    assert found.metric == Metric(kind="json", what="totals.percent", file="coverage.json")


@pytest.mark.parametrize(
    ("written", "limit"),
    [
        ("87", "87"),
        ("-1", "-1"),
        ("0", "0"),
        ("1_000.5", "1000.5"),
        ("8.75e1", "87.5"),
        ("0.1", "0.1"),
        ("0.30000000000000000000000000000000000001", "0.30000000000000000000000000000000000001"),
        ("12345678901234567890123.1", "12345678901234567890123.1"),
        ("0x10", "16"),
    ],
)
def test_a_limit_is_the_decimal_that_is_written_and_never_a_float(written, limit):
    assert read(limit=written).limit == limit


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ('{ file = "out/r.txt", regex = "n=([0-9]+)" }', ("regex", "n=([0-9]+)", "out/r.txt")),
        ('{ file = "out/r.xml", junit = "tests" }', ("junit", "tests", "out/r.xml")),
        (
            '{ file = "./out/c.xml", cobertura = "line-rate" }',
            ("cobertura", "line-rate", "out/c.xml"),
        ),
        ('{ line = "warnings" }', ("line", "warnings", "")),
    ],
)
def test_every_kind_of_metric_is_read(metric, expected):
    found = read(metric=metric).metric
    assert (found.kind, found.what, found.file) == expected


WRONG = [
    ({"from_": '"tset"'}, 5, "from", "there is no job 'tset'", "did you mean 'test'?"),
    ({"from": "7"}, 5, "from", "expected a string, found an integer (7)", "quotes"),
    ({"from": None}, 4, "", "there is no `from`", "write `from = …`"),
    ({"metric": None}, 4, "", "there is no `metric`", "say where the number is"),
    ({"direction": None}, 4, "", "there is no `direction`", "write `direction = …`"),
    ({"limit": None}, 4, "", "there is no `limit`", "write `limit = …`"),
    ({"limit": '"87.5"'}, 8, "limit", "expected a number, found a string", "without quotes"),
    ({"limit": "true"}, 8, "limit", "expected a number, found a boolean (true)", ""),
    ({"limit": "nan"}, 8, "limit", "'nan' is no decimal number", "write it as 87.5"),
    ({"limit": "inf"}, 8, "limit", "'inf' is no decimal number", ""),
    ({"limit": "1e400"}, 8, "limit", "'1e400' has more than 50 digits", "handier"),
    ({"margin": "-0.1"}, 9, "margin", "it is negative", "how much worse"),
    ({"direction": '"higher"'}, 7, "direction", "there is no direction 'higher'", '"up" if'),
    ({"metrics": "1"}, 9, "metrics", "unknown key", "did you mean 'metric'?"),
    ({"metric": '"x"'}, 6, "metric", "expected a table, found a string", ""),
    ({"metric": "{}"}, 6, "metric", "it does not say how to read", "use one of json, regex"),
    (
        {"metric": '{ file = "coverage.json", json = "a", line = "b" }'},
        *(6, "metric", "json and line exclude each other", "use one of"),
    ),
    ({"metric": '{ json = "a" }'}, 6, "metric", "there is no `file`", ""),
    ({"metric": '{ line = "a", file = "out/x" }'}, 6, "metric.file", "what the job prints", ""),
    ({"metric": '{ line = "two words" }'}, 6, "metric.line", "'two words' is no name", "one word"),
    (
        {"metric": '{ file = "other.json", json = "a" }'},
        *(6, "metric.file", "'other.json' is no output of 'test'", "add it to jobs.test.outputs"),
    ),
    ({"metric": '{ file = "outer/x", json = "a" }'}, 6, "metric.file", "is no output", ""),
    ({"metric": '{ file = "../x", json = "a" }'}, 6, "metric.file", "may leave the tree", ""),
    (
        {"metric": '{ file = "coverage.json", json = "a..b" }'},
        *(6, "metric.json", "no path into a JSON document", "totals.percent_covered"),
    ),
    (
        {"metric": '{ file = "out/x", regex = "(" }'},
        *(6, "metric.regex", "no regular expression", ""),
    ),
    (
        {"metric": '{ file = "out/x", junit = "test" }'},
        6,
        "metric.junit",
        "no 'test' to read",
        "tests",
    ),
    (
        {"metric": '{ file = "out/x", cobertura = "rate" }'},
        *(6, "metric.cobertura", "no 'rate' to read", "line-rate"),
    ),
]


@pytest.mark.parametrize(
    ("changes", "line", "key", "what", "after"), WRONG, ids=[str(row[0]) for row in WRONG]
)
def test_what_is_wrong_with_a_standard_has_its_place_and_a_next_step(
    changes, line, key, what, after
):
    changed = {name.rstrip("_"): value for name, value in changes.items()}
    (found,) = problems(text(**changed))
    place = f"standards.coverage.{key}" if key else "standards.coverage"
    assert found[:2] == (line, place)
    assert what in found[2]
    assert after in found[3]


@pytest.mark.parametrize("name", ["test", "policy", "a@base", "'two words'", "-x"])
def test_a_standard_needs_a_name_of_its_own(name):
    key = name if name[0] == "'" else f"'{name}'"
    policy = text().replace("standards.coverage", f"standards.{key}")
    assert len(problems(policy)) == 1


def test_standards_are_part_of_the_policy_and_not_of_a_job():
    with_standard, without = parse("tenure.toml", text().encode()), parse("x.toml", JOB.encode())
    assert policy_digest(with_standard) != policy_digest(without)
    assert with_standard.jobs == without.jobs


def test_a_pyproject_may_have_standards_and_floats_of_its_own():
    policy = (
        text().replace("[jobs", "[tool.tenure.jobs").replace("[standards", "[tool.tenure.standards")
    )
    found = parse("pyproject.toml", (policy + "[tool.other]\nx = 1.5\ny = nan\n").encode())
    assert found.standards["coverage"].limit == "87.5"
