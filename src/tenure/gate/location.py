"""Where a repository keeps its records, unless under its git directory. Imports nothing: the shortcut asks too.

The environment says it, or else the policy as it stands in the checkout. One directory may be
named for many repositories: each has a directory of its own in there, told apart by where its
git directory is.
"""

import os

from tenure.gate.courts import POLICY_FILES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: Names the directory. It reaches jobs, so that what they start finds the same records.
VARIABLE = "TENURE_STORE"

_USUAL = "tenure"  #: below the common git directory


def root_of(common_dir: str, top: str, environ: "Mapping[str, str]") -> str:
    """The directory of a repository's records.

    Raises:
        UsageError: what is named is no directory that could be meant.
    """
    named = environ.get(VARIABLE)
    whose = VARIABLE
    if named is None:
        named, whose = _in_policy(top), "[gate] store"
    if named is None:
        return os.path.join(common_dir, _USUAL)
    wrong = unfit(named)
    if wrong:
        from tenure.gate.errors import UsageError

        raise UsageError(what=f"{whose} is {named!r}, {wrong[0]}", next=wrong[1])
    from tenure.gate.digest import digest

    real = os.path.realpath(os.fsencode(common_dir))
    return os.path.join(os.path.expanduser(named), digest("repository", real)[:16])


def unfit(named: str) -> tuple[str, str] | None:
    """Why a name is none of a directory, and what to do; None if it is one."""
    if "://" in named:
        what = "a server, and this version keeps records in directories alone"
        return what, "name a directory, or none"
    if "\0" in named or not (named.startswith("~/") or os.path.isabs(named)):
        what = "which is no absolute path: every worktree has to find the same"
        return what, "write it from `/`, or from `~/`"
    return None


def _in_policy(top: str) -> str | None:
    """What the policy file in a checkout names. One that is odd is told of when it is read."""
    for name in POLICY_FILES:
        try:
            with open(os.path.join(top, name), "rb") as file:
                data = file.read()
        except OSError:
            continue
        if b"store" not in data or (name != POLICY_FILES[0] and b"tenure" not in data):
            continue
        import tomllib

        try:
            found: object = tomllib.loads(data.decode())
        except (ValueError, RecursionError):
            return None
        for key in (*(() if name == POLICY_FILES[0] else ("tool", "tenure")), "gate", "store"):
            found = found.get(key) if isinstance(found, dict) else None
        if isinstance(found, str):
            return found
    return None
