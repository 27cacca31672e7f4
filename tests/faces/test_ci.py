"""`done --ci`: plain lines, a summary where the CI takes one, and a verdict that neither changes."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tenure.faces.cli import summary
from tenure.faces.cli.snippets import SNIPPETS
from tests.architecture.source import ROOT
from tests.faces.calls import gated, job, tenure
from tests.gate.repos import clone, commit, git

REPORT = '<testsuite><testcase classname="t" name="one|two"><failure/></testcase></testsuite>'
FAILING = job("test", f"echo '{REPORT}' > report.xml; echo '`oops`'; exit $CODE", env=["CODE"])
POLICY = (
    job("lint", "true", inputs=["tenure.toml"]) + FAILING.rstrip() + '\noutputs = ["report.xml"]\n'
)


def page(repo, *arguments, code, **env) -> str:
    """The summary that a call leaves, which ends with `code`."""
    path = repo.parent / "summary.md"
    path.unlink(missing_ok=True)
    ending = tenure(repo, "done", *arguments, env={"GITHUB_STEP_SUMMARY": str(path), **env})
    assert ending.code == code, ending
    return path.read_text() if path.exists() else ""


def test_a_failure_is_summed_up_with_its_tests_and_how_to_see_it_again(tmp_path):
    repo = gated(tmp_path / "repo", POLICY)
    told = page(repo, "--ci", code=1, CODE="1")
    head = git(repo, "rev-parse", "HEAD")[:12]
    assert told.startswith(
        f"### Tenure: not met\n\nCommit <code>{head}</code> on <code>main</code> is not met."
    )
    assert "| <code>lint</code> | passed | executed by run <code>" in told
    assert "| <code>test</code> | failed | executed by run <code>" in told
    assert "| no earlier result |" in told
    assert "**test**: it exited with 1\n\n- <code>t::one&#124;two</code>\n\n" in told
    assert "```text\n`oops`\n```" in told
    assert "To reproduce: <code>(cd " in told


def test_a_pass_is_summed_up_with_its_proof_and_where_each_result_is_from(tmp_path):
    repo = gated(tmp_path / "repo", POLICY)
    assert tenure(repo, "done", env={"CODE": "1"}).code == 1
    told = page(repo, "--ci", code=0, CODE="0")
    proof = tenure(repo, "proof", "--json", env={"CODE": "0"}).object["proof"]
    assert f"has Proof <code>{proof['id']}</code>.\n" in told
    lint, test = proof["evidence"]
    assert (
        f"| <code>lint</code> | passed | reused from run <code>{lint['run']}</code> in <code>"
        in told
    )
    assert f"| <code>test</code> | passed | executed by run <code>{test['run']}</code> |" in told
    again = page(repo, "--ci", code=0, CODE="0")
    assert (
        f"has Proof <code>{proof['id']}</code>. It was proven before, and nothing ran.\n" in again
    )


def test_where_there_is_no_answer_the_summary_says_why(tmp_path):
    repo = gated(tmp_path / "repo", POLICY)
    (repo / "a.txt").write_text("edited\n")
    told = page(repo, "--ci", code=3)
    assert told.startswith("### Tenure: could not tell\n\nthe working tree is not commit ")


def test_an_objection_is_summed_up(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true") + job("test", "true"))
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": job("lint", "true")})
    assert "**test**: " in page(repo, "--ci", code=1)


def test_standards_are_summed_up_with_what_they_came_to(tmp_path):
    measured = job("test", "echo TENURE_METRIC lines 12", inputs=["n"])
    standard = '[standards.lines]\nfrom = "test"\nmetric = { line = "lines" }\ndirection = "up"\n'
    repo = gated(tmp_path / "repo", f"{measured}{standard}limit = 12\n", {"n": "1"})
    assert "| <code>lines</code> | met | 12 | 12 |" in page(repo, "--ci", code=0)
    commit(repo, {"tenure.toml": f"{measured}{standard}limit = 13\n"})
    assert "| <code>lines</code> | missed | 12 | 13 |" in page(repo, "--ci", code=1)


def test_summaries_are_appended_and_asked_for_by_name_too(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "true"))
    own = tmp_path / "own.md"
    own.write_text("before\n")
    assert page(repo, "--summary", str(own), code=0) == "", "CI is not asked where --ci is not"
    tenure(repo, "done", "--summary", str(own))
    assert own.read_text().startswith("before\n### Tenure: met")
    assert own.read_text().count("### Tenure: met") == 2
    assert stat.S_IMODE(os.stat(own).st_mode) == 0o644


@pytest.mark.parametrize(("code", "name"), [("0", "missing/x.md"), ("1", "."), ("0", "pipe")])
def test_a_summary_that_cannot_be_written_is_told_and_changes_nothing(tmp_path, code, name):
    repo = gated(tmp_path / "repo", POLICY)
    os.mkfifo(tmp_path / "pipe")  # nobody reads it
    ending = tenure(repo, "done", "--summary", str(tmp_path / name), env={"CODE": code})
    assert ending.code == int(code)
    assert f"the summary is not in {tmp_path / name}: " in ending.err
    assert ending.err.endswith("; the verdict stands\n")
    told = tenure(repo, "done", "--json", "--summary", str(tmp_path / name), env={"CODE": code})
    assert told.object["summary"] == []
    assert told.code == int(code)


def test_github_is_given_an_annotation_for_each_failure(tmp_path):
    repo = gated(tmp_path / "repo", POLICY)
    env = {"CODE": "1", "GITHUB_ACTIONS": "true"}
    told = tenure(repo, "done", "--ci", env=env).out.splitlines()
    assert "::error title=tenure%3A test::it exited with 1%0At::one|two" in told
    assert not any("::error" in line for line in tenure(repo, "done", env=env).out.splitlines())
    assert tenure(repo, "done", "--ci", "--json", env=env).object["summary"] == []


def test_a_page_stays_below_what_github_takes(monkeypatch):
    monkeypatch.setattr(summary, "MOST_BYTES", 27)
    assert summary._bounded(["# head", "x" * 15, "y", "z"]) == (
        "# head\n\n" + "x" * 15 + "\n\n2 parts of this page are left out: it is too long.\n\n"
    )


def _prepared(clone: Path, commands: str) -> None:
    subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=clone, check=True)


@pytest.mark.parametrize("options", [("--depth", "1"), ("--single-branch",), ()])
def test_what_the_page_does_before_asking_makes_any_clone_one_that_can_be_asked(tmp_path, options):
    repo = gated(tmp_path / "repo")
    git(repo, "checkout", "-q", "-b", "feat")
    commit(repo, {"a.txt": "b\n"})
    git(repo, "checkout", "-q", "main")
    page = (ROOT / "docs" / "how-to" / "gate-in-ci.md").read_text()
    lines = page.split("```bash\n")[1].split("```")[0].splitlines()
    there = clone(repo, tmp_path / "there", *options, "-b", "feat")
    _prepared(
        there, "\n".join(lines[: next(n for n, one in enumerate(lines) if "pip install" in one)])
    )
    ending = tenure(there, "done", "--ci", "--foreground")
    assert (ending.code, " judged by its own policy" in ending.out) == (0, False), ending


def test_what_init_shows_for_ci_makes_a_clone_of_one_branch_know_its_trunk(tmp_path):
    repo = gated(tmp_path / "repo")
    git(repo, "branch", "feat")
    there = clone(repo, tmp_path / "there", "--single-branch", "-b", "feat")
    (text,) = [one.text for one in SNIPPETS if one.name == "ci"]
    *before, asked = text.splitlines()
    _prepared(there, "\n".join(before))
    assert tenure(there, *asked.split()[1:]).code == 0
