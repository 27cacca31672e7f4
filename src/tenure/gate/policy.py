"""What a project requires before a commit counts as done: jobs, the trunk, the lease.

Values only. `policy_text` reads them from a file; `requirement` makes requirements of them.
"""

from typing import Final, Literal

import msgspec

from tenure.gate.digest import digest
from tenure.gate.standard import Standard, standard_digest
from tenure.kernel.lease import LeaseTimings

Stage = Literal["fix", "build", "check", "test"]

#: In the order in which they are listed.
STAGES: Final[tuple[Stage, ...]] = ("fix", "build", "check", "test")

#: In the order in which they run; `check` and `test` run side by side.
STAGE_RANK: Final[dict[Stage, int]] = {"fix": 0, "build": 1, "check": 2, "test": 2}

DEFAULT_LEASE: Final = LeaseTimings(ttl=60.0, renew_interval=20.0)


#: The slot that every policy has, whether it says how many places that has or not.
HEAVY: Final = "heavy"


#: The name of what prepares a checkout. No job can have it.
SETUP: Final = "setup"


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """What only so many jobs of one user may have at a time on a machine, whatever repository.

    `size` is None where that depends on the machine.
    """

    name: str
    size: int | None = None


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """One command that has to pass, and everything that decides what it means.

    What it has to have while it runs, `slot` and `holds`, is no part of what it means. `run` is an argument list, or a string for the shell. Paths (`inputs`, `outputs`, `cwd`)
    are relative to the root of the repository. `inputs` is None for the whole tree.
    """

    name: str
    run: tuple[str, ...] | str
    stage: Stage = "check"
    inputs: tuple[str, ...] | None = None
    outputs: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    env: tuple[str, ...] = ()
    pass_env: tuple[str, ...] = ()
    set_env: dict[str, str] = {}
    context: tuple[tuple[str, ...], ...] = ()
    timeout_seconds: float | None = None
    retries: int = 0
    reuse: bool = True
    cwd: str = "."
    slot: Slot | None = None
    holds: tuple[str, ...] = ()

    @property
    def argv(self) -> tuple[str, ...]:
        """What is executed."""
        return ("/bin/sh", "-c", self.run) if isinstance(self.run, str) else self.run


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed policy: `jobs` and `standards` by name in file order, and the `file` it was read from."""

    file: str
    jobs: dict[str, Job]
    standards: dict[str, Standard] = {}
    setup: Job | None = None
    trunk: str | None = None
    lease: LeaseTimings = DEFAULT_LEASE


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """How the jobs of two policies differ, each by name in file order."""

    same: tuple[str, ...]
    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


class KeyRow(msgspec.Struct, frozen=True, kw_only=True):
    """One key of the policy file, for readers and for the parser."""

    table: str
    key: str
    type: str
    default: str
    meaning: str


#: Fields whose order says nothing.
_UNORDERED = frozenset({"inputs", "outputs", "needs", "env", "pass_env"})

#: Fields that say when a job may run, and not what it means.
_PLACEMENT = frozenset({"slot", "holds"})

_KEY_OF_FIELD = {"pass_env": "pass-env", "set_env": "set-env", "timeout_seconds": "timeout"}


_DEFINITION = tuple(field for field in Job.__struct_fields__ if field not in _PLACEMENT)


def definition_digest(job: Job) -> str:
    """The digest of a job's own definition: every field counts, the order of a list of names does not.

    A field added later counts without being listed here.
    """
    return digest("job", {field: _canonical(job, field) for field in _DEFINITION})


def policy_digest(policy: Policy) -> str:
    """The digest of what a policy requires. The file's name, the lease and the layout are not part of it."""
    jobs = {name: definition_digest(job) for name, job in policy.jobs.items()}
    standards = {name: standard_digest(each) for name, each in policy.standards.items()}
    setup = None if policy.setup is None else definition_digest(policy.setup)
    parts = {"trunk": policy.trunk, "jobs": jobs, "standards": standards, "setup": setup}
    return digest("policy", parts)


def compare(old: Policy, new: Policy) -> Comparison:
    """How the jobs of `new` differ from those of `old`, each by its own definition."""
    kept = [name for name in new.jobs if name in old.jobs]
    same = {n for n in kept if definition_digest(old.jobs[n]) == definition_digest(new.jobs[n])}
    return Comparison(
        same=tuple(name for name in kept if name in same),
        added=tuple(name for name in new.jobs if name not in old.jobs),
        changed=tuple(name for name in kept if name not in same),
        removed=tuple(name for name in old.jobs if name not in new.jobs),
    )


def changed_keys(old: Job, new: Job) -> tuple[str, ...]:
    """The keys of the policy file in which two definitions differ."""
    return tuple(
        _KEY_OF_FIELD.get(field, field)
        for field in _DEFINITION
        if _canonical(old, field) != _canonical(new, field)
    )


def _canonical(job: Job, field: str) -> object:
    value: object = getattr(job, field)
    return frozenset(value) if field in _UNORDERED and isinstance(value, tuple) else value


def reference_rows() -> tuple[KeyRow, ...]:
    """Every key a policy may have, with its type, its default and what it means."""
    return tuple(
        KeyRow(table=table, key=key, type=kind, default=default, meaning=meaning)
        for table, key, kind, default, meaning in _REFERENCE
    )


def keys_of(table: str) -> tuple[str, ...]:
    """The keys that `table` may have."""
    return tuple(row[1] for row in _REFERENCE if row[0] == table)


#: Keys of a job and of the file that a later version will know. They are refused by name.
LATER: Final[dict[str, frozenset[str]]] = {
    "": frozenset({"repository"}),
    "gate": frozenset({"repository"}),
}

_JOB = "jobs.NAME"
_STANDARD = "standards.NAME"
_REFERENCE: Final = (
    (
        "",
        "trunk",
        "string",
        "none",
        "The branch that policies are judged against where no remote names a default branch.",
    ),
    (
        _JOB,
        "stage",
        '"fix", "build", "check" or "test"',
        '"check"',
        "When it runs: fix jobs first and one by one, then build, then check and test side by side.",
    ),
    (
        _JOB,
        "run",
        "string or list of strings",
        "required, unless `shell` is given",
        "The command. A string is split into words and executed without a shell; a list is taken as it is.",
    ),
    (
        _JOB,
        "shell",
        "string",
        "required, unless `run` is given",
        "The command as text for `/bin/sh -c`.",
    ),
    (
        _JOB,
        "inputs",
        "list of patterns",
        "the whole tree",
        "Every file the job reads. It runs again when one of them changes, and only then.",
    ),
    (
        _JOB,
        "outputs",
        "list of paths",
        "[]",
        "Ignored files or directories it writes: deleted before it runs, kept, put back on reuse.",
    ),
    (
        _JOB,
        "needs",
        "list of job names",
        "[]",
        "Jobs that have to pass first, of the same or an earlier stage.",
    ),
    (
        _JOB,
        "env",
        "list of variable names",
        "[]",
        "Variables of the caller it sees, whose values count: another value is another result.",
    ),
    (
        _JOB,
        "pass-env",
        "list of variable names",
        "[]",
        "Variables of the caller it sees, whose values do not count.",
    ),
    (
        _JOB,
        "set-env",
        "table of strings",
        "{}",
        "Variables it always sees with these values.",
    ),
    (
        _JOB,
        "context",
        "list of commands",
        "[]",
        "Commands whose output names the tools it uses: another output is another result.",
    ),
    (
        _JOB,
        "timeout",
        'duration, as "10m" or "1h30m"',
        "none",
        "How long it may run before it is ended and counted as failed.",
    ),
    (
        _JOB,
        "retries",
        "number, at most 10",
        "0",
        "How many times it is run again if it does not pass. A pass by a retry is flaky: it counts in its own run, and is not reused.",
    ),
    (
        _JOB,
        "reuse",
        "true or false",
        "true",
        "Whether an earlier pass for the same inputs counts. With false every run runs it; a commit that has its Proof needs no run.",
    ),
    (
        _JOB,
        "cwd",
        "path",
        '"."',
        "The directory it runs in.",
    ),
    (
        _JOB,
        "slot",
        "name of a slot",
        "none",
        "What it has to have a place in while it runs: `heavy`, or a name under `[slots]`.",
    ),
    (
        _JOB,
        "holds",
        "list of names",
        "[]",
        "What only one job may have at a time, in all worktrees of the repository: a database, a port.",
    ),
    (
        "setup",
        "run",
        "string or list of strings",
        "required, unless `shell` is given",
        "The command that makes a checkout ready for its jobs, as for a job.",
    ),
    (
        "setup",
        "shell",
        "string",
        "required, unless `run` is given",
        "The same as text for `/bin/sh -c`.",
    ),
    (
        "setup",
        "inputs",
        "list of patterns",
        "the whole tree",
        "Every file that decides what it does. It runs again in a checkout when one of them changed there.",
    ),
    (
        "setup",
        "env",
        "list of variable names",
        "[]",
        "Variables of the caller it sees, whose values count.",
    ),
    (
        "setup",
        "pass-env",
        "list of variable names",
        "[]",
        "Variables of the caller it sees, whose values do not count.",
    ),
    (
        "setup",
        "set-env",
        "table of strings",
        "{}",
        "Variables it always sees with these values.",
    ),
    (
        "setup",
        "timeout",
        'duration, as "10m" or "1h30m"',
        "none",
        "How long it may run before it is ended and counted as failed.",
    ),
    (
        "setup",
        "cwd",
        "path",
        '"."',
        "The directory it runs in.",
    ),
    (
        "slots",
        "NAME",
        'number, or "auto"',
        '"auto"',
        "How many jobs may have it at a time, in all repositories of one user on this machine. `auto` is a quarter of its cores, at least 1. `heavy` needs no line.",
    ),
    (
        _STANDARD,
        "from",
        "name of a job",
        "required",
        "The job whose result has the number.",
    ),
    (
        _STANDARD,
        "metric",
        "table, see [standards](#standards)",
        "required",
        "Where in the job's result the number is.",
    ),
    (
        _STANDARD,
        "direction",
        '"up" or "down"',
        "required",
        "Whether a greater number is better, or a smaller one.",
    ),
    (
        _STANDARD,
        "limit",
        "number",
        "required",
        "The number to keep. It is read as the decimal that is written.",
    ),
    (
        _STANDARD,
        "margin",
        "number, 0 or more",
        "`0`",
        "How much worse than the limit is still met, for numbers that scatter.",
    ),
    (
        "gate",
        "lease_ttl",
        "duration",
        '"60s"',
        "How long a run that went silent is left alone. At least three times `renew_interval`.",
    ),
    (
        "gate",
        "store",
        "absolute path, or one from `~/`",
        "the git directory",
        "A directory for the records instead. `TENURE_STORE` comes before it. Read from the file as it is in the checkout.",
    ),
    (
        "gate",
        "renew_interval",
        "duration",
        '"20s"',
        "How often a run says that it is alive.",
    ),
)
