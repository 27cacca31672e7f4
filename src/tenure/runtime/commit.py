"""The commit of a turn: one transaction, asked as often as need be, done once.

Order matters and is the order below. The receipt is looked up first, so that a repeated
commit is answered even after everything else has moved on.
"""

from collections.abc import Sequence
from functools import cached_property

import msgspec

from tenure.kernel import ledger
from tenure.kernel.fence import Fence
from tenure.kernel.points import point
from tenure.kernel.store import Transaction
from tenure.runtime.admission import admit, free_inputs_of, free_what_was_left_out, present
from tenure.runtime.driving import let_go
from tenure.runtime.errors import (
    BudgetBreached,
    CommitConflict,
    HeadConflict,
    TurnCancelRequested,
    TurnMissing,
)
from tenure.runtime.machine.draft import Draft
from tenure.runtime.model.effect import Outcome
from tenure.runtime.model.json import canonical, digest, plain
from tenure.runtime.model.message import AssistantMessage, UserMessage
from tenure.runtime.model.turn import CommitBudget, TurnEnd, TurnRecord, TurnResult
from tenure.runtime.model.usage import Usage
from tenure.runtime.model.work import NewWork, Wake, due
from tenure.runtime.retelling import order_of
from tenure.runtime.store import RuntimeRows
from tenure.runtime.waits import revoke


class CommitRequest(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """Everything a commit says. `fence` is only for letting the lane go; it does not guard."""

    turn: str
    session: str
    head: int  #: the session's head when the turn was loaded
    claim: str
    draft: Draft
    fence: Fence | None = None
    budget: CommitBudget | None = CommitBudget()  #: None for a draft that was cut already

    @cached_property
    def receipt(self) -> str:
        """The hash that a repeated commit is recognised by."""
        return digest("commit", [self.turn, self.draft])


def commit(
    tx: Transaction,
    rows: RuntimeRows,
    request: CommitRequest,
    wall_ns: int,
    outcomes: Sequence[tuple[str, Outcome]] = (),
) -> TurnResult:
    """Commit a turn, the last of whose `outcomes` are not in its journal. Asked again, the same
    result.

    Raises:
        TurnMissing: it was never started.
        CommitConflict: it is committed with other content.
        ClaimSuperseded: somebody else took the turn over, or it was handed back.
        HeadConflict: the session is not where the turn began.
        TurnCancelRequested: its end was asked for; commit a cancelled draft.
        BudgetBreached: it is too large; commit a stopped draft.
    """
    session = present(rows, request.session)
    turn = rows.turn(request.turn)
    if turn is None:
        raise TurnMissing(turn=request.turn)
    if turn.over:
        if turn.receipt != request.receipt:
            raise CommitConflict(turn=turn.id)
        return result_of(rows, turn)
    point("commit:read")
    ledger.close_claim(tx, request.claim, [turn.work])
    if session.head != request.head or session.open_turn != turn.id:
        raise HeadConflict(session=session.id, expected=request.head, now=session.head)
    reason = rows.cancel_marker(turn.id)
    if reason is not None and request.draft.status != "cancelled":
        raise TurnCancelRequested(turn=turn.id, reason=reason)
    _within(request)
    return _write(tx, rows, request, turn, wall_ns, outcomes)


def _within(request: CommitRequest) -> None:
    if request.budget is None:
        return
    messages = request.draft.messages
    rows = len(messages) + len(request.draft.outbox)
    if rows > request.budget.rows:
        raise BudgetBreached(turn=request.turn, found=rows, what="rows", limit=request.budget.rows)
    size = sum(len(canonical(message)) for message in (*messages, *request.draft.outbox))
    if size > request.budget.bytes:
        raise BudgetBreached(
            turn=request.turn, found=size, what="bytes", limit=request.budget.bytes
        )


def _write(
    tx: Transaction,
    rows: RuntimeRows,
    request: CommitRequest,
    turn: TurnRecord,
    wall_ns: int,
    outcomes: Sequence[tuple[str, Outcome]],
) -> TurnResult:
    draft = request.draft
    session = present(rows, request.session)
    order = order_of(rows, session, turn.id, draft.messages, outcomes)
    end = _end(draft, session.head, order)
    rows.put_session(msgspec.structs.replace(session, head=end.head, open_turn=None))
    ended = msgspec.structs.replace(
        turn, receipt=request.receipt, committed_wall_ns=wall_ns, end=end, claim=None
    )
    free_what_was_left_out(rows, session.id, turn.id, turn.program, draft.accepted)
    revoke(rows, rows.waits_of_turn(turn.id), "its turn is over", wall_ns)
    rows.end_turn(ended, draft.messages)
    _complete(rows, [turn.work, *draft.accepted])
    free_inputs_of(rows, session.id, turn.id, turn.program)
    _send(rows, turn.id, draft.outbox, wall_ns)
    if request.fence is not None:
        let_go(tx, request.fence)
    return _result(turn, end, draft.text)


def _send(rows: RuntimeRows, turn: str, outbox: Sequence[Wake], wall_ns: int) -> None:
    """Admit what the turn says to others. A session that is gone needs no waking."""
    for number, wake in enumerate(outbox):
        there = rows.session(wake.session)
        if there is None or there.deleted:
            continue
        work = NewWork(
            id=digest("wake", [turn, number]),
            session=wake.session,
            content=plain(UserMessage(text=wake.text)),
            kind="queued",
            available_at=due(wall_ns, wake.delay),
        )
        admit(rows, work, None, "wait")


def _end(draft: Draft, head: int, order: str) -> TurnEnd:
    """How the turn ends. Its text is in a message already, unless a protocol says otherwise."""
    number = head + len(draft.messages)
    for message in reversed(draft.messages):
        if not draft.text or (isinstance(message, AssistantMessage) and message.text == draft.text):
            break
        number -= 1
    said = bool(draft.text) and number > head
    return TurnEnd(
        status=draft.status,
        head=head + len(draft.messages),
        text_at=number if said else None,
        text="" if said else draft.text,
        output=draft.output,
        reason=draft.reason,
        usage=msgspec.structs.astuple(draft.usage),
        order=order,
    )


def result_of(rows: RuntimeRows, turn: TurnRecord) -> TurnResult:
    """What a committed turn returned."""
    end = turn.end
    assert end is not None, "it is committed"
    if end.text_at is None:
        return _result(turn, end, end.text)
    (said,) = rows.messages(turn.session, end.text_at - 1, 1)
    return _result(turn, end, said.text if isinstance(said, AssistantMessage) else "")


def _result(turn: TurnRecord, end: TurnEnd, text: str) -> TurnResult:
    return TurnResult(
        turn=turn.id,
        session=turn.session,
        status=end.status,
        text=text,
        output=end.output,
        reason=end.reason,
        usage=Usage(**dict(zip(Usage.__struct_fields__, end.usage, strict=False))),
    )


def _complete(rows: RuntimeRows, work: Sequence[str]) -> None:
    for item in work:
        row = rows.work(item)
        assert row is not None, "a turn's work exists"
        rows.put_work(msgspec.structs.replace(row, state="completed"))
