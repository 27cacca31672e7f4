"""The verbs: what each is for, in a line and at length, and one way to use it."""

from typing import NamedTuple


class Verb(NamedTuple):
    """One verb, as help and reference tell of it."""

    brief: str  #: for the list of all; empty where another verb's line names it as well
    text: str
    example: str


#: By what brings somebody here.
GROUPS = {
    "daily": {
        "init": Verb(
            brief="propose a policy for this repository",
            text="propose a policy for this repository",
            example="tenure init --print",
        ),
        "done": Verb(
            brief="prove that this commit meets the policy",
            text="prove that this commit meets the policy, whoever stalls or dies meanwhile",
            example="tenure done --wait 90s",
        ),
        "check": Verb(
            brief="run jobs on the files as they are, committed or not",
            text="run jobs on the files as they are, so that done reuses what they returned after the commit",
            example="tenure check test",
        ),
        "fix": Verb(
            brief="run the fix jobs until they change nothing any more",
            text="run the fix jobs until they change nothing any more",
            example="tenure fix",
        ),
        "standards": Verb(
            brief="measure the standards of this commit",
            text="measure the standards of this commit, running only the jobs they take",
            example="tenure standards --onto main",
        ),
    },
    "looking": {
        "status": Verb(
            brief="what is known about this checkout, and what is running",
            text="what is known about this checkout, and which runs are under way",
            example="tenure status",
        ),
        "proof": Verb(
            brief="show the Proof; also `proof export`, `verify` and `drop`",
            text="show the Proof of this commit; export, verify and drop are verbs with options of their own",
            example="tenure proof",
        ),
        "proof export": Verb(
            brief="",
            text="write a Proof as a bundle of in-toto statements, to be verified anywhere",
            example="tenure proof export -o proof.jsonl",
        ),
        "proof verify": Verb(
            brief="",
            text="say whether a bundle proves a commit, from git and the file alone",
            example="tenure proof verify proof.jsonl --commit v1.2 --onto main",
        ),
        "proof drop": Verb(
            brief="",
            text="drop a receipt, what a job once returned, by its id: it is never reused, and every "
            "Proof that rests on it is void",
            example='tenure proof drop 3e12bfe3a38f --reason "the disk was full"',
        ),
        "explain": Verb(
            brief="whether a job's result would be reused now, and why",
            text="whether a job's result would be reused now, and what that depends on",
            example="tenure explain test",
        ),
        "runs": Verb(
            brief="list runs, newest first",
            text="list runs, newest first",
            example="tenure runs --limit 5",
        ),
        "follow": Verb(
            brief="follow a run until it ends",
            text="follow a run until it ends",
            example="tenure follow b4f8b9",
        ),
    },
    "clearing": {
        "cancel": Verb(
            brief="ask a run to end",
            text="ask a run to end",
            example='tenure cancel --reason "wrong branch"',
        ),
        "recover": Verb(
            brief="retire what lapsed or died, and what the dead left behind",
            text="retire what lapsed or died, and kill what the dead left behind",
            example="tenure recover",
        ),
        "gc": Verb(
            brief="remove what no kept Proof rests on and nothing needs",
            text="remove records and files that no kept Proof rests on and nothing needs any more",
            example="tenure gc --older-than 7d --dry-run",
        ),
        "doctor": Verb(
            brief="check whether this place is fit for a gate",
            text="check whether this place is fit for a gate, and say what is not",
            example="tenure doctor --inputs test",
        ),
    },
    "agents": {
        "hook": Verb(
            brief="answer a coding agent's Stop hook, or git's pre-push",
            text="answer a coding agent's Stop hook, or git's pre-push, in its own form. It is called by "
            "that tool: what happened comes on standard input, from an agent as JSON, from git a "
            "line for each ref",
            example="tenure hook claude-code --wait 90s",
        ),
        "mcp": Verb(
            brief="serve the gate to an agent, as MCP tools",
            text="serve the gate to an agent, as tools of the Model Context Protocol. It speaks on "
            "standard input and output, and is started by the agent",
            example="tenure mcp",
        ),
        "sessions": Verb(
            brief="look into a runtime's session store",
            text="look into a runtime's session store: list, show, cancel a turn",
            example="tenure sessions show chat-1 --store sqlite:///agents.db",
        ),
    },
}

#: All of them, by name.
VERBS = {name: verb for group in GROUPS.values() for name, verb in group.items()}

#: Those that answer in a form of whoever calls, so that `--json` is refused.
IN_A_FORM_OF_ITS_OWN = ("hook", "mcp")
