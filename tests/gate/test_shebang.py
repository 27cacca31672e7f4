"""Who runs a script."""

import os
import subprocess

import pytest

from tenure.gate.shebang import read_shebang


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"#!/bin/sh", "/bin/sh"),
        (b"#! /bin/sh", "/bin/sh"),
        (b"#!\t/bin/bash -e", "/bin/bash"),
        (b"#!/bin/sh\r", "/bin/sh"),
        (b"#!relative/interpreter", "relative/interpreter"),
        (b"#!/usr/bin/env python3", "python3"),
        (b"#!/usr/bin/env  python3 ", "python3"),
        (b"#!/usr/bin/env -S python3 -u", "python3"),
        (b"#!/usr/bin/env -S  python3", "python3"),
        (b"#!/usr/bin/env -Spython3 -u", "python3"),
        (b"#!/usr/bin/env -vS python3", "python3"),
        (b"#!/usr/bin/env -S -i A=b -u HOME -C /tmp node --flag", "node"),
        (b"#!/usr/bin/env -S 'a program' x", "a program"),
        (b"#!/usr/bin/env --split-string=python3 -u", "python3"),
        (b"#!/usr/bin/env python3 -u", "python3 -u"),  # one argument: this is what is looked for
        (b"#!/usr/bin/env", None),
        (b"#!/usr/bin/env -S", None),
        (b"#!", None),
        (b"#!   ", None),
    ],
)
def test_the_interpreter_is_the_one_the_kernel_and_env_would_run(line, name):
    found = read_shebang(line + b"\nbody\n", "/x/script")
    assert found is not None
    assert (found.name, found.body) == (name, len(line) + 1)


@pytest.mark.parametrize("head", [b"", b"\x7fELF", b" #!/bin/sh\n", b"MZ", b"# !/bin/sh"])
def test_what_is_no_script_has_none(head):
    assert read_shebang(head, "/x") is None


def test_a_script_of_one_line_has_no_body():
    found = read_shebang(b"#!/bin/sh", "/x")
    assert found is not None
    assert (found.name, found.body) == ("/bin/sh", 9)


LONG = b"#!/bin/sh\n'''exec' \"/a long/path/python\" \"$0\" \"$@\"\n' '''\n"
UV = b"#!/bin/sh\n'''exec' '/a long/path/python3' \"$0\" \"$@\"\n' '''\n"


@pytest.mark.parametrize(
    ("head", "name"), [(LONG, "/a long/path/python"), (UV, "/a long/path/python3")]
)
def test_the_three_lines_of_installers_are_one_shebang(head, name):
    found = read_shebang(head + b"import sys\n", "/x/bin/tool")
    assert found is not None
    assert (found.name, found.body) == (name, len(head))


def test_a_relocatable_script_names_its_neighbour(tmp_path):
    head = (
        b'#!/bin/sh\n\'\'\'exec\' "$(dirname -- "$(realpath -- "$0")")"/\'python3\' "$0" "$@"\n'
        b"' '''\n"
    )
    found = read_shebang(head + b"import sys\n", f"{tmp_path}/bin/tool")
    assert found is not None
    assert (found.name, found.body) == (f"{tmp_path}/bin/python3", len(head))


def test_an_undecodable_interpreter_is_itself():
    found = read_shebang(b"#!/\xff/x\n", "/x")
    assert found is not None
    assert os.fsencode(found.name or "") == b"/\xff/x"


@pytest.mark.parametrize(
    "line", ["#!{bin}/show", "#!/usr/bin/env show", "#!/usr/bin/env -S show", "#! {bin}/show x y"]
)
def test_the_machine_agrees(tmp_path, line):
    """The interpreter this reads out of a script is the one that really runs it."""
    show = tmp_path / "show"
    show.symlink_to("/bin/echo")
    script = tmp_path / "script"
    script.write_text(line.format(bin=tmp_path) + "\n")
    script.chmod(0o755)
    found = read_shebang(script.read_bytes(), str(script))
    assert found is not None
    assert found.name in ("show", str(show))
    said = subprocess.check_output([script], env={"PATH": str(tmp_path)}, text=True)
    assert said.split()[-1] == str(script)
