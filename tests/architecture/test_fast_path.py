"""The answer that is given most often is given by a process that imported almost nothing."""

import subprocess
import sys
import sysconfig

from tests.architecture.source import ROOT
from tests.faces.calls import gated, tenure
from tests.faces.contracts import event

#: None of these is needed to find a Proof and say so. Each costs more than finding it.
HEAVY = {
    "argparse",
    "asyncio",
    "dataclasses",
    "datetime",
    "enum",
    "hashlib",
    "importlib.metadata",
    "inspect",
    "json",
    "logging",
    "msgspec",
    "pathlib",
    "re",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "threading",
    "tomllib",
    "typing",
}

#: Carries out a command line in an interpreter without `site`, whose own imports are not ours.
ANSWER = f"""\
import sys
before = set(sys.modules)
sys.path[:0] = [{str(ROOT / "src")!r}, {sysconfig.get_path("platlib")!r}]
sys.argv = ["tenure", *sys.argv[1:]]
from tenure.faces.cli import command
code = command()
sys.stdout.flush()
print(*sorted(set(sys.modules) - before), file=sys.stderr)
sys.exit(code)
"""


def imported_by(cwd, *arguments, given=b""):
    """The exit code, what was printed, and the modules that a command line imported."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", ANSWER, *arguments],
        cwd=cwd,
        input=given,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout.decode(), set(done.stderr.decode().split())


def test_a_proof_is_found_and_told_without_a_heavy_import(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    code, said, modules = imported_by(repo, "done")
    assert code == 0
    assert "Proof" in said
    assert "tenure.gate.shortcut" in modules, "the shortcut answered"
    assert sorted(HEAVY & modules) == []
    assert not {name for name in modules if name.startswith("tenure.kernel")}


def test_the_same_in_json_needs_the_quoting_of_strings_besides(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    code, said, modules = imported_by(repo, "done", "--json")
    assert code == 0
    assert said.startswith("{")
    assert sorted(HEAVY & modules) == ["enum", "json", "re"]


def test_what_the_shortcut_does_without_would_be_noticed(tmp_path):
    """The probe itself: where there is no Proof the long way is taken, and it does import."""
    repo = gated(tmp_path / "repo")
    code, _, modules = imported_by(repo, "done", "--foreground")
    assert code == 0
    assert "msgspec" in modules


def test_a_hook_finds_it_without_the_grammar_and_without_a_run(tmp_path):
    repo = gated(tmp_path / "repo")
    assert tenure(repo, "done").code == 0
    given = event("claude-code", "Stop", repo)
    code, said, modules = imported_by(repo, "hook", "claude-code", "--wait", "90s", given=given)
    assert (code, said) == (0, "")
    assert "tenure.gate.shortcut" in modules, "the shortcut answered"
    assert not {"argparse", "asyncio", "dataclasses", "subprocess", "tomllib"} & modules
    assert not {
        name for name in modules if name.startswith(("tenure.gate.run", "tenure.gate.stores"))
    }
