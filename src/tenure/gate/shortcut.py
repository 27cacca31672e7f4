"""The shortcut: `tenure done` where a Proof exists, answered in milliseconds.

It starts git first, then opens the store and looks for a memo of exactly this tree and base
whose named variables, programs and lock files are what they were. Where there is none, what
git was asked is handed to the long way, with what that asks first, so that git answers while
Python still imports. Whatever is not plain sailing is answered with None, and the long way
finds out what it is. Everything heavy, the record types included, stays unimported.
"""

import os

from tenure.gate.courts import courts, wanted_policies
from tenure.gate.fingerprint import still_holds
from tenure.gate.location import root_of
from tenure.gate.objects import begin
from tenure.gate.text import readable
from tenure.gate.worktree import start_read

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    import apsw

    from tenure.gate.worktree import Position, Reading

#: The formats these queries are written for; a store of another one is the long way's business.
FORMATS = frozenset({("kernel", 1), ("gate", 3)})

_CHECKOUT = "TENURE_CHECKOUT"  #: among the variables of a memo: the checkout it is about

_QUERIES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stores", "sqlite", "queries")


def answer(
    getcwd: "Callable[[], str]", laid_out: "Callable[[str], str]", *, json: bool
) -> "int | Reading | None":
    """Print that the Proof exists and return 0; else the reading to go on with, if there is one.

    What people read goes through `laid_out`, which knows their terminal.
    """
    found = known(getcwd)
    if not isinstance(found, tuple):
        return found
    text = _object(found) if json else laid_out(line(found))
    try:
        os.write(1, f"{text}\n".encode())
    except BlockingIOError:
        return None
    except OSError:
        pass  # nobody reads it; the answer stands
    return 0


def known(getcwd: "Callable[[], str]") -> "tuple[object, ...] | Reading | None":
    """What there is to print of the Proof; without one, the reading to go on with, if any."""
    try:
        cwd = getcwd()
        database = _database_above(cwd)
    except Exception:  # the long way meets it again, and has the words for it
        return None
    if database is None:
        return None
    try:
        reading = start_read(cwd)
    except Exception:
        return None
    try:
        found = _found(database, reading)
    except Exception:  # so it does here
        found = None
    if found is None:
        reading.discard()
    return found


def _database_above(cwd: str) -> str | None:
    """The store of the repository that `cwd` is in, by its usual layouts; None if unusual."""
    place = cwd
    while not os.path.lexists(os.path.join(place, ".git")):
        above = os.path.dirname(place)
        if above == place:
            return None
        place = above
    database = os.path.join(root_of(_common_dir(place), place, os.environ), "tenure.db")
    return database if os.path.exists(database) else None


def _common_dir(top: str) -> str:
    dotgit = os.path.join(top, ".git")
    if os.path.isdir(dotgit):
        return dotgit
    with open(dotgit, encoding="utf-8") as file:
        git_dir = os.path.join(top, file.read().removeprefix("gitdir:").strip())
    with open(os.path.join(git_dir, "commondir"), encoding="utf-8") as file:
        return os.path.join(git_dir, file.read().strip())


def _found(database: str, reading: "Reading") -> "tuple[object, ...] | Reading | None":
    """What to print; the reading, well begun, if that takes the long way; None if it is odd."""
    import apsw

    connection = apsw.Connection(database, flags=apsw.SQLITE_OPEN_READWRITE)
    try:
        connection.set_busy_timeout(1000)
        if set(connection.execute("SELECT line, version FROM format")) != FORMATS:
            return None
        refs = list(connection.execute(_query("read_trunk")))
        if not refs or not still_holds(_paths(connection, "list_trunk_paths", {})):
            return None
        position = reading.against(str(refs[0][0])).position()
        if position is None or position.tip is None:
            return None
        proof = _proof(connection, position)
    finally:
        connection.close()
    if proof is None:
        commits = [c for _, c in courts(position.head, position.base, position.tip)]
        begin(position.repo, position.tree, wanted_policies(commits))
        return reading
    snapshot = reading.finish()
    if not snapshot.clean or snapshot.head != position.head:
        return None
    return (snapshot.head, readable(snapshot.branch or ""), snapshot.tree, *proof)


def _proof(connection: "apsw.Connection", position: "Position") -> "tuple[object, ...] | None":
    """The Proof of this very tree on this base, as the memos that still hold tell it."""
    where = {"tree": position.tree, "base": position.base or ""}
    for memo, tip, *proof in list(connection.execute(_query("find_memos"), where)):
        if tip in ("", position.tip) and _holds(connection, memo, position.repo.top):
            return tuple(proof)
    return None


def _holds(connection: "apsw.Connection", memo: int, top: str) -> bool:
    """Whether checkout, environment, programs and lock files are what they were."""
    named = list(connection.execute(_query("list_memo_variables"), {"memo": memo}))
    ((secret,),) = connection.execute(_query("read_setting"), {"name": "secret"})
    from tenure.gate.digest import keyed

    for name, digest in named:
        value = top if name == _CHECKOUT else os.environ.get(name)
        if digest != (None if value is None else keyed(secret.encode(), name, value)):
            return False
    watched = _paths(connection, "list_memo_paths", {"memo": memo})
    return still_holds([(os.path.join(top, path), stat) for path, stat in watched])


def _paths(
    connection: "apsw.Connection", query: str, where: dict[str, int]
) -> "list[tuple[str, tuple[int, ...] | None]]":
    rows = list(connection.execute(_query(query), where))
    return [(os.fsdecode(row[0]), None if row[1] is None else row[1:]) for row in rows]


def _query(name: str) -> str:
    with open(os.path.join(_QUERIES, f"{name}.sql"), encoding="utf-8") as file:
        return file.read()


def line(found: "tuple[object, ...]") -> str:
    """What is `known` of a Proof, for people."""
    head, branch, _, proof, _, evidence, executed, unsteady, judged_by, _, _ = found
    where = f" on {str(branch).removeprefix('refs/heads/')}" if branch else ""
    reused = int(str(evidence)) - int(str(executed))
    how = f"{executed} run, {reused} reused" if reused else f"{executed} run"
    bootstrap = "; judged by its own policy, there was none before it" if judged_by == "own" else ""
    flaky = f"; flaky: {unsteady}" if unsteady else ""
    return (
        f"met: {str(head)[:12]}{where} has Proof {str(proof)[:12]} "
        f"({evidence} requirement{'' if evidence == 1 else 's'}: {how}{bootstrap}{flaky})"
    )


def _object(found: "tuple[object, ...]") -> str:
    """The same object as the long way prints; the Proof is stored as the JSON it appears as."""
    from json.encoder import encode_basestring_ascii as quoted

    head, branch, tree, _, body, _, _, _, _, worktree, candidate = found
    named = quoted(str(branch)) if branch else "null"
    return (
        '{"ok":true,"verb":"done","exit_code":0,"meaning":"met","outcome":"met",'
        f'"commit":{quoted(str(head))},"tree":{quoted(str(tree))},"branch":{named},'
        f'"candidate":{quoted(str(candidate))},"run":null,"worktree":{quoted(str(worktree))},"proof":{body},"report":null,'
        '"objections":[],"left":{}}'
    )
