"""What the runtime refuses. Each is a `TenureError`; what cannot be known is the kernel's *Doubt*.

RuntimeFault
├── SessionMissing         no such session: create it, or check the store
├── SessionDeleted         the id was used and deleted: use another id
├── SessionBusy            a turn is open or waiting: ask with on_busy="wait", or later
├── SessionStillInUse      other handles are in use: end them first; this one stays usable
├── HostMismatch           it belongs to another kind of effect host: use that
├── AgentUnknown           no such agent is registered in this process: register it
├── WorkConflict           the same key with other content: use another key
├── TurnMissing            no such turn was admitted here: check the store
├── CursorUnknown          it is no place in that turn: observe from the start, or check the turn
├── TurnNotOver            admitted and not committed: drive, or wait
├── TurnStopped            it ended without an answer: read its reason, ask again
├── TurnCancelRequested    somebody asked for its end: commit it as cancelled
├── HeadConflict           the session moved on: load again
├── CommitConflict         committed with other content: use that result
├── ReplayMismatch         the journal has another request: the program changed in a turn
├── PartFailed             a part of a tool call raised: handle it, or let it be the result
├── PartInDoubt            a part was started by somebody else: find out before you repeat it
├── BudgetBreached         a commit beyond its budget: the lever is CommitBudget
├── WaitKeyUnknown         no wait of this store has that key: check the key, and the store
├── BlobMissing            an attachment's bytes were never stored: put them first
├── ProviderError          the model gave no answer: `retryable` says whether to ask again
│   └── StreamCut          the stream ended without its terminator: not a success
├── McpUnavailable         a server of tools cannot be reached: see what it said last, and open again
├── HandleClosed           the handle was parked or closed: open or resume another
├── RuntimeClosed          the runtime was closed: make another; what was admitted is in the store
└── WiringError            something is wrong in how the host put it together: fix it
"""

from tenure.kernel.errors import TenureError


class RuntimeFault(TenureError):
    """The root of the runtime's own errors."""


class SessionMissing(RuntimeFault):
    """There is no such session."""

    template = "there is no session {session!r}; create it, or check which store this is"


class SessionDeleted(RuntimeFault):
    """The session was deleted. Ids are used once."""

    template = "session {session!r} was deleted and its id is not used again; use another id"


class SessionBusy(RuntimeFault):
    """A turn is open or work is waiting; nothing was admitted."""

    template = "session {session!r} is busy with {what}; ask again later, or with on_busy='wait'"


class SessionStillInUse(RuntimeFault):
    """Other live handles exist. This handle stays as it was."""

    template = (
        "session {session!r} has {handles} other open handles, and this one waits for {turns} "
        "turns; end them first"
    )


class HostMismatch(RuntimeFault):
    """The session belongs to another kind of effect host."""

    template = "session {session!r} belongs to the host {recorded!r}, not {here!r}; drive it there"


class AgentUnknown(RuntimeFault):
    """No agent of that name is registered in this process."""

    template = "no agent {agent!r} is registered here; register it before this session is used"


class WorkConflict(RuntimeFault):
    """The same idempotency key, with other content. Nothing was admitted."""

    template = "key {key!r} was used in session {session!r} with other content; use another key"


class TurnMissing(RuntimeFault):
    """No such turn was admitted."""

    template = "there is no turn {turn!r} in this store"


class CursorUnknown(RuntimeFault):
    """No observation of the turn has shown that cursor. Nothing was shown."""

    template = "{cursor!r} is no cursor of turn {turn!r}: {what}; observe from the start instead"


class TurnNotOver(RuntimeFault):
    """The turn is admitted and not committed yet."""

    template = "turn {turn!r} is admitted and not committed yet; drive it, or wait for its driver"


class TurnStopped(RuntimeFault):
    """The turn is committed, and has no answer."""

    template = "turn {turn!r} ended as {status} without an answer: {reason}"


class TurnCancelRequested(RuntimeFault):
    """Somebody asked for the turn's end before it was committed."""

    template = "turn {turn!r} was asked to end ({reason}); commit it as cancelled"


class HeadConflict(RuntimeFault):
    """The session moved on since it was loaded. Nothing was changed."""

    template = "session {session!r} is at {now}, not at {expected}; load it again"


class CommitConflict(RuntimeFault):
    """The turn is committed already, with other content."""

    template = "turn {turn!r} is committed already with other content; use its result"


class ReplayMismatch(RuntimeFault):
    """The journal has another request under this key."""

    template = (
        "effect {key} of turn {turn!r} was journaled for another request; "
        "the turn's code or program changed in the middle of it"
    )


class PartFailed(RuntimeFault):
    """A part of a tool call raised. It is recorded, and not tried again."""

    template = "part {part!r} failed: {what}"


class PartInDoubt(RuntimeFault):
    """Somebody else started a part of a tool call, and did not record what came of it."""

    template = (
        "part {part!r} of turn {turn!r} was started, and whether it took effect is unknown; "
        "find out before it is repeated"
    )


class BudgetBreached(RuntimeFault):
    """A commit beyond its budget. Nothing was changed."""

    template = (
        "the commit of turn {turn!r} has {found} {what}, {limit} are allowed; see CommitBudget"
    )


class WaitKeyUnknown(RuntimeFault):
    """No wait of this store has that key. Nothing was answered."""

    template = "{key!r} is no key of a wait in this store; check the key, and which store this is"


class BlobMissing(RuntimeFault):
    """An attachment's bytes are not in the store."""

    template = "the content {digest} of an attachment is not stored; put it before it is used"


class ProviderError(RuntimeFault):
    """The model gave no answer. Fields: `retryable`, and `retry_after` in seconds or None."""

    template = "{provider}: {what}"


class StreamCut(ProviderError):
    """The stream ended without its terminator. What came is not an answer."""

    template = "{provider}: the stream was cut off before its end"


class McpUnavailable(RuntimeFault):
    """A server of tools could not be reached. `last` is what it said last."""

    template = (
        "MCP server {server!r} cannot be reached: {what}; it said last: {last}; "
        "mend that, and open the pool again"
    )


class HandleClosed(RuntimeFault):
    """The handle was parked or closed."""

    template = "this handle of session {session!r} was {how}; open or resume another"


class RuntimeClosed(RuntimeFault):
    """The runtime's store was closed. What was admitted is still in it."""

    template = "this runtime was closed; make another on the same store to go on"


class WiringError(RuntimeFault):
    """Something is missing or wrong in how the host put the runtime together."""

    template = "{what}; {next}"
