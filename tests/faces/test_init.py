"""`init`: a proposal that its reader commits, and snippets that nobody installs."""

import json
import os
import tomllib

from tenure.faces.cli.grammar import parse
from tenure.faces.cli.snippets import SNIPPETS
from tests.architecture.source import ROOT
from tests.faces.calls import tenure
from tests.gate.repos import Files, make_repo

WORKFLOW = "on: push\njobs: {a: {steps: [{run: cargo deny check}]}}\n"


def test_workflows_are_read_and_what_is_no_file_is_not(tmp_path):
    files: Files = {
        ".github/workflows/ci.yaml": WORKFLOW,
        ".github/workflows/x.txt": "x",
        "go.mod": "m\n",
    }
    repo = make_repo(tmp_path / "repo", files)
    os.mkfifo(repo / "Makefile")
    (repo / "noxfile.py").mkdir()
    proposal = tenure(repo, "init", "--print", "--json").object
    assert list(tomllib.loads(proposal["policy"])["jobs"]) == ["format", "vet", "test", "security"]
    assert proposal["written"] is False


def test_snippets_are_shown_and_nothing_but_the_policy_is_written(tmp_path):
    repo = make_repo(tmp_path / "repo", {"go.mod": "module x\n"})
    before = sorted(path for path in repo.rglob("*") if "tenure" not in path.parts[-1])
    said = tenure(repo, "init").out
    for one in SNIPPETS:
        assert one.where in said
        assert all(f"    {line}\n" in said for line in one.text.splitlines())
    after = sorted(path for path in repo.rglob("*") if "tenure" not in path.parts[-1])
    assert after == before
    assert tenure(repo, "init", "--print").out.startswith("# What has to pass")
    assert "hook" not in tenure(repo, "init", "--print").out


def test_each_snippet_is_what_its_reader_takes(tmp_path):
    texts = {one.name: one.text for one in SNIPPETS}
    assert json.loads(texts["claude-code"])["hooks"]["Stop"][0]["hooks"][0]["type"] == "command"
    assert tomllib.loads(texts["codex"])["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 600
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "how-to").glob("*.md"))
    commands = [line for text in texts.values() for line in text.splitlines() if "tenure " in line]
    for line in commands:
        words = line.partition("tenure ")[2].split('"')[0].split()
        assert parse(words).verb == words[0]
        assert f"tenure {' '.join(words)}" in pages
