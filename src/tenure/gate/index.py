"""What the index claims about files, and how to find out whether it is true.

Git compares content only where the stat of a file is not the one in its index. It can be told not
to look at all, and as built by most distributions it compares times by the second: an edit of the
same size that restores the modification time goes unseen for as long. So the claims are read
here, compared to the nanosecond, and where one does not hold, git is made to read every byte.
"""

import re

from tenure.gate.git import Git, demand, failed
from tenure.gate.worktree import Change, parse_status

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tenure.gate.fingerprint import Mark

#: Of one path: the flag letter of `git ls-files -v`, and the recorded change time, inode and size.
Claim = tuple[str, int, int, int]

_LOW = 0xFFFFFFFF  # the index keeps the low half of every number

_CLAIM = re.compile(
    rb"(?P<flag>.) (?P<path>[^\0]+)\0"
    rb"  ctime: (?P<sec>\d+):(?P<nsec>\d+)\n"
    rb"  mtime: \d+:\d+\n"
    rb"  dev: \d+\tino: (?P<ino>\d+)\n"
    rb"  uid: \d+\tgid: \d+\n"
    rb"  size: (?P<size>\d+)\tflags: [0-9a-f]+\n",
    re.DOTALL,
)


def start_claims(top: str) -> Git:
    """Start asking for the claims of the index of the checkout at `top`."""
    return Git(top, "ls-files", "-v", "--debug", "-z")


def claims(git: Git) -> dict[bytes, Claim]:
    """The answer to `start_claims`, collected.

    Git reserves the right to change how it prints this. What is not understood is left out,
    and a path without a claim is one whose content has to be read.

    Raises: RepositoryError when git failed.
    """
    if git.code != 0:
        raise failed(git)
    found: dict[bytes, Claim] = {}
    output, at = git.output, 0
    while match := _CLAIM.match(output, at):
        at = match.end()
        flag, path, sec, nsec, ino, size = match.groups()
        found[path] = (flag.decode("latin-1"), int(sec) * 10**9 + int(nsec), int(ino), int(size))
    return found


def skipped(claimed: "Mapping[bytes, Claim]") -> list[bytes]:
    """The paths that a sparse checkout leaves out."""
    return [path for path, claim in claimed.items() if claim[0] in "Ss"]


def all_hold(claimed: "Mapping[bytes, Claim]", marks: "Iterable[tuple[bytes, Mark]]") -> bool:
    """Whether every one of `marks` is a file that git looked at and that looks as claimed.

    Together with a clean `git status` this means that the content is the recorded one.
    """
    for path, mark in marks:
        claim = claimed.get(path)
        if claim is None or mark is None or claim[0] != "H":
            return False
        ctime_ns, ino, size, _ = mark
        seconds, rest = divmod(ctime_ns, 10**9)
        if claim[1:] != ((seconds & _LOW) * 10**9 + rest, ino & _LOW, size & _LOW):
            return False
    return True


def content_changes(top: str, tree: str) -> list[Change]:
    """Every tracked difference from `tree` at `top`, found by reading every file.

    Filters and line endings count as `git add` would have them. Submodules are not looked
    into. Works on an index of its own that lies in the directory for temporary files.

    Raises: RepositoryError when git failed, a filter for example.
    """
    import tempfile  # rarely needed, and it brings half the standard library

    with tempfile.TemporaryDirectory(prefix="tenure-") as place:
        index = f"{place}/index"
        demand(top, "read-tree", tree, index=index)
        status = demand(
            top,
            "status",
            "--porcelain=v2",
            "-z",
            "--no-renames",
            "--untracked-files=no",
            "--ignore-submodules=all",
            index=index,
        )
    return parse_status(status)[1]
