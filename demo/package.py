"""The packages of the demo: what is fetched, how its suite is run, and what the story edits."""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import NamedTuple

from demo.page import StoryBroken

POLICY = """\
trunk = "main"

[jobs.lint]
run = "ruff check --isolated --no-cache --select E9,F63,F7 ."
inputs = ["**/*.py"]

[jobs.test]
stage = "test"
run = "pytest -q -c pyproject.toml --junit-xml=report.xml"
inputs = ["{code}/**", "tests/**", "pyproject.toml"]
outputs = ["report.xml"]
set-env = {{ PYTHONPATH = "{path}" }}
timeout = "10m"
"""

ALWAYS_PASSES = '[jobs.test]\nstage = "test"\nrun = "true"\n'

IGNORED = "__pycache__/\n.pytest_cache/\n/report.xml\n"


class Edit(NamedTuple):
    """A change of one file that breaks the suite."""

    file: str
    old: str
    new: str


class Package(NamedTuple):
    """One package: its pinned source distribution, and where things are in it."""

    name: str
    version: str
    sha256: str
    code: str  #: the directory its code is in
    readme: str
    breaking: Edit

    @property
    def archive(self) -> str:
        """The file name of the source distribution."""
        return f"{self.name.replace('-', '_')}-{self.version}.tar.gz"

    @property
    def policy(self) -> str:
        """The `tenure.toml` that the demo commits to it."""
        return POLICY.format(code=self.code, path="src" if self.code == "src" else ".")

    @property
    def faked(self) -> str:
        """The same, with a test job that always passes."""
        return self.policy.partition("[jobs.test]")[0] + ALWAYS_PASSES


PACKAGES = (
    Package(
        name="click",
        version="8.4.2",
        sha256="9a6cea6e60b17ebe0a44c5cc636d94f09bd66142c1cd7d8b4cd731c4917a15f6",
        code="src",
        readme="README.md",
        breaking=Edit(
            "src/click/utils.py", 'paragraph_end = help.find("\\n\\n")', "paragraph_end = -1"
        ),
    ),
    Package(
        name="more-itertools",
        version="10.8.0",
        sha256="f638ddf8a1a0d134181275fb5d58b086ead7c6a72429ad725c67503f13ba30bd",
        code="more_itertools",
        readme="README.rst",
        breaking=Edit("more_itertools/more.py", "compress(repeat(1),", "compress(repeat(2),"),
    ),
    Package(
        name="packaging",
        version="25.0",
        sha256="d443872c98d677bf60f6a1f2f8c1cb748e8fe762d2bf9d3148b5599295b0fc4f",
        code="src",
        readme="README.rst",
        breaking=Edit(
            "src/packaging/utils.py",
            '_canonicalize_regex.sub("-", name).lower()',
            '_canonicalize_regex.sub("-", name)',
        ),
    ),
)

#: What the suites and the linter need. The packages themselves are read from their worktrees.
TOOLS = ("pytest==8.4.2", "pretend==1.0.9", "ruff==0.17.6")


def fetched(package: Package, downloads: Path) -> bool:
    """Whether exactly this source distribution is here already."""
    path = downloads / package.archive
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == package.sha256


def fetch(packages: tuple[Package, ...], downloads: Path) -> None:
    """Let pip fetch source distributions from the package index it is configured for.

    Raises:
        StoryBroken: pip could not, or what it got is something else than what was pinned.
    """
    downloads.mkdir(parents=True, exist_ok=True)
    for package in packages:
        (downloads / package.archive).unlink(missing_ok=True)
    names = ",".join(package.name for package in packages)
    pinned = [f"{package.name}=={package.version}" for package in packages]
    pip(
        sys.executable, "download", "--no-deps", "--no-binary", names, "-d", str(downloads), *pinned
    )
    for package in packages:
        if not fetched(package, downloads):
            raise StoryBroken(f"{package.archive} is not the file this demo was written for")


def make_tools(venv: Path) -> None:
    """A virtual environment with what the suites need, made once for each list of tools.

    Raises: StoryBroken if it cannot be made.
    """
    stamp = venv / "tools.txt"
    wanted = "\n".join(TOOLS)
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    done = subprocess.run([sys.executable, "-m", "venv", "--clear", venv], check=False)
    if done.returncode:
        raise StoryBroken(f"no virtual environment could be made in {venv}")
    pip(str(venv / "bin" / "python"), "install", *TOOLS)
    stamp.write_text(wanted)


def pip(python: str, *arguments: str) -> None:
    """Run pip, silently unless it fails.

    Raises: StoryBroken with what it said.
    """
    command = [python, "-m", "pip", "--disable-pip-version-check", "--no-input", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        said = "\n".join((done.stderr or done.stdout).splitlines()[-12:])
        raise StoryBroken(f"`pip {' '.join(arguments)}` failed:\n{said}")


def clear(home: Path) -> None:
    """Remove a directory, out of the way first: a run of an earlier demo may still write to it."""
    for left in home.parent.glob(".old-*"):
        shutil.rmtree(left, ignore_errors=True)
    if home.exists():
        old = home.with_name(f".old-{home.name}-{os.getpid()}")
        home.rename(old)
        shutil.rmtree(old, ignore_errors=True)


def unpack(package: Package, downloads: Path, to: Path) -> None:
    """Unpack a source distribution into the new directory `to`, with the demo's policy in it."""
    parent = to.parent
    parent.mkdir(parents=True)
    with tarfile.open(downloads / package.archive) as archive:
        if hasattr(tarfile, "data_filter"):  # since 3.11.4; the content is pinned anyway
            archive.extraction_filter = tarfile.data_filter
        archive.extractall(parent)
    (parent / package.archive.removesuffix(".tar.gz")).rename(to)
    (to / "tenure.toml").write_text(package.policy)
    with (to / ".gitignore").open("a") as file:
        file.write(f"\n{IGNORED}")
