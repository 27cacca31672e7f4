"""The session store: each method is one transaction, values in, values out.

Every method may be called again after its answer was lost: ids, tokens and claim ids are
minted by the caller, and a repetition is answered like the first call.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

import msgspec

from tenure.kernel import ledger
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.clock import Clock, Instant
from tenure.kernel.fence import Fence
from tenure.kernel.identity import LeaseOwnerIdentity
from tenure.kernel.lane import Acquired, AcquireRequest, LaneRecord, lapse
from tenure.kernel.store import Database, Transaction
from tenure.kernel.takeover import Licence
from tenure.runtime import admission, driving, retelling, waits
from tenure.runtime.admission import OnBusy
from tenure.runtime.commit import CommitRequest, commit, result_of
from tenure.runtime.driving import Assignment, HandedBack
from tenure.runtime.errors import TurnMissing, TurnNotOver
from tenure.runtime.model.effect import Effect, Journaled, Outcome
from tenure.runtime.model.json import Json
from tenure.runtime.model.message import Message
from tenure.runtime.model.program import Program
from tenure.runtime.model.session import HostKind, SessionRecord
from tenure.runtime.model.turn import TurnRecord, TurnResult
from tenure.runtime.model.work import NewWork, WorkKind, WorkRow, is_turn, turn_of, work_of
from tenure.runtime.retelling import Look
from tenure.runtime.store import RuntimeRows
from tenure.runtime.wait_store import WaitStore

T = TypeVar("T")

#: Owners that an operator declared gone, and on which evidence.
Gone = Mapping[LeaseOwnerIdentity, str]
_NOBODY: Gone = {}


class Entered(msgspec.Struct, frozen=True, kw_only=True):
    """A lane acquired for a session, and which of this executor's claims are still open."""

    acquired: Acquired
    open_claims: tuple[ClaimRecord, ...]

    @property
    def fence(self) -> Fence:
        """What the holder presents."""
        return self.acquired.fence


class DrainStatus(msgspec.Struct, frozen=True, kw_only=True):
    """What is not at rest, of one page of sessions.

    `next` is what to pass as `after` for the page that follows, None for the last one.
    """

    open_turns: tuple[TurnRecord, ...]  #: their `claim` says whether somebody has them
    pending: tuple[WorkRow, ...]
    lanes: tuple[LaneRecord, ...]
    in_doubt: tuple[tuple[str, str], ...]  #: turn and effect key: started, and not recorded
    next: str | None = None


class SessionStore(WaitStore):
    """Sessions of one store. What a method raises is what the transition it names raises."""

    def close(self) -> None:
        """Let go of the store. Idempotent."""
        self.database.close()

    def beside(
        self, kind: Callable[[Database, Callable[[Transaction], RuntimeRows], Clock], T]
    ) -> T:
        """A store of another kind over the same database, called where this one is."""
        return kind(self.database, self._rows, self._clock)

    # admission

    def create(self, wanted: SessionRecord) -> SessionRecord:
        """Create a session, or answer with the one that is there."""
        with self._writing("create") as tx:
            return admission.create(self._rows(tx), wanted)

    def session(self, session: str) -> SessionRecord:
        """One session. Raises SessionMissing, SessionDeleted."""
        with self.database.read() as tx:
            return admission.present(self._rows(tx), session)

    def admit(self, new: NewWork, program: Program | None, on_busy: OnBusy = "wait") -> WorkRow:
        """Admit work; see `admission.admit`."""
        with self._writing("admit") as tx:
            return admission.admit(self._rows(tx), new, program, on_busy)

    def cancel_work(self, work: str) -> WorkRow | None:
        """Take back work that nothing has started on; the row as it is now."""
        with self._writing("cancel_work") as tx:
            return admission.cancel_work(self._rows(tx), work, self._clock.now().wall_ns)

    def cancel_turn(self, turn: str, reason: str) -> str | None:
        """Ask for a turn's end, also before it exists; the reason that counts, None if it is over."""
        with self._writing("cancel_turn") as tx:
            rows = self._rows(tx)
            known = rows.turn(turn)
            if known is not None and known.over:
                return None
            if known is not None and known.waits:
                waits.go_on(rows, known, self._clock.now().wall_ns)
            return rows.mark_cancelled(turn, reason)

    def configure(self, session: str, settings: dict[str, Json]) -> SessionRecord:
        """Replace a session's settings."""
        with self._writing("configure") as tx:
            rows = self._rows(tx)
            found = admission.present(rows, session)
            changed = msgspec.structs.replace(found, settings=settings)
            rows.put_session(changed)
            return changed

    # the lane

    def enter(self, request: AcquireRequest, gone: Gone = _NOBODY) -> Entered:
        """Acquire a session's lane. Whoever is in `gone` is replaced at once, on that evidence.

        Raises what `lane.acquire` raises, SessionMissing and SessionDeleted.
        """
        with self._writing("enter") as tx:
            got = self._enter(tx, request, gone)
            claims = tx.claims.open_in(request.lane) if got.manner in ("same", "reentry") else []
            mine = [claim for claim in claims if claim.generation == got.fence.generation]
            return Entered(acquired=got, open_claims=tuple(mine))

    def _enter(self, tx: Transaction, request: AcquireRequest, gone: Gone) -> Acquired:
        admission.present(self._rows(tx), request.lane)
        licence = _declared(tx.lanes.read(request.lane), gone) if gone else None
        return ledger.acquire(tx, request, licence, self._clock.now())

    def renew(self, fence: Fence) -> LaneRecord:
        """Renew a session's lane."""
        with self._writing("renew") as tx:
            return ledger.renew_lane(tx, fence, self._clock.now())

    def leave(self, fence: Fence) -> LaneRecord:
        """Release a session's lane."""
        with self._writing("leave") as tx:
            return ledger.release(tx, fence)

    def lane(self, session: str) -> LaneRecord | None:
        """A session's lane."""
        with self.database.read() as tx:
            return tx.lanes.read(session)

    # driving

    def assign(
        self,
        session: str,
        fence: Fence,
        claim: str,
        host: HostKind,
        program: Program | None = None,
    ) -> Assignment | None:
        """Claim the session's open turn, or open its next one; see `driving.assign`."""
        with self._writing("assign") as tx:
            now = self._clock.now().wall_ns
            return driving.assign(tx, self._rows(tx), session, fence, claim, host, now, program)

    def journal(
        self,
        turn: str,
        fence: Fence,
        outcomes: Sequence[tuple[str, Outcome]],
        intents: Sequence[Effect],
    ) -> None:
        """Record outcomes and the intents that follow; see `driving.journal`."""
        with self._writing("journal") as tx:
            driving.journal(tx, self._rows(tx), turn, fence, outcomes, intents)

    def accept(
        self,
        turn: str,
        fence: Fence,
        outcomes: Sequence[tuple[str, Outcome]],
        boundary: Effect,
        otherwise: Sequence[Effect],
    ) -> Outcome:
        """Record outcomes, take in what waits for a boundary, and if nothing does, intend what
        comes next: all in one transaction."""
        with self._writing("accept") as tx:
            rows = self._rows(tx)
            return driving.accept(tx, rows, turn, fence, outcomes, boundary, otherwise)

    def commit(
        self,
        request: CommitRequest,
        outcomes: Sequence[tuple[str, Outcome]] = (),
        boundary: Effect | None = None,
    ) -> TurnResult | Outcome:
        """Commit a turn over its last boundary, or cross that with the last outcomes and go on.

        If input waited for the boundary, the outcome that takes it in, and no commit. Whoever
        lost the lane and not the claim commits all the same, and takes nothing more in. What is
        committed is in the messages, and needs no outcomes any more.
        """
        with self._writing("commit") as tx:
            rows = self._rows(tx)
            turn = rows.turn(request.turn)
            if boundary is not None and turn is not None and not turn.over:
                taken = driving.crossed(tx, rows, turn, request.fence, outcomes, boundary)
                if taken.value:
                    return taken  # so it has to be answered first
            return commit(tx, rows, request, self._clock.now().wall_ns, outcomes)

    def hand_back(self, turn: str, claim: str, kind: WorkKind | None = None) -> HandedBack:
        """Give a claimed turn back for anybody to drive at once; see `driving.hand_back`.

        With `kind`, a turn of the other kind is unknown.
        """
        with self._writing("hand_back") as tx:
            rows = self._rows(tx)
            if kind is not None and not _of_kind(rows, turn, kind):
                return "unknown"
            return driving.hand_back(tx, rows, turn, claim)

    def hand_back_claim(self, claim: str, fence: Fence) -> None:
        """Give back whatever a claim still has, and let its lane go if it is still held."""
        with self._writing("hand_back") as tx:
            rows = self._rows(tx)
            for row in tx.claims.claimed_by(claim):
                driving.hand_back(tx, rows, turn_of(row.work), claim)
            driving.let_go(tx, fence)

    def hand_back_all(
        self, owner: LeaseOwnerIdentity, kind: WorkKind | None = None
    ) -> dict[str, HandedBack]:
        """Give back every turn that this incarnation of an owner has claimed; what became of each."""
        with self._writing("hand_back_all") as tx:
            rows = self._rows(tx)
            said = {}
            for turn in rows.open_turns(_EVERY):
                lane = tx.lanes.read(turn.session)
                if turn.claim is None or lane is None or lane.executor.owner != owner:
                    continue
                if kind is None or _of_kind(rows, turn.id, kind):
                    said[turn.id] = driving.hand_back(tx, rows, turn.id, turn.claim)
            return said

    # reading

    def messages(self, session: str, after: int = 0, limit: int | None = None) -> list[Message]:
        """Committed messages with a number above `after`. Raises SessionMissing, SessionDeleted."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            admission.present(rows, session)
            return rows.messages(session, after, limit)

    def start_of_turns(self, session: str, turns: int) -> int:
        """The number of messages before the last `turns` turns."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            if turns == 0:
                return admission.present(rows, session).head
            return rows.turn_starts(session, turns)

    def last_turns(self, session: str, turns: int) -> tuple[int, list[Message]]:
        """The messages of the last `turns` turns, and the number of messages before them."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            if turns == 0:
                return admission.present(rows, session).head, []
            after = rows.turn_starts(session, turns)
            return after, rows.messages(session, after, None)

    def result(self, turn: str, session: str | None = None) -> TurnResult:
        """What a committed turn returned. Input that was taken back in time is a cancelled turn.

        Raises: TurnMissing: there is none, or none in that session; TurnNotOver.
        """
        with self.database.read() as tx:
            return _result(self._rows(tx), turn, session)

    def look_at(self, turn: str, session: str | None, known: int) -> Look:
        """What can be told of a turn; see `retelling.look_at`."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            look = retelling.look_at(rows, turn, session, known, lambda: self._key_secret(rows))
            return look if look.over is None else look._replace(result=_result(rows, turn, None))

    def turn(self, turn: str) -> tuple[TurnRecord | None, list[Journaled]]:
        """A turn and its journal."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            return rows.turn(turn), list(rows.journal(turn).values())

    def work(self, work: str) -> WorkRow | None:
        """One row of work."""
        with self.database.read() as tx:
            return self._rows(tx).work(work)

    def waiting(self, session: str) -> list[WorkRow]:
        """What waits in a session, in order."""
        with self.database.read() as tx:
            return self._rows(tx).waiting(session, None)

    def cancel_marker(self, turn: str) -> str | None:
        """Why a turn was asked to end, if it was."""
        with self.database.read() as tx:
            return self._rows(tx).cancel_marker(turn)

    def to_drive(
        self,
        limit: int,
        agents: Collection[str] | None = None,
        host: HostKind | None = None,
        gone: Gone = _NOBODY,
    ) -> list[str]:
        """Sessions with something to drive whose lane is free for a taker, longest waiting first.

        Only those of `agents` and of `host`, if they are given: others are not the taker's to
        drive. However many are being driven already, every other one is found.
        """
        free: list[str] = []
        with self.database.read() as tx:
            rows, now, after, most = self._rows(tx), self._clock.now(), 0, max(limit, _PAGE)
            while len(free) < limit:
                page = rows.sessions_to_drive(now.wall_ns, agents, host, after, most)
                for session, sequence in page:
                    after = sequence
                    if _takeable(tx.lanes.read(session), now, gone):
                        free.append(session)
                if len(page) < most:
                    break
        return free[:limit]

    # housekeeping

    def drain_status(self, limit: int, after: str = "") -> DrainStatus:
        """What is not at rest in at most `limit` sessions, by their ids, those above `after`."""
        with self.database.read() as tx:
            rows = self._rows(tx)
            busy = rows.busy_sessions(after, limit + 1)
            page = busy[:limit]
            opened = [rows.session(session) for session in page]
            ids = [one.open_turn for one in opened if one is not None and one.open_turn is not None]
            turns = [turn for turn_id in ids if (turn := rows.turn(turn_id)) is not None]
            lanes = [lane for session in page if (lane := tx.lanes.read(session)) and lane.held]
            doubt = [
                (turn.id, entry.key)
                for turn in turns
                for entry in rows.journal(turn.id).values()
                if entry.outcome is None
            ]
            return DrainStatus(
                open_turns=tuple(turns),
                pending=tuple(row for session in page for row in rows.waiting(session, limit)),
                lanes=tuple(lanes),
                in_doubt=tuple(doubt),
                next=page[-1] if len(busy) > limit else None,
            )

    def sessions(self, after: str, limit: int) -> list[SessionRecord]:
        """Sessions by id, those above `after`; deleted ones too."""
        with self.database.read() as tx:
            return self._rows(tx).sessions(after, limit)

    def delete(self, fence: Fence) -> None:
        """Delete a session for good, under its lane. Its id is never used again."""
        with self._writing("delete") as tx:
            self._delete(tx, fence)

    def delete_free(self, request: AcquireRequest, gone: Gone = _NOBODY) -> None:
        """Acquire a session's lane and delete the session, together.

        Raises what `enter` raises: LaneBusy while somebody else has it.
        """
        with self._writing("delete") as tx:
            self._delete(tx, self._enter(tx, request, gone).fence)

    def _delete(self, tx: Transaction, fence: Fence) -> None:
        rows = self._rows(tx)
        ledger.delete(tx, fence)
        found = rows.session(fence.record)
        if found is not None and not found.deleted:
            gone = msgspec.structs.replace(found, deleted=True, open_turn=None, settings={})
            rows.put_session(gone)
        tx.claims.remove([row.work for row in tx.claims.open_in(fence.record)])
        rows.remove_sessions([fence.record])

    def vacuum(self, before_wall_ns: int, limit: int) -> int:
        """Drop at most `limit` rows of work that was taken back before; how many.

        What a key stands for stays, and so does everything that was done.
        """
        with self._writing("vacuum") as tx:
            return self._rows(tx).remove_cancelled(before_wall_ns, limit)


_EVERY = 1_000_000
_PAGE = 64  #: candidates looked at together, at least


def _result(rows: RuntimeRows, turn: str, session: str | None) -> TurnResult:
    found, row = rows.turn(turn), rows.work(work_of(turn))
    if row is None or not is_turn(turn) or session not in (None, row.session):
        raise TurnMissing(turn=turn)
    if found is not None and found.over:
        return result_of(rows, found)
    if row.state == "cancelled":
        why = "it was taken back before it started"
        return TurnResult(turn=turn, session=row.session, status="cancelled", reason=why)
    raise TurnNotOver(turn=turn)


def _takeable(lane: LaneRecord | None, now: Instant, gone: Gone) -> bool:
    if lane is None or lane.lease is None:
        return True
    return lapse(lane.lease, now) is not None or _declared(lane, gone) is not None


def _declared(lane: LaneRecord | None, gone: Gone) -> Licence | None:
    """What an operator's word about a lane's holder licenses."""
    if lane is None or not lane.held:
        return None
    evidence = gone.get(lane.executor.owner)
    return None if evidence is None else Licence(ground="declared", evidence=evidence)


def _of_kind(rows: RuntimeRows, turn: str, kind: WorkKind) -> bool:
    row = rows.work(work_of(turn))
    return row is not None and row.kind == kind
