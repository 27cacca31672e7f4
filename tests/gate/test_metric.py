"""A number is where the metric says, exactly as it is written, or it is unmeasured with the reason."""

import pytest

from tenure.gate.errors import UsageError
from tenure.gate.metric import (
    Unmeasured,
    check_regex,
    json_path,
    metric_lines,
    read_file,
    read_lines,
)
from tenure.gate.receipt import MetricLine
from tenure.gate.standard import Metric


def read(kind, what, content):
    """What a metric reads from a file with this content."""
    data = content if isinstance(content, bytes) else content.encode()
    return read_file(Metric(kind=kind, what=what, file="f"), data)


def refused(kind, what, content):
    """Why there is no number."""
    with pytest.raises(Unmeasured) as caught:
        read(kind, what, content)
    return str(caught.value)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────

COVERAGE = """\
{"meta": {"format": 3}, "totals": {"percent_covered": 87.46321763000000001, "missing_lines": 12},
 "files": {"src/a.py": {"n": 1e1}, "say \\"x\\"": {"n": 2}}, "runs": [{"n": 3}, [4, -5.50]],
 "odd": {"text": "1", "yes": true, "none": null, "bad": NaN, "far": -Infinity, "huge": 1e400}}
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("totals.percent_covered", "87.46321763000000001"),
        ("totals.missing_lines", "12"),
        ('files."src/a.py".n', "10"),
        (r'files."say \"x\"".n', "2"),
        ("runs[0].n", "3"),
        ("runs[1][1]", "-5.5"),
    ],
)
def test_a_number_of_a_json_document_is_read_as_it_is_written(path, value):
    assert read("json", path, COVERAGE) == value


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("totals.percent", "there is no totals.percent"),
        ("total.percent", "there is no total"),
        ("runs[7]", "there is no runs[7]"),
        ("runs.n", "runs is an array, so there is no .n"),
        ("totals[0]", "totals is an object, so there is no [0]"),
        ("[0]", "its content is an object, so there is no [0]"),
        ("meta.format.major", "meta.format is a number, so there is no .major"),
        ("totals", "totals is an object, not a number"),
        ("odd.text", "odd.text is a string, not a number"),
        ("odd.yes", "odd.yes is a truth value, not a number"),
        ("odd.none", "odd.none is null, not a number"),
        ("odd.bad", "'NaN' is no decimal number"),
        ("odd.far", "'-Infinity' is no decimal number"),
        ("odd.huge", "'1e400' has more than 50 digits before or after its point"),
    ],
)
def test_what_is_no_number_in_a_json_document_is_unmeasured(path, why):
    assert refused("json", path, COVERAGE) == why


def test_a_key_that_is_there_twice_is_not_chosen_from():
    document = '{"a": 1, "b": {"n": 2, "n": 3}, "a": 1, "c": 5}'
    assert refused("json", "a", document) == "there is more than one a"
    assert refused("json", "b.n", document) == "there is more than one b.n"
    assert read("json", "c", document) == "5"


@pytest.mark.parametrize("content", ["", "{", "{'a': 1}", b"\xff\xfe\x00", "[" * 100_000])
def test_what_does_not_parse_is_unmeasured(content):
    assert refused("json", "a", content).startswith("it does not parse as JSON: ")


def test_numbers_of_any_length_are_no_way_to_hang_it():
    assert "has more than 50 digits" in refused("json", "a", '{"a": 1e999999999}')
    assert "is no decimal number" in refused("json", "a", f'{{"a": {"1" * 1_000_000}}}')


@pytest.mark.parametrize(
    "path", ["", ".", "a.", ".a", "a..b", "a[x]", "a[", 'a."b', "$.a", "a b[-1]"]
)
def test_what_is_no_path_is_refused(path):
    with pytest.raises(UsageError, match="no path into a JSON document"):
        json_path(path)


# ── Text ─────────────────────────────────────────────────────────────────────────────────


def test_a_regular_expression_finds_its_group():
    text = "lines  3\nTOTAL   120   15    87.50%\n"
    assert read("regex", r"^TOTAL.* ([0-9.]+)%$", text) == "87.5"


def test_the_same_number_twice_is_one_number_and_different_ones_are_none():
    assert read("regex", r"n=([0-9.]+)", "n=1 n=1.0") == "1"
    why = "the expression finds different numbers: 1, 2, 3, …"
    assert refused("regex", r"n=([0-9]+)", "n=1 n=2 n=3 n=4") == why


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("x=([0-9]+)", "the expression matches nothing in it"),
        ("n=(nan)", "'nan' is no decimal number"),
        ("n=(?:nan|([0-9]))", "the expression matches without its number"),
    ],
)
def test_what_an_expression_does_not_find_is_unmeasured(expression, why):
    assert refused("regex", expression, "n=nan\n") == why


def test_bytes_that_are_no_text_do_no_harm():
    assert read("regex", "n=([0-9]+)", b"\xff\xfe n=7 \x80") == "7"


@pytest.mark.parametrize(
    ("expression", "why"),
    [("(", "is no regular expression"), ("x", "has 0 groups"), ("(a)(b)", "has 2 groups")],
)
def test_an_expression_that_does_not_say_where_the_number_is_is_refused(expression, why):
    with pytest.raises(UsageError, match=why):
        check_regex(expression)


# ── JUnit ────────────────────────────────────────────────────────────────────────────────

#: Some of its totals are wrong on purpose: cases are counted.
JUNIT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" errors="1" failures="1" skipped="9" tests="99" time="9.9">
<properties><property name="testcase" value="x"/></properties>
<testcase classname="a" name="one" time="0.001"/>
<testcase classname="a" name="two" time="0.020"><failure message="no">text</failure></testcase>
<testcase classname="a" name="three" time="0.3"><error message="no"/></testcase>
<testcase classname="a" name="four" time="1"><skipped/></testcase>
<testsuite name="inner"><testcase name="five" time="0.0000001"><system-out>x</system-out></testcase>
</testsuite></testsuite></testsuites>
"""


@pytest.mark.parametrize(
    ("what", "value"),
    [
        *(("tests", "5"), ("passed", "2"), ("failures", "1"), ("errors", "1"), ("skipped", "1")),
        ("time", "1.3210001"),
    ],
)
def test_a_junit_report_is_counted(what, value):
    assert read("junit", what, JUNIT) == value


@pytest.mark.parametrize("what", ["tests", "failures", "errors"])
@pytest.mark.parametrize("report", ['<testsuite tests="3"/>', "<testsuites/>"])
def test_a_report_without_a_case_says_nothing(what, report):
    assert refused("junit", what, report) == "there is no test case in it"


@pytest.mark.parametrize(
    ("report", "what"),
    [
        ('<testsuite failures="2"><testcase><failure/></testcase></testsuite>', "failures"),
        ('<testsuites><testsuite errors="1"><testcase/></testsuite></testsuites>', "errors"),
        ("<testsuite><testcase/><error>collection failed</error></testsuite>", "errors"),
    ],
)
def test_a_failure_that_is_no_case_is_not_counted_as_none(report, what):
    why = f"its suites tell of {what} that are no test cases"
    assert refused("junit", "failures", report) == why


def test_a_case_without_its_time_leaves_the_time_unmeasured():
    report = '<testsuite><testcase name="a"/></testsuite>'
    assert refused("junit", "time", report) == "a <testcase> has no attribute time"


def test_names_in_a_namespace_are_the_same_names():
    assert read("junit", "tests", '<t:testsuite xmlns:t="urn:x"><t:testcase/></t:testsuite>') == "1"


# ── Cobertura ────────────────────────────────────────────────────────────────────────────

COBERTURA = """\
<?xml version="1.0" ?>
<!DOCTYPE coverage SYSTEM "http://127.0.0.1:9/coverage-04.dtd">
<coverage version="7" lines-valid="120" lines-covered="105" line-rate="0.875"
 branches-valid="0" branches-covered="0" branch-rate="0" complexity="0"><packages/></coverage>
"""


def test_a_cobertura_report_says_its_rate_and_its_counts():
    assert read("cobertura", "line-rate", COBERTURA) == "0.875"
    assert read("cobertura", "lines-covered", COBERTURA) == "105"
    assert read("cobertura", "branches-valid", COBERTURA) == "0"


def test_a_rate_of_nothing_is_unmeasured_and_not_zero():
    why = "its branches-valid is 0, so its branch-rate says nothing"
    assert refused("cobertura", "branch-rate", COBERTURA) == why
    bare = '<coverage line-rate="1"/>'
    assert refused("cobertura", "branch-rate", bare) == "a <coverage> has no attribute branch-rate"
    assert read("cobertura", "line-rate", bare) == "1"


# ── Hostile XML ──────────────────────────────────────────────────────────────────────────

BOMB = """\
<!DOCTYPE testsuite [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;&b;&b;">]><testsuite><testcase name="&c;"/></testsuite>
"""
OUTSIDE = """\
<!DOCTYPE testsuite [<!ENTITY x SYSTEM "file:///etc/hostname">]>
<testsuite><testcase name="a">&x;</testcase></testsuite>
"""
PARAMETER = """\
<!DOCTYPE testsuite [<!ENTITY % x SYSTEM "file:///etc/hostname"> %x;]>
<testsuite><testcase/></testsuite>
"""


@pytest.mark.parametrize(("document", "name"), [(BOMB, "a"), (OUTSIDE, "x"), (PARAMETER, "x")])
def test_a_document_that_declares_entities_is_refused(document, name):
    assert refused("junit", "tests", document) == (
        f"it declares the entity {name!r}, which is refused"
    )


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "it does not parse as XML: "),
        ("<testsuite>", "it does not parse as XML: "),
        (b"\x00\x01", "it does not parse as XML: "),
        ('<?xml version="1.0" encoding="martian"?><testsuite/>', "it does not parse as XML: "),
        ("<html/>", "its root is <html>, not <testsuites> or <testsuite>"),
    ],
)
def test_what_is_no_report_is_unmeasured(content, why):
    assert refused("junit", "tests", content).startswith(why)


def test_a_report_that_is_nested_without_end_is_no_way_to_crash():
    deep = "<testsuite>" * 20_000 + "</testsuite>" * 20_000
    assert refused("junit", "tests", deep) == "there is no test case in it"


def test_a_rate_that_its_own_counts_contradict_is_unmeasured():
    lies = COBERTURA.replace('lines-covered="105"', 'lines-covered="5"')
    why = "its line-rate is 0.875, and it counts 5 of 120"
    assert refused("cobertura", "line-rate", lies) == why


# ── Lines ────────────────────────────────────────────────────────────────────────────────


def lines(tmp_path, content):
    path = tmp_path / "out"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [(line.name, line.number) for line in metric_lines(str(path))]


def test_metric_lines_are_taken_from_whatever_else_is_printed(tmp_path):
    printed = (
        "TENURE_METRIC first 1\nsomething TENURE_METRIC no 2\n TENURE_METRIC no 3\n"
        "TENURE_METRICS no 4\nTENURE_METRIC  second\t2.50 \r\nTENURE_METRIC\nTENURE_METRIC alone\n"
        "TENURE_METRIC odd 1 MB\nTENURE_METRIC last 9"
    )
    assert lines(tmp_path, printed) == [
        ("first", "1"),
        ("second", "2.50"),
        ("alone", ""),
        ("odd", "1 MB"),
        ("last", "9"),
    ]


@pytest.mark.parametrize("before", range(-16, 17))
def test_a_line_across_the_pieces_in_which_an_output_is_read_is_found_once(tmp_path, before):
    filler = b"x" * ((1 << 20) + before - 1) + b"\n"
    assert lines(tmp_path, filler + b"TENURE_METRIC n 1\n" + filler) == [("n", "1")]


def test_a_line_without_end_is_no_metric_and_does_not_hide_the_next(tmp_path):
    long = b"TENURE_METRIC n " + b"1" * (3 << 20)
    (first, second) = lines(tmp_path, long + b"\nTENURE_METRIC m 2\n")
    assert second == ("m", "2")
    assert lines(tmp_path, long) == [first]
    assert (first[0], first[1].endswith("1 [...]")) == ("n", True), "what is cut is no number"
    cut = (MetricLine("n", "1"), MetricLine(*first))
    with pytest.raises(Unmeasured):
        read_lines(Metric(kind="line", what="n"), cut)


def test_what_contradicts_a_line_is_kept_however_late_it_comes(tmp_path):
    many = "".join(f"TENURE_METRIC other {i}\n" for i in range(5000))
    found = lines(tmp_path, f"TENURE_METRIC n 90\n{many}TENURE_METRIC n 10\n")
    assert found == [("n", "90"), ("n", "10"), ("other", "0"), ("other", "1")]


def test_of_very_many_names_the_first_are_kept(tmp_path):
    found = lines(tmp_path, "".join(f"TENURE_METRIC n{i} {i}\n" for i in range(2000)))
    assert (len(found), found[-1]) == (1000, ("n999", "999"))


def test_no_output_has_no_lines(tmp_path):
    assert metric_lines(str(tmp_path / "none")) == ()


SAID = (MetricLine("a", "1.50"), MetricLine("b", "1 MB"), MetricLine("a", "1.5"))


def said(name, *more):
    return read_lines(Metric(kind="line", what=name), (*SAID, *more))


def test_a_line_is_read_by_its_name():
    assert said("a") == "1.5"


@pytest.mark.parametrize(
    ("name", "more", "why"),
    [
        ("c", (), "the job printed no line TENURE_METRIC c"),
        ("b", (), "'1 MB' is no decimal number"),
        ("a", (MetricLine("a", "2"),), "the job printed different numbers: 1.5, 2"),
        ("d", (MetricLine("d", ""),), "'' is no decimal number"),
    ],
)
def test_a_line_that_says_no_one_number_is_unmeasured(name, more, why):
    with pytest.raises(Unmeasured) as caught:
        said(name, *more)
    assert str(caught.value) == why
