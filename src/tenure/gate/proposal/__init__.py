"""A first policy, proposed from what a repository already has. Text in, text out; nothing is run."""

from tenure.gate.proposal import hooks, javascript, languages, python, runners, workflows
from tenure.gate.proposal.chosen import chosen
from tenure.gate.proposal.proposed import Files, Findings, Proposed
from tenure.gate.proposal.text import written

#: What is worth reading at the root of a repository, and the folder of more.
READ = tuple(
    dict.fromkeys(
        (
            *python.READ,
            *languages.READ,
            *javascript.READ,
            *runners.READ,
            *hooks.READ,
            *workflows.READ,
        )
    )
)
WORKFLOWS = workflows.GITHUB

#: In the order in which they are believed: what configures a tool, then what runs several of
#: them, then hooks, which may be all of that again, then CI.
_LOOKS = (
    python.find,
    languages.find,
    javascript.find,
    runners.find_tox,
    runners.find_nox,
    runners.find_just,
    runners.find_make,
    hooks.find_pre_commit,
    hooks.find_lefthook,
    workflows.find,
)

_PLACEHOLDER = Proposed(
    name="test",
    stage="test",
    command="echo 'say in tenure.toml what has to pass' && false",
    source="nothing was recognised",
)


def propose(files: Files, trunk: str, remark: str = "") -> str:
    """The text of a `tenure.toml` for a repository that has `files` (path from its root to content).

    `remark` is what has to be said of the `trunk`, if anything.

    It parses as a policy, whatever the files contain. No two jobs run the same tool. Inputs are
    left out, so that every job depends on the whole tree until somebody who knows says less. Where
    nothing is recognised, the one job is a placeholder that fails until it is replaced.
    """
    found = Findings()
    for look in _LOOKS:
        look(files, found)
    return written(chosen(found.jobs or [_PLACEHOLDER]), found.unused, trunk, remark)
