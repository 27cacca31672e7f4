"""The situation: one candidate, everything it has to meet, and what each answer depends on.

Reading it runs git and hashes executables; it writes nothing. Two readings that agree on
`subject` ask the same question.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import NoReturn

import msgspec

from tenure.gate import objects
from tenure.gate.candidate import Candidate, Judging, candidate, checkout_id, judges
from tenure.gate.choice import chosen, left_out
from tenure.gate.context import DigestMemo, Toolchain
from tenure.gate.courts import POLICY_FILES, wanted_policies
from tenure.gate.digest import digest, keyed
from tenure.gate.errors import CannotTell, NoPolicy, PolicyError, UsageError
from tenure.gate.fingerprint import Stat
from tenure.gate.jobs.environment import job_environment
from tenure.gate.kind import DONE, Kind
from tenure.gate.links import Matches, followed, read_links
from tenure.gate.pattern import compile_patterns, without_match
from tenure.gate.policy import Job, Policy, definition_digest, policy_digest
from tenure.gate.policy_table import suggestion
from tenure.gate.policy_text import choose, parse
from tenure.gate.requirement import (
    Requirement,
    RequirementIdentity,
    RequirementSet,
    candidate_identity,
    identify,
    requirement_set_digest,
    requirements,
    subject,
)
from tenure.gate.said import mark_of, refuse_inside, said_by
from tenure.gate.worktree import UNTRACKED, Snapshot, require_clean
from tenure.kernel.clock import SystemClock
from tenure.kernel.identity import new_id

#: What `--accept-policy-change` calls a judging policy that does not parse. No job has this name.
POLICY = "policy"

#: What an entry of a tree is that no output can be below.
_NO_DIRECTORY = {objects.GITLINK: "a submodule", objects.LINK: "a symbolic link"}

#: Whether a path is an input.


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """How it is asked."""

    kind: Kind = DONE
    accepted: frozenset[str] = frozenset()  #: policy changes accepted by name
    requested: frozenset[str] = frozenset()  #: jobs or standards asked for by name; none: all
    rerun: bool = False  #: pass over receipts and Proofs
    against: str | None = None  #: full ref to judge against in place of the trunk


class Situation:
    """What one reading found."""

    def __init__(
        self, snapshot: Snapshot, judged: Candidate, policy: Policy, required: RequirementSet
    ) -> None:
        self.snapshot = snapshot
        self.candidate = judged
        self.policy = policy
        self.required = required
        self.checkout = checkout_id(snapshot.repo.git_dir)
        self.judging_policy = ""
        self.identities: dict[str, RequirementIdentity] = {}
        self.beside: dict[str, RequirementIdentity] = {}  #: fix jobs that a check leaves out
        self.inputs: dict[str, Matches | None] = {}  #: by requirement; None: every path
        self.entries: list[objects.Entry] = []  #: of the candidate's tree
        self.links: dict[bytes, bytes] = {}  #: what each link among them says
        self.watched: dict[str, Stat] = {}
        self.variables: set[str] = {"HOME", "PATH", "VIRTUAL_ENV"}
        self.notes: list[str] = []
        self.requirements_digest = ""
        self.candidate_id = ""
        self.subject = ""

    @property
    def top(self) -> str:
        """The root of the checkout."""
        return self.snapshot.repo.top


def read_policies(
    snapshot: Snapshot, accepted: frozenset[str]
) -> tuple[Candidate, Policy, Policy | None, frozenset[str]]:
    """The candidate, its own policy, and the policy that judges it (None: nothing but its own).

    Last come those of the `accepted` changes that this took: `policy`, if a judging policy
    does not parse and was passed over.

    Raises:
        NoPolicy: the candidate has none.
        PolicyError: one of them does not parse, and it is not one that was passed over.
    """
    courts = judges(snapshot)
    working = snapshot.working
    wanted = wanted_policies([commit for _, commit in (courts[:-1] if working else courts)])
    blobs = objects.read_blobs(snapshot.repo, wanted)
    found = dict(zip(wanted, blobs, strict=True))

    def files_of(commit: str) -> dict[str, bytes | None]:
        return {name: found[commit, name] for name in POLICY_FILES}

    mine = working.policies if working else files_of(snapshot.head)
    own = parse(*choose(mine))
    taken: frozenset[str] = frozenset()
    for judging, commit in courts[:-1]:
        files = files_of(commit)
        if files == mine:  # as most branches leave it
            return candidate(snapshot, judging, commit), own, own, taken
        try:
            policy = parse(*choose(files))
        except NoPolicy:
            continue
        except PolicyError as error:
            if POLICY not in accepted:
                raise _unreadable(commit, error) from error
            taken = frozenset({POLICY})
        else:
            return candidate(snapshot, judging, commit), own, policy, taken
    return candidate(snapshot, Judging.OWN, snapshot.head), own, None, taken


def _unreadable(commit: str, error: PolicyError) -> PolicyError:
    fields = {name: value for name, value in error.fields.items() if name != "problems"}
    fields["file"] = f"{commit[:12]}:{fields['file']}"
    fields["next"] = "this policy judges the branch and has to be readable; mend it there"
    fields["advice"] = (
        "if it cannot be mended, and whoever reviews this agrees: "
        f"--accept-policy-change {POLICY} passes it over"
    )
    return PolicyError(**fields)


def read_situation(
    snapshot: Snapshot,
    question: Question,
    *,
    secret: str,
    trunk: str | None,
    environ: Mapping[str, str],
    contents: DigestMemo,
) -> Situation:
    """Read everything about a snapshot. `trunk` is the branch name that counts as the trunk.

    Raises:
        DirtyTree: there is something uncommitted.
        PolicyError, UsageError, RepositoryError: as their sentences say.
    """
    refuse_inside(snapshot.repo.common_dir, environ)
    if question.kind.committed:
        require_clean(snapshot)
    judged, own, judging, taken = read_policies(snapshot, question.accepted)
    required = requirements(judging, own, question.accepted - taken, trunk=trunk)
    if taken:
        accepted = tuple(sorted(taken.union(required.accepted)))
        required = msgspec.structs.replace(required, accepted=accepted)
    kind, requested = question.kind, question.requested
    if kind.measures:
        required = required.measuring(_standards(question, own, judging))
        _require_something(required)
    found = Situation(snapshot, judged, own, chosen(required, kind.name, requested))
    found.judging_policy = policy_digest(own if judging is None else judging)
    working = snapshot.working
    entries = working.entries if working else objects.tree_entries(snapshot.repo, snapshot.tree)
    found.entries, found.links = entries, read_links(found.top, entries)
    _check_outputs(found, entries)
    toolchain = Toolchain(found.top, contents)
    beside = left_out(required, kind.name, requested)
    asked = beside.union(requirement.name for requirement in found.required.requirements)
    for requirement in required.only(asked).requirements:
        _identify(found, requirement, entries, secret=secret, environ=environ, toolchain=toolchain)
    found.beside = {name: found.identities.pop(name) for name in beside}
    if not kind.proves:
        found.notes += [f"`tenure done` objects: {o.name}: {o.detail}" for o in required.objections]
    found.requirements_digest = requirement_set_digest(
        found.identities.values(), found.required.standards
    )
    found.candidate_id = candidate_identity(
        snapshot.tree, found.judging_policy, found.requirements_digest
    )
    if question.rerun or not kind.joins:  # a question of its own
        requested = requested.union((new_id(),))
    found.subject = subject(kind.attempt, found.candidate_id, required.accepted, requested)
    return found


def _standards(question: Question, own: Policy, judging: Policy | None) -> frozenset[str]:
    """The standards that are asked about, by name: those requested, or all there are.

    Raises:
        PolicyError, UsageError: there are none, or not of these names.
    """
    known = list(dict.fromkeys([*own.standards, *(judging.standards if judging else ())]))
    if not known:
        raise PolicyError(
            file=own.file,
            key="standards",
            what="there is no standard that could be measured",
            next="declare one as [standards.NAME]",
        )
    for name in sorted(question.requested.difference(known)):
        raise UsageError(what=f"there is no standard {name!r}", next=suggestion(name, known))
    return question.requested or frozenset(known)


def _require_something(required: RequirementSet) -> None:
    """Pass unless all that was asked about was removed, and that accepted: nothing is no pass."""
    if not required.standards and not required.objections:
        raise UsageError(
            what="what was asked about was removed, and there is nothing left to measure",
            next="leave --accept-policy-change out to see what it objects to",
        )


def _identify(
    found: Situation,
    requirement: Requirement,
    entries: list[objects.Entry],
    *,
    secret: str,
    environ: Mapping[str, str],
    toolchain: Toolchain,
) -> None:
    job, name = requirement.job, requirement.name
    parts = {"definition": definition_digest(job)}
    found.inputs[name], parts["inputs"] = _inputs(found, requirement, entries)
    key = secret.encode()
    for variable in job.env:
        parts[f"env:{variable}"] = keyed(key, variable, environ.get(variable))
        found.variables.add(variable)
    runs = [mark_of(found.snapshot.repo.common_dir), new_id()]
    environment = environment_of(found, requirement, environ, runs=runs)
    cwd = os.path.join(found.top, job.cwd)
    about = toolchain.context((job.argv, *job.context), environment, cwd)
    parts.update(about.parts)
    found.watched.update(about.watched)
    for command in job.context:
        parts[f"context:{' '.join(command)}"] = digest(
            "context", said_by(command, environment, cwd, SystemClock())
        )
    for need in requirement.needs:
        parts[f"need:{need}"] = found.identities[need].digest
    found.identities[name] = identify(name, parts)


def environment_of(
    found: Situation, requirement: Requirement, environ: Mapping[str, str], *, runs: Sequence[str]
) -> dict[str, str]:
    """The whole environment of one requirement's job, marked with `runs`, the last its own."""
    job = requirement.job
    return job_environment(
        environ,
        env=job.env,
        pass_env=job.pass_env,
        set_env=job.set_env,
        run_ids=runs,
        job=requirement.name,
        checkout_id=found.checkout,
    )


def _inputs(
    found: Situation, requirement: Requirement, entries: list[objects.Entry]
) -> tuple[Matches | None, str]:
    """Which paths are a job's inputs (None: all), and the digest of their content."""
    patterns = requirement.job.inputs
    if patterns is None:
        return inputs_of(None, found.snapshot.tree, entries, found.links)
    missing = _missing(patterns, entries)
    if len(missing) == len(patterns):
        raise PolicyError(
            file=found.policy.file,
            key=f"jobs.{requirement.job.name}.inputs",
            what="no file of the candidate matches, so the job would never run again",
            next="correct the patterns, or leave `inputs` out to mean the whole tree",
        )
    found.notes += [f"{requirement.name}: no file matches input {p!r}" for p in missing]
    return inputs_of(patterns, found.snapshot.tree, entries, found.links)


def inputs_of(
    patterns: Sequence[str] | None,
    tree: str,
    entries: list[objects.Entry],
    links: Mapping[bytes, bytes],
) -> tuple[Matches | None, str]:
    """Which paths of `tree` are the inputs that a job declares, and the digest of their content."""
    matches = None if patterns is None else followed(compile_patterns(patterns), links)
    return matches, _inputs_digest(matches, tree, entries)


def _inputs_digest(matches: Matches | None, tree: str, entries: list[objects.Entry]) -> str:
    """The digest of what a job's inputs are in `tree`, whose `entries` are these."""
    if matches is None:
        return f"tree {tree}"
    # A pattern may reach into a submodule, whose files are no entries of the tree.
    chosen = [e for e in entries if e[0] == objects.GITLINK or matches(e[2])]
    return digest("inputs", tuple(chosen))


def _missing(patterns: Sequence[str], entries: list[objects.Entry]) -> tuple[str, ...]:
    """The patterns that match no file, as far as that can be told: not if it may be a submodule's."""
    missing = without_match(patterns, [path for _, _, path in entries])
    modules = [os.fsdecode(path) + "/" for mode, _, path in entries if mode == objects.GITLINK]
    return tuple(
        pattern
        for pattern in missing
        if not any(pattern.startswith(m) for m in modules)
        and not (modules and "*" in pattern.partition("/")[0])
    )


def _check_outputs(found: Situation, entries: list[objects.Entry]) -> None:
    """Outputs are deleted and written by us, so they may be neither tracked nor unignored."""
    declared = _outputs(found.required)
    if not declared:
        return

    def refuse(job: Job, what: str, after: str) -> NoReturn:
        key = f"jobs.{job.name}.outputs"
        raise PolicyError(file=found.policy.file, key=key, what=what, next=after)

    modes = {path: mode for mode, _, path in entries}
    for output, job in declared.items():
        below = os.fsencode(output) + b"/"
        mine = [path for path in modes if path == below[:-1] or path.startswith(below)]
        if any(not _untracked(found.snapshot, path) for path in mine):
            what = f"{output} is tracked, and outputs are deleted before the job runs"
            refuse(job, what, f"untrack it (`git rm --cached {output}`) and ignore it")
        for parent in _parents(output):
            if os.fsencode(parent) in modes:
                kind = _NO_DIRECTORY.get(modes[os.fsencode(parent)], "a file")
                refuse(job, f"{output} is below {parent}, which is {kind}", "move the output")
            _require_no_link(found.top, parent, output)
    ignored = objects.check_ignored(found.snapshot.repo, _asked(found.top, declared))
    for output, job in declared.items():
        if not ignored.intersection((os.fsencode(output), os.fsencode(f"{output}/"))):
            what = f"{output} is not ignored by git, so it would make the tree dirty"
            refuse(job, what, f"add the line /{output} to .gitignore")


def _untracked(snapshot: Snapshot, path: bytes) -> bool:
    """Whether git does not know a path yet that counts as one of the files as they are."""
    return any(
        kind == UNTRACKED and (path == new or (new.endswith(b"/") and path.startswith(new)))
        for kind, new in snapshot.changes
    )


def _parents(path: str) -> list[str]:
    """The directories above a path, the outermost first."""
    names = path.split("/")[:-1]
    return ["/".join(names[: end + 1]) for end in range(len(names))]


def _require_no_link(top: str, parent: str, output: str) -> None:
    """Pass unless an output would be deleted and written behind a link, wherever that leads."""
    if os.path.islink(os.path.join(top, parent)):
        raise CannotTell(
            what=f"{parent} is a symbolic link here, and {output} would be deleted behind it",
            next="remove the link, or declare an output that is not below it",
        )


def _asked(top: str, outputs: Iterable[str]) -> list[bytes]:
    """Each output as a file, and as a directory unless it is a link, which git takes badly."""
    names = [os.fsencode(output) for output in outputs]
    return names + [
        n + b"/" for n in names if not os.path.islink(os.path.join(os.fsencode(top), n))
    ]


def _outputs(required: RequirementSet) -> dict[str, Job]:
    return {o.rstrip("/"): r.job for r in required.requirements for o in r.job.outputs}
