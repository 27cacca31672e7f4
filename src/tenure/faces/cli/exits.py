"""Exit codes, as a table."""

from enum import IntEnum


class Exit(IntEnum):
    """What the exit code of every verb means. 128+n is: ended by its own signal n."""

    MET = 0
    NOT_MET = 1
    USAGE = 2
    COULD_NOT_TELL = 3
    ENDED_BY_ANOTHER = 4
    BUG = 70
    NOT_YET = 75


MEANING: dict[int, str] = {
    Exit.MET: "met; of a verb that gives no verdict: done as asked",
    Exit.NOT_MET: "not met",
    Exit.USAGE: "usage or configuration",
    Exit.COULD_NOT_TELL: "could not tell",
    Exit.ENDED_BY_ANOTHER: "ended by someone else (another run, or cancel)",
    Exit.BUG: "a fault in tenure itself; the log's path is printed",
    Exit.NOT_YET: "not yet: the run goes on",
}

#: The same in as few words as there can be.
IN_SHORT: dict[int, str] = {
    Exit.MET: "met, or done as asked",
    Exit.NOT_MET: "not met",
    Exit.USAGE: "usage or configuration",
    Exit.COULD_NOT_TELL: "could not tell",
    Exit.ENDED_BY_ANOTHER: "ended by another",
    Exit.BUG: "our fault",
    Exit.NOT_YET: "not yet",
}

#: Verbs that say whether something is met. Of any other, 0 is that it did what was asked.
VERDICTS = ("done", "standards", "follow", "proof", "proof verify")
#: Verbs that say whether jobs passed, which proves nothing yet.
PASSES = ("check", "fix")
DONE_AS_ASKED = "done as asked"


def meaning(code: int, verb: str | None) -> str:
    """What an exit code of a verb means, in words."""
    if code == Exit.MET and verb in PASSES:
        return "passed"
    if code == Exit.MET and verb not in VERDICTS:
        return DONE_AS_ASKED
    if code == Exit.MET:
        return "met"
    return MEANING.get(code) or f"ended by its own signal {code - 128}"
