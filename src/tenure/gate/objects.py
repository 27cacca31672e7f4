"""What git's objects and rules say: trees, blobs, ignored paths, worktrees."""

import os

from tenure.gate.git import Git, ask, collect, demand, failed
from tenure.gate.worktree import Repository

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

#: The mode of an entry that is a submodule's commit.
GITLINK = "160000"
LINK = "120000"

#: object id, kind and content; all empty where there is none
_Object = tuple[bytes, bytes, bytes]

#: mode, object id, path from the top
Entry = tuple[str, str, bytes]


def begin(repo: Repository, tree: str, wanted: "Sequence[tuple[str, str]]") -> None:
    """Start asking for the entries of `tree` and the blobs `wanted`, and return at once.

    `tree_entries` and `read_blobs` take these answers if they are asked for exactly this.
    """
    repo.begun["entries", tree] = _start_entries(repo.top, tree)
    request = _request(wanted)
    repo.begun["blobs", request] = _start_blobs(repo.top, request)


def tree_entries(repo: Repository, tree: str) -> list[Entry]:
    """Every file, link and submodule of `tree` (a tree or commit), in git's order.

    Raises: RepositoryError when the tree cannot be read completely.
    """
    asked = "entries", tree
    begun = asked in repo.begun
    return _entries(repo.begun.pop(asked) if begun else _start_entries(repo.top, tree))


def entries_at(top: str, tree: str) -> list[Entry]:
    """The same for the repository of the checkout at `top`, a submodule's for example."""
    return _entries(_start_entries(top, tree))


def _start_entries(top: str, tree: str) -> Git:
    return Git(top, "ls-tree", "-r", "-z", "--full-tree", tree)


def _entries(git: Git) -> list[Entry]:
    entries: list[Entry] = []
    for line in _answer(git).split(b"\0")[:-1]:
        about, _, path = line.partition(b"\t")
        mode, _, oid = about.decode("ascii").split(" ")
        entries.append((mode, oid, path))
    return entries


def read_blobs(repo: Repository, wanted: "Sequence[tuple[str, str]]") -> list[bytes | None]:
    """The content of each `(commit, path)`, None where the commit has no such path.

    One process for all, which also shows the root of each commit: what it does not list is absent. An object that should be there and is not is an error, never None.

    Raises: RepositoryError when a commit or object is missing, or the path is a directory.
    """
    if not wanted:
        return []
    request = _request(wanted)
    asked = "blobs", request
    begun = asked in repo.begun
    stream = _answer(repo.begun.pop(asked) if begun else _start_blobs(repo.top, request))
    objects = _objects(stream)
    roots = {commit: next(objects) for commit in _commits(wanted)}
    blobs: list[bytes | None] = []
    for commit, path in wanted:
        _, kind, content = next(objects)
        if not kind:
            if not _absent(roots[commit], path):
                _require_absent(repo, commit, path)
            blobs.append(None)
            continue
        if kind != b"blob":
            from tenure.gate.errors import RepositoryError

            raise RepositoryError(
                what=f"{path} is a {kind.decode()} in commit {commit[:12]}",
                next="a file was expected there",
            )
        blobs.append(content)
    return blobs


def _request(wanted: "Sequence[tuple[str, str]]") -> str:
    assert all("\n" not in path for _, path in wanted), (
        "a path with a line break cannot be asked for"
    )
    roots = "".join(f"{commit}^{{tree}}\n" for commit in _commits(wanted))
    return roots + "".join(f"{commit}:{path}\n" for commit, path in wanted)


def _commits(wanted: "Sequence[tuple[str, str]]") -> list[str]:
    return list(dict.fromkeys(commit for commit, _ in wanted))


def _objects(stream: bytes) -> "Iterator[_Object]":
    """What `cat-file --batch` says of each object it was asked for, in order."""
    at = 0
    while at < len(stream):
        end = stream.index(b"\n", at)
        header = stream[at:end]
        at = end + 1
        if header.endswith((b" missing", b" ambiguous")):
            yield b"", b"", b""
            continue
        oid, kind, size = header.rsplit(b" ", 2)
        yield oid, kind, stream[at : at + int(size)]
        at += int(size) + 1


def _absent(root: "_Object", path: str) -> bool:
    """Whether the tree `root` was read and shows that `path` is not in it."""
    oid, kind, content = root
    name = os.fsencode(path.partition("/")[0])
    if kind != b"tree":
        return False
    at = 0
    while at < len(content):
        end = content.index(b"\0", at)
        if content[at:end].partition(b" ")[2] == name:
            return False
        at = end + 1 + len(oid) // 2
    return True


def _start_blobs(top: str, request: str) -> Git:
    return Git(top, "cat-file", "--batch", stdin=os.fsencode(request))


def _answer(git: Git) -> bytes:
    """The whole output of a git that has to succeed."""
    collect(git)
    if git.code != 0:
        raise failed(git)
    return git.output


def _require_absent(repo: Repository, commit: str, path: str) -> None:
    """Tell a path that a commit does not have from an object that the repository lost."""
    listed = demand(repo.top, "ls-tree", "-z", "--full-tree", commit, "--", path)
    if listed:
        from tenure.gate.errors import RepositoryError

        raise RepositoryError(
            what=f"{path} of commit {commit[:12]} is recorded and its content is missing",
            next="run `git fsck`, and fetch the missing objects again",
        )


def check_ignored(repo: Repository, paths: "Sequence[bytes]") -> set[bytes]:
    """Those of `paths` that git ignores. A tracked path is never ignored.

    A directory that does not exist yet is asked for with a slash at its end.
    """
    if not paths:
        return set()
    git = ask(
        repo.top, "check-ignore", "-z", "--stdin", stdin=b"".join(path + b"\0" for path in paths)
    )
    if git.code not in (0, 1):
        raise failed(git)
    return set(git.output.split(b"\0")[:-1])


def worktrees(repo: Repository) -> list[str]:
    """The top of every checkout of the repository, the main one first. Some may be gone."""
    git = ask(repo.top, "worktree", "list", "--porcelain", "-z")
    output = git.output
    if git.code == 129:  # before 2.36 there is no -z
        output = demand(repo.top, "worktree", "list", "--porcelain").replace(b"\n", b"\0")
    elif git.code != 0:
        raise failed(git)
    blocks = [block.split(b"\0") for block in output.split(b"\0\0")]
    return [
        os.fsdecode(lines[0].removeprefix(b"worktree "))
        for lines in blocks
        if lines[0].startswith(b"worktree ") and b"bare" not in lines
    ]
