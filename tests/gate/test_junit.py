"""The names of failing tests: those of this job's own reports, bounded, and harmless to show."""

import os
from pathlib import Path

import pytest

from tenure.gate.junit import FailingTests, failing_tests

REPORT = """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.test_a" name="test_passes"/>
<testcase classname="tests.test_a" name="test_skipped"><skipped/></testcase>
<testcase classname="tests.test_a.TestOne" name="test_fails[x&amp;y]"><failure message="m">1</failure></testcase>
<testcase name="bare"><system-out/><error/></testcase>
<testcase classname="tests.test_a" name="test_flaky"><rerunFailure/></testcase>
</testsuite></testsuites>
"""

NAMED = ("tests.test_a.TestOne::test_fails[x&y]", "bare")


def read(top: Path, *outputs: str, argv: tuple[str, ...] = (), since: int = 0) -> FailingTests:
    return failing_tests(argv, str(top), outputs, str(top), since)


def test_failures_and_errors_are_named_as_the_report_orders_them(tmp_path):
    (tmp_path / "report.xml").write_text(REPORT)
    assert read(tmp_path, "report.xml") == FailingTests(names=NAMED, count=2)


def test_a_suite_may_be_the_root_and_a_directory_may_hold_many(tmp_path):
    folder = tmp_path / "reports"
    folder.mkdir()
    one = '<testsuite><testcase name="{}"><failure/></testcase></testsuite>'
    (folder / "b.xml").write_text(one.format("b"))
    (folder / "a.xml").write_text(one.format("a"))
    (folder / "a.txt").write_text(one.format("no report"))
    assert read(tmp_path, "reports").names == ("a", "b")


@pytest.mark.parametrize(
    "argv",
    [
        ("pytest", "--junit-xml=r.xml"),
        ("pytest", "--junitxml", "r.xml", "-q"),
        ("/bin/sh", "-c", "make && pytest --junit-xml=r.xml"),
    ],
)
def test_a_report_that_is_no_output_is_found_where_the_command_writes_it(tmp_path, argv):
    (tmp_path / "r.xml").write_text(REPORT)
    assert read(tmp_path, argv=argv).names == NAMED
    assert read(tmp_path, "r.xml", argv=argv).count == 2, "once"


def test_an_option_without_a_place_names_nothing(tmp_path):
    assert read(tmp_path, argv=("pytest", "--junit-xml")) == FailingTests()


def test_a_report_of_an_earlier_run_names_nobody(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(REPORT)
    os.utime(report, ns=(10**18, 10**18))
    assert read(tmp_path, "report.xml", since=10**18).count == 2
    assert read(tmp_path, "report.xml", since=10**18 + 10**9).count == 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "not xml",
        REPORT[:300],
        "<html><testcase><failure/></testcase></html>",
        '<!DOCTYPE t [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>' + REPORT.partition("\n")[2],
    ],
)
def test_what_is_no_report_names_nobody(tmp_path, content):
    (tmp_path / "report.xml").write_text(content)
    assert read(tmp_path, "report.xml") == FailingTests()


def test_what_is_no_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "report.xml")
    (tmp_path / "loop.xml").symlink_to("loop.xml")
    assert read(tmp_path, "report.xml", "loop.xml", "missing.xml") == FailingTests()


def test_names_are_bounded_in_number_and_length_and_hold_nothing_a_terminal_obeys(tmp_path):
    case = '<testcase name="{}"><failure/></testcase>'
    cases = [case.format("x" * 1000), case.format("a&#9;b&#10;c")]
    cases += [case.format(f"test_{number}") for number in range(98)]
    (tmp_path / "report.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    found = read(tmp_path, "report.xml")
    assert (len(found.names), found.count) == (20, 100)
    assert found.names[0] == "x" * 199 + "…"
    assert found.names[1] == "a b c"


def test_a_report_that_is_too_large_is_not_read(tmp_path):
    with open(tmp_path / "report.xml", "w") as file:
        file.write(REPORT.replace("</testsuites>", ""))
        file.write(" " * (8 * 1024 * 1024))
        file.write("</testsuites>")
    assert read(tmp_path, "report.xml") == FailingTests()
