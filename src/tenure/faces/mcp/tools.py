"""The tools: what each takes, which command it is, and what that answers."""

from typing import Annotated, Any

import msgspec

from tenure.faces.mcp import answers

#: Clients give up on a silent call after a minute, so less than that is waited for.
WAIT = "50s"

_Wait = Annotated[
    str,
    msgspec.Meta(
        description="how long to wait (50s, 10m); the run goes on, and is then followed",
        pattern="^[0-9.dhms]+$",
    ),
]


class _Where(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    directory: Annotated[
        str, msgspec.Meta(description="a directory in the checkout; default: the server's own")
    ] = "."

    def words(self) -> list[str]:
        """The command line after the verb."""
        return ["-C", self.directory]


class DoneInput(_Where, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `done` takes. That a change of policy is accepted is for a person to say, not here."""

    wait: _Wait = WAIT
    rerun: Annotated[bool, msgspec.Meta(description="run every job, reuse nothing")] = False

    def words(self) -> list[str]:
        """The command line after the verb."""
        again = ["--rerun"] if self.rerun else []
        return [*super().words(), "--events", "--wait", self.wait, *again]


class FollowInput(_Where, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `follow` takes."""

    wait: _Wait = WAIT
    run: Annotated[
        str, msgspec.Meta(description="id of the run, or its first letters; default: the one here")
    ] = ""

    def words(self) -> list[str]:
        """The command line after the verb."""
        run = ["--", self.run] if self.run else []
        return [*super().words(), "--events", "--wait", self.wait, *run]


class StandardsInput(DoneInput, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `standards` takes. Limits are pinned by the command alone."""

    names: Annotated[tuple[str, ...], msgspec.Meta(description="the standards; default: all")] = ()

    def words(self) -> list[str]:
        """The command line after the verb."""
        return [*super().words(), "--", *self.names]


class ExplainInput(_Where, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `explain` takes."""

    jobs: Annotated[tuple[str, ...], msgspec.Meta(description="the jobs; default: all")] = ()

    def words(self) -> list[str]:
        """The command line after the verb."""
        return [*super().words(), "--", *self.jobs]


class StatusInput(_Where, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What `status` takes."""


class Offered(msgspec.Struct, frozen=True, kw_only=True):
    """One tool."""

    name: str  #: of the tool, and of the command
    title: str
    description: str
    takes: type[_Where]
    answers: type[answers.Envelope]
    reads: bool = True  #: it starts nothing and writes nothing

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments."""
        return answers.schema_of(self.takes)

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of the answer."""
        return answers.schema_of(self.answers)

    def command(self, arguments: dict[str, Any]) -> list[str]:
        """The command line that a call asks for.

        Raises:
            msgspec.ValidationError: the arguments are not what the schema says.
        """
        return [self.name, "--json", *msgspec.convert(arguments, self.takes).words()]


TOOLS = (
    Offered(
        name="done",
        title="Prove this commit",
        description=(
            "Prove that the commit checked out here meets the project's policy. `ok` is true only "
            "with a Proof. Commit first: it is the commit that is judged. Outcome `running` is no "
            "verdict: the run goes on, whatever becomes of this call; `follow` it, then ask again. "
            "`report.failures` has the last lines of each failing job, its log, and a command "
            "that reproduces it."
        ),
        takes=DoneInput,
        answers=answers.Done,
        reads=False,
    ),
    Offered(
        name="follow",
        title="Follow a run",
        description="Wait for a run to end, whoever started it, and say how it ended.",
        takes=FollowInput,
        answers=answers.Followed,
    ),
    Offered(
        name="explain",
        title="Explain what a job depends on",
        description=(
            "Whether each job's last result would be reused on the files as they are, and if not, "
            "what differs from the nearest result there is, by name and value. Runs no job."
        ),
        takes=ExplainInput,
        answers=answers.Explained,
    ),
    Offered(
        name="status",
        title="Look at this checkout",
        description=(
            "Whether the checkout is its commit, whether there is a Proof of its tree, and which "
            "runs are under way. Starts nothing; whether a Proof answers today's question is for "
            "`done` to say."
        ),
        takes=StatusInput,
        answers=answers.Status,
    ),
    Offered(
        name="standards",
        title="Measure the standards",
        description=(
            "Measure the numbers that the policy holds to a limit, running only the jobs they are "
            "read from. On a clean checkout the commit is measured, else the files as they are. "
            "`done` requires them all; this says how far off they are."
        ),
        takes=StandardsInput,
        answers=answers.Measured,
        reads=False,
    ),
)

BY_NAME = {tool.name: tool for tool in TOOLS}
