"""What the gate cannot do, each with its exit code.

    GateError                  (a TenureError with an `exit_code`)
    ├── UsageError        2    asked in a way that cannot be carried out: change the call
    ├── BundleChanged     1    a Proof's bundle is not what was written: get it again from whoever exported it
    ├── PolicyError       2    the policy does not parse or cannot work: fix the file, line and key it names
    │   └── NoPolicy           there is none in this commit: write one, or commit the one that is there
    └── CannotTell        3    neither met nor not met: mend what the message names and ask again
        ├── RepositoryError    not a repository we can judge (bare, no commits, shallow, submodules, …)
        ├── DirtyTree          uncommitted or untracked changes: commit them, or run the jobs without proof
        ├── PlatformError      a platform or file system where locks prove nothing
        ├── EvidenceGone       a receipt that a Proof would rest on was dropped meanwhile: ask again
        └── Interrupted        a signal ended the command before there was an answer: ask again

Exit codes are the command line's: 0 met, 1 not met, 2 usage or configuration, 3 could not tell, 4 ended by
someone else, 70 our bug, 75 not yet, 128+n signal n.
"""

from typing import ClassVar

from tenure.kernel.errors import TenureError


class GateError(TenureError):
    """The root of the gate's own errors."""

    exit_code: ClassVar[int] = 3

    def sentence(self) -> str:
        """`what`, and `next` if there is something to do."""
        what, after = self.fields["what"], self.fields.get("next", "")
        return f"{what}; {after}" if after else str(what)


class UsageError(GateError):
    """The call cannot be carried out as it was made."""

    exit_code = 2


class BundleChanged(GateError):
    """A bundle is not what was written. `part` names what was changed; a `foreign` file never was one."""

    exit_code = 1

    def sentence(self) -> str:
        """What was changed, and how that shows."""
        if self.fields.get("foreign"):
            return str(self.fields["what"])
        return f"the bundle was changed: {self.fields['what']}"


class PolicyError(GateError):
    """The policy is malformed. `file`, `line` (1-based, or None) and `key` say where.

    `advice`, where there is any, is for a person to decide and no part of the sentence.
    """

    exit_code = 2

    def sentence(self) -> str:
        """`file:line: key: what; next`."""
        line, key = self.fields.get("line"), self.fields.get("key", "")
        where = f"{self.fields['file']}:{line}" if line else self.fields["file"]
        return f"{where}: {key}: {super().sentence()}" if key else f"{where}: {super().sentence()}"


class NoPolicy(PolicyError):
    """This commit has no policy. That is no mistake in one: an older commit may judge instead."""


class CannotTell(GateError):
    """Neither met nor not met."""


class RepositoryError(CannotTell):
    """This is not a repository, or not in a state, that can be judged."""


class DirtyTree(CannotTell):
    """The working tree is not the commit. `paths` lists what differs."""


class PlatformError(CannotTell):
    """Locks or process evidence prove nothing here."""


class EvidenceGone(CannotTell):
    """A receipt that a Proof would rest on is not there any more. Nothing was settled."""


class Interrupted(CannotTell):
    """A signal ended the command before there was an answer. It started nothing that goes on."""
