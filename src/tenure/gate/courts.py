"""Whose policy may judge, and in which files it may be. Imports nothing: the shortcut asks too."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Where a policy may stand, at the root of a tree. Two are an error.
POLICY_FILES = ("tenure.toml", "pyproject.toml")


def courts(head: str, base: str | None, tip: str | None) -> list[tuple[str, str]]:
    """The commits whose policy may judge `head`, by what each is to it; the first that has one does.

    The candidate itself is the last; a trunk's tip that is the candidate or its base judges
    nothing more than they do, so it is not asked.
    """
    found: list[tuple[str, str]] = []
    if base is not None:
        found.append(("base", base))
    if tip is not None and tip not in (base, head):
        found.append(("tip", tip))
    found.append(("own", head))
    return found


def wanted_policies(commits: "Sequence[str]") -> list[tuple[str, str]]:
    """Every file of these commits that may be a policy."""
    return [(commit, name) for commit in commits for name in POLICY_FILES]
