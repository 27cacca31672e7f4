"""The identity of a toolchain: what it is made of, and nothing of where or when."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tenure.gate.context import ABSENT, LOCK_FILES, Context, Toolchain, platform_identity
from tenure.gate.errors import CannotTell
from tenure.gate.fingerprint import still_holds
from tenure.gate.jobs.executable import NotRunnable, resolve
from tests.gate.repos import write
from tests.gate.test_distributions import make_venv

TOOL = "#!{python}\nimport sys\nfrom tool import main\nsys.exit(main())\n"


class Memory(dict):
    """A memo that counts what it was asked to remember."""

    def put(self, key, digest):
        self[key] = digest


def checkout(top: Path, *dists: str, tool: str = TOOL) -> Path:
    """A checkout with a virtual environment and a tool in it, as an installer makes them."""
    make_venv(top / ".venv", *dists)
    (top / ".venv/bin/python").unlink()
    (top / ".venv/bin/python").symlink_to(top.parent / "base/bin/python3.11")
    write(top.parent, {"base/bin/python3.11": "interpreter"}, executable=["base/bin/python3.11"])
    write(
        top,
        {".venv/bin/tool": tool.format(python=top / ".venv/bin/python"), "uv.lock": "locked"},
        executable=[".venv/bin/tool"],
    )
    return top


def context(
    top: Path, *command: str, memo=None, cwd: Path | None = None, also=(), **env: str
) -> Context:
    env = {"PATH": f"{top}/.venv/bin:/usr/bin:/bin"} | env
    toolchain = Toolchain(str(top), Memory() if memo is None else memo)
    return toolchain.context([command or ("tool",), *also], env, str(cwd or top))


@pytest.fixture
def top(tmp_path):
    return checkout(tmp_path / "one", "tool-1.0.dist-info", "attrs-23.1.dist-info")


def test_the_parts_have_names_one_can_talk_about(top):
    assert set(context(top).parts) == {
        "exec:tool",
        "interpreter:python",
        "dists:python",
        "lock:uv.lock",
        "platform",
    }


def test_two_checkouts_with_environments_of_their_own_share_an_identity(top, tmp_path):
    other = checkout(tmp_path / "two", "attrs-23.1.dist-info", "tool-1.0.dist-info")
    for path in other.rglob("*"):
        if not path.is_symlink():
            os.utime(path, (1, 1))
    assert context(top).parts == context(other).parts
    assert context(top, VIRTUAL_ENV=f"{top}/.venv").parts == context(other).parts


def test_no_part_knows_a_path_or_a_time(top, tmp_path):
    command = f"{top}/.venv/bin/tool"
    text = repr(context(top, command, VIRTUAL_ENV=f"{top}/.venv").parts)
    assert str(tmp_path) not in text
    assert "exec:.venv/bin/tool" in text


def change_the_script(top):
    with (top / ".venv/bin/tool").open("a") as file:
        file.write("# patched\n")


def change_the_interpreter(top):
    (top.parent / "base/bin/python3.11").write_text("another interpreter")


def upgrade_a_distribution(top):
    site = top / ".venv/lib/python3.11/site-packages"
    (site / "attrs-23.1.dist-info").rename(site / "attrs-23.2.dist-info")


def install_a_distribution(top):
    (top / ".venv/lib/python3.11/site-packages/new-1.dist-info").mkdir()


def change_the_lock(top):
    write(top, {"uv.lock": "locked again"})


def add_another_lock(top):
    write(top, {"requirements-dev.txt": "x"})


def remove_the_tool(top):
    (top / ".venv/bin/tool").unlink()


def shadow_the_tool(top):
    """Make the interpreter's neighbour another script that comes first on the PATH."""
    write(top, {".venv/bin/tool": "#!/bin/sh\n"}, executable=[".venv/bin/tool"])


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (change_the_script, {"exec:tool"}),
        (change_the_interpreter, {"interpreter:python"}),
        (upgrade_a_distribution, {"dists:python"}),
        (install_a_distribution, {"dists:python"}),
        (change_the_lock, {"lock:uv.lock"}),
        (add_another_lock, {"lock:requirements-dev.txt"}),
        (remove_the_tool, {"exec:tool", "interpreter:python", "dists:python", "dists:.venv"}),
    ],
)
def test_each_change_shows_in_its_own_part(top, change, part):
    memo = Memory()
    before = context(top, memo=memo)
    change(top)
    after = context(top, memo=memo)
    names = set(before.parts) | set(after.parts)
    assert {n for n in names if before.parts.get(n) != after.parts.get(n)} == part


@pytest.mark.parametrize(
    "change",
    [
        change_the_script,
        change_the_interpreter,
        upgrade_a_distribution,
        install_a_distribution,
        change_the_lock,
        remove_the_tool,
        shadow_the_tool,
    ],
)
def test_what_is_watched_tells_that_something_changed(top, change):
    watched = context(top).watched
    assert still_holds(watched)
    change(top)
    assert not still_holds(watched)


@pytest.mark.parametrize("name", ["uv.lock", "Cargo.lock", "package-lock.json"])
def test_a_lock_that_appears_is_noticed(top, name):
    (top / name).unlink(missing_ok=True)
    watched = context(top).watched
    write(top, {name: "x"})
    assert not still_holds(watched)


def test_a_tool_that_appears_earlier_on_the_path_is_noticed(top, tmp_path):
    (tmp_path / "first").mkdir()
    path = f"{tmp_path}/first:{top}/.venv/bin"
    found = context(top, PATH=path)
    write(tmp_path, {"first/tool": "#!/bin/sh\n"}, executable=["first/tool"])
    assert not still_holds(found.watched)
    assert context(top, PATH=path).parts["exec:tool"] != found.parts["exec:tool"]


def test_an_environment_that_appears_is_noticed(tmp_path):
    top = tmp_path / "bare"
    write(top, {"tool": "#!/bin/sh\n"}, executable=["tool"])
    found = context(top, "./tool")
    assert "dists:.venv" not in found.parts
    make_venv(top / ".venv", "a-1.dist-info")
    assert not still_holds(found.watched)
    assert "dists:.venv" in context(top, "./tool").parts


def test_every_lock_file_is_part_of_it(tmp_path):
    write(tmp_path, {name: name for name in LOCK_FILES})
    found = context(tmp_path, "nothing").parts
    assert {f"lock:{name}" for name in LOCK_FILES} <= set(found)
    assert len({found[f"lock:{name}"] for name in LOCK_FILES}) == len(LOCK_FILES)


def test_a_program_that_is_nowhere_is_part_of_it_too(top):
    assert context(top, "no-such-program").parts["exec:no-such-program"] == ABSENT
    assert context(top, "./no-such").parts["exec:./no-such"] == ABSENT


def test_an_interpreter_that_is_nowhere_is_part_of_it_too(top):
    write(top, {"tool": "#!/no/such/interpreter\n"}, executable=["tool"])
    assert context(top, "./tool").parts["interpreter:interpreter"] == ABSENT


def test_the_commands_of_its_context_key_are_looked_at_as_well(top):
    write(top, {".venv/bin/linter": "binary"}, executable=[".venv/bin/linter"])
    found = context(top, also=[("linter", "--version")])
    assert {"exec:tool", "exec:linter"} <= set(found.parts)
    write(top, {".venv/bin/linter": "another"})
    assert not still_holds(found.watched)


def test_two_programs_of_one_name_are_both_there(top, tmp_path):
    write(tmp_path, {"x/run": "one", "y/run": "two"}, executable=["x/run", "y/run"])
    found = context(top, f"{tmp_path}/x/run", also=[(f"{tmp_path}/y/run",)]).parts
    assert found["exec:run"] != found["exec:run+"]


def test_programs_are_found_from_the_directory_of_the_job(top):
    write(top, {"tools/run": "x"}, executable=["tools/run"])
    assert context(top, "./run", cwd=top / "tools").parts["exec:./run"] != ABSENT
    assert context(top, "run", cwd=top / "tools", PATH=":/bin").parts["exec:run"] != ABSENT
    assert context(top, "run", cwd=top, PATH="tools").parts["exec:run"] != ABSENT
    assert context(top, "./run").parts["exec:./run"] == ABSENT


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("d:e", "x"),
        ("e:d", "x"),
        ("", "x"),
        ("d::e", "y"),
        ("folder:e", "x"),
        ("plain:e", "x"),
        ("d", "./e/x"),
        ("d", "sub/none"),
    ],
)
def test_the_program_looked_at_is_the_one_the_job_runs(tmp_path, monkeypatch, path, name):
    write(
        tmp_path, {"d/x": "d", "e/x": "e", "plain/x": "p", "y": "y"}, executable=["d/x", "e/x", "y"]
    )
    (tmp_path / "folder/x").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    try:
        expected: str | None = Path(resolve(name, {"PATH": path})).read_text()
    except NotRunnable:
        expected = None
    found = context(tmp_path, name, PATH=path).parts[f"exec:{name}"]
    if expected is None:
        assert found == ABSENT
    else:
        write(tmp_path, {"same": expected}, executable=["same"])
        assert found == context(tmp_path, "./same").parts["exec:./same"]


def test_through_env_the_interpreter_is_the_one_on_the_jobs_path(top):
    write(top, {"tool": "#!/usr/bin/env python\nx\n"}, executable=["tool"])
    found = context(top, "./tool")
    assert set(found.parts) >= {"exec:./tool", "interpreter:python", "dists:python"}
    change_the_interpreter(top)
    assert not still_holds(found.watched)


def test_a_script_run_by_a_script_is_followed(top):
    write(
        top,
        {"outer": f"#!{top}/middle\n1\n", "middle": f"#!{top}/inner\n2\n", "inner": "binary"},
        executable=["outer", "middle", "inner"],
    )
    found = context(top, "./outer").parts
    assert {"exec:./outer", "interpreter:middle", "interpreter:inner"} <= set(found)


def test_a_script_that_runs_itself_ends(top):
    write(top, {"loop": f"#!{top}/loop\n"}, executable=["loop"])
    assert "exec:./loop" in context(top, "./loop").parts


def test_python_itself_as_the_command(top):
    found = context(top, "python", "-m", "tool").parts
    assert {"exec:python", "dists:python"} <= set(found)


def test_an_environment_is_named_once_however_it_is_reached(top):
    found = context(top, "python", VIRTUAL_ENV=f"{top}/.venv").parts
    assert [name for name in found if name.startswith("dists:")] == ["dists:python"]


def test_another_active_environment_is_part_of_it(top, tmp_path):
    make_venv(tmp_path / "other", "b-1.dist-info")
    found = context(top, VIRTUAL_ENV=f"{tmp_path}/other").parts
    assert {"dists:python", "dists:VIRTUAL_ENV"} <= set(found)


def test_a_shared_library_of_the_interpreter_is_part_of_it(top):
    lib = top.parent / "base/lib/libpython3.11.so.1.0"
    write(top.parent, {"base/lib/libpython3.11.so.1.0": "1"})
    before = context(top)
    lib.write_text("22")
    assert not still_holds(before.watched)
    after = context(top)
    name = "library:libpython3.11.so.1.0"
    assert before.parts[name] != after.parts[name]


def test_a_program_that_cannot_be_read_is_an_error(top, monkeypatch):
    original = open

    def refuse(path, *args, **kwargs):
        if str(path).endswith("/tool"):
            raise PermissionError(13, "Permission denied")
        return original(path, *args, **kwargs)

    monkeypatch.setattr("builtins.open", refuse)
    with pytest.raises(CannotTell, match=r"tool cannot be read \(Permission denied\)"):
        context(top)


# ── The memo ─────────────────────────────────────────────────────────────────────────────


def test_a_file_is_read_once_as_long_as_it_looks_the_same(top, monkeypatch):
    memo = Memory()
    first = context(top, memo=memo)
    monkeypatch.setattr("tenure.gate.context._hashed", lambda *_: pytest.fail("read again"))
    assert context(top, memo=memo).parts == first.parts


def test_a_file_that_was_replaced_is_read_again(top):
    memo = Memory()
    first = context(top, memo=memo).parts
    copy = top / "copy"
    shutil.copy2(top / ".venv/bin/tool", copy)
    copy.write_text(copy.read_text().replace("sys.exit", "sys.EXIT"))
    shutil.copystat(top / ".venv/bin/tool", copy)
    copy.rename(top / ".venv/bin/tool")
    assert context(top, memo=memo).parts["exec:tool"] != first["exec:tool"]


def test_a_file_that_changes_while_it_is_read_is_not_remembered(top, monkeypatch):
    import tenure.gate.context as module

    memo = Memory()
    original = module._hashed

    def meddle(path, body):
        found = original(path, body)
        if path.endswith("/tool"):
            os.utime(path, (5, 5))
        return found

    monkeypatch.setattr(module, "_hashed", meddle)
    found = context(top, memo=memo)
    assert not [key for key in memo if key[0].startswith(f"{top}/.venv/bin/tool@")]
    assert not still_holds(found.watched)


def test_a_memo_that_forgets_everything_changes_nothing(top):
    class Forgetful:
        def get(self, key):
            return None

        def put(self, key, digest):
            return None

    assert context(top, memo=Forgetful()).parts == context(top).parts


def test_a_script_and_its_whole_file_are_remembered_apart(top):
    memo = Memory()
    script = top / ".venv/bin/tool"
    context(top, memo=memo)
    line = script.read_text().index("\n") + 1
    assert [key[0] for key in memo if key[0].startswith(str(script))] == [f"{script}@{line}"]


# ── The platform ─────────────────────────────────────────────────────────────────────────


def test_the_platform_is_system_architecture_and_library(monkeypatch):
    monkeypatch.setattr(
        os, "uname", lambda: os.uname_result(("Linux", "h", "6.1", "#1", "riscv64"))
    )
    monkeypatch.setattr(os, "confstr", lambda _: "glibc 2.36")
    assert platform_identity() == "Linux riscv64 glibc 2.36"


@pytest.mark.parametrize(
    ("files", "name"), [(["ld-musl-x86_64.so.1", "x"], "musl"), (["x"], "unknown")]
)
def test_without_glibc_the_library_is_named_all_the_same(monkeypatch, files, name):
    def no_glibc(_):
        raise ValueError

    monkeypatch.setattr(os, "confstr", no_glibc)
    monkeypatch.setattr(os, "listdir", lambda _: files)
    assert platform_identity().endswith(f" {name}")


def test_a_real_tool_of_this_environment(tmp_path):
    """The interpreter the tests run with, seen as any job's."""
    found = context(tmp_path, sys.executable, PATH=os.environ["PATH"])
    assert any(name.startswith("dists:python") for name in found.parts)
    assert still_holds(found.watched)
