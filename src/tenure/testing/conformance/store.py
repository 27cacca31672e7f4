"""The law book of stores: what `tenure.kernel.store` says of transactions and rows."""

import msgspec
import pytest

from tenure.kernel import attempt as attempts
from tenure.kernel import lane as lanes
from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.errors import RevisionConflict, StoreBusy, StoreUnavailable
from tenure.kernel.lane import LaneRecord
from tenure.kernel.store import Transaction
from tenure.kernel.takeover import Takeover
from tenure.testing.conformance.backend import IMPATIENT, Backend
from tenure.testing.conformance.requests import (
    GONE,
    LANE,
    REPOSITORY,
    acquire_request,
    bind_request,
    publication,
)


class Crash(Exception):
    """What a block raises when it fails on its own account."""


class StoreLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def attempt(self, backend: Backend, name: str, sequence: int) -> AttemptRecord:
        """A bound attempt, not stored."""
        return attempts.begin(bind_request(name, subject=name), sequence, backend.clock.now())

    def lane(self, backend: Backend) -> LaneRecord:
        """A held lane, not stored."""
        return lanes.acquire(None, acquire_request("ann"), None, backend.clock.now()).record

    def _write_and_crash(self, backend: Backend, tx: Transaction) -> None:
        tx.attempts.insert(self.attempt(backend, "ann", 1))
        tx.lanes.insert(self.lane(backend))
        tx.claims.insert(publication())
        raise Crash

    def test_s4_a_block_that_raises_leaves_nothing(self, backend: Backend) -> None:
        database = backend.open()
        with pytest.raises(Crash), database.write() as tx:
            self._write_and_crash(backend, tx)
        with database.read() as tx:
            assert tx.attempts.read("ann-attempt") is None
            assert tx.lanes.read(LANE) is None
            assert tx.claims.read("published") is None

    def test_a_block_that_raised_leaves_the_handle_usable(self, backend: Backend) -> None:
        database = backend.open()
        with pytest.raises(Crash), database.write():
            raise Crash
        with database.write() as tx:
            tx.claims.insert(publication())
        with database.read() as tx:
            assert tx.claims.read("published") == publication()

    def test_a_refused_write_inside_a_block_spares_the_rest_of_it(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            tx.claims.insert(publication("first"))
            with pytest.raises(RevisionConflict):
                tx.claims.insert(publication("first"))
            tx.claims.insert(publication("second"))
        with database.read() as tx:
            assert tx.claims.read("first") is not None
            assert tx.claims.read("second") is not None

    def test_what_was_committed_is_there_for_every_handle(self, backend: Backend) -> None:
        first, second = backend.open(), backend.open()
        with first.write() as tx:
            tx.claims.insert(publication())
        with second.read() as tx:
            assert tx.claims.read("published") == publication()
        first.close()
        with backend.open().read() as tx:
            assert tx.claims.read("published") == publication()

    def test_one_writer_at_a_time_and_the_others_are_told_busy(self, backend: Backend) -> None:
        rival = backend.open(IMPATIENT)
        with backend.open().write() as tx:
            tx.claims.insert(publication("mine"))
            with pytest.raises(StoreBusy), rival.write() as theirs:
                theirs.claims.insert(publication("theirs"))
        with rival.write() as theirs:
            assert theirs.claims.read("mine") is not None
            assert theirs.claims.read("theirs") is None

    def test_a_writer_excludes_others_before_it_wrote_anything(self, backend: Backend) -> None:
        rival = backend.open(IMPATIENT)
        with backend.open().write() as tx:
            tx.claims.read("published")
            with pytest.raises(StoreBusy), rival.write():
                pytest.fail("two writers are inside")

    def test_a_reader_sees_one_moment_whatever_is_written_meanwhile(self, backend: Backend) -> None:
        reader, writer = backend.open(), backend.open()
        with reader.read() as view:
            assert view.claims.read("published") is None
            with writer.write() as tx:
                tx.claims.insert(publication())
                tx.lanes.insert(self.lane(backend))
            assert view.claims.read("published") is None
            assert view.lanes.read(LANE) is None
        with reader.read() as view:
            assert view.claims.read("published") == publication()

    def test_a_writer_sees_its_own_writes_and_nobody_else_does(self, backend: Backend) -> None:
        reader = backend.open()
        with backend.open().write() as tx:
            tx.claims.insert(publication())
            assert tx.claims.read("published") == publication()
            with reader.read() as view:
                assert view.claims.read("published") is None

    def test_a_closed_handle_refuses_and_closes_again(self, backend: Backend) -> None:
        database = backend.open()
        database.close()
        database.close()
        with pytest.raises(StoreUnavailable), database.write():
            pytest.fail("it is closed")

    def test_attempts_come_back_as_they_were_written(self, backend: Backend) -> None:
        now = backend.clock.now()
        bound = self.attempt(backend, "ann", 1)
        strange = msgspec.structs.replace(bound.evidence, lock_path="/tmp/ü 'quoted' \"twice\"\n")
        records = [
            bound,
            msgspec.structs.replace(
                self.attempt(backend, "bob", 2), outcome="passed", settled_at=now
            ),
            attempts.join(bind_request("cyd"), 3, bound.id, now),
            msgspec.structs.replace(
                self.attempt(backend, "dot", 4),
                outcome="cancelled",
                retired=Takeover(by="eve-run", at=now, licence=GONE),
                evidence=strange,
            ),
        ]
        database = backend.open()
        with database.write() as tx:
            for record in records:
                tx.attempts.insert(record)
        with database.read() as tx:
            assert [tx.attempts.read(record.id) for record in records] == records

    def test_lanes_and_claims_come_back_as_they_were_written(self, backend: Backend) -> None:
        database = backend.open()
        lane = self.lane(backend)
        released = msgspec.structs.replace(lane, id="released", lease=None)
        deleted = msgspec.structs.replace(released, id="deleted", deleted=True)
        finished = msgspec.structs.replace(publication("finished"), finished=True)
        with database.write() as tx:
            for record in (lane, released, deleted):
                tx.lanes.insert(record)
            for row in (publication(), finished):
                tx.claims.insert(row)
        with database.read() as tx:
            assert tx.lanes.read(LANE) == lane
            assert tx.lanes.read("released") == released
            assert tx.lanes.read("deleted") == deleted
            assert tx.claims.read("published") == publication()
            assert tx.claims.read("finished") == finished

    def test_a_write_over_another_revision_is_refused(self, backend: Backend) -> None:
        database = backend.open()
        attempt, lane, row = self.attempt(backend, "ann", 1), self.lane(backend), publication()
        with database.write() as tx:
            tx.attempts.insert(attempt)
            tx.lanes.insert(lane)
            tx.claims.insert(row)
        with database.write() as tx:
            for expected in (0, 2):
                with pytest.raises(RevisionConflict):
                    tx.attempts.replace(
                        msgspec.structs.replace(attempt, run="other"), expected=expected
                    )
                with pytest.raises(RevisionConflict):
                    tx.lanes.replace(msgspec.structs.replace(lane, generation=9), expected=expected)
                with pytest.raises(RevisionConflict):
                    tx.claims.replace(msgspec.structs.replace(row, claim="x"), expected=expected)
        with database.read() as tx:
            assert tx.attempts.read(attempt.id) == attempt
            assert tx.lanes.read(LANE) == lane
            assert tx.claims.read("published") == row

    def test_what_is_not_there_cannot_be_replaced(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            with pytest.raises(RevisionConflict):
                tx.attempts.replace(self.attempt(backend, "ann", 1), expected=1)
            with pytest.raises(RevisionConflict):
                tx.lanes.replace(self.lane(backend), expected=1)
            with pytest.raises(RevisionConflict):
                tx.claims.replace(publication(), expected=1)

    def test_an_id_is_stored_once(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            tx.attempts.insert(self.attempt(backend, "ann", 1))
            tx.lanes.insert(self.lane(backend))
            with pytest.raises(RevisionConflict):
                tx.attempts.insert(
                    msgspec.structs.replace(self.attempt(backend, "ann", 2), subject="other")
                )
            with pytest.raises(RevisionConflict):
                tx.lanes.insert(self.lane(backend))

    def test_a_subject_has_one_unfinished_attempt_whoever_writes(self, backend: Backend) -> None:
        database = backend.open()
        ann = self.attempt(backend, "ann", 1)
        bob = msgspec.structs.replace(self.attempt(backend, "bob", 2), subject=ann.subject)
        with database.write() as tx:
            tx.attempts.insert(ann)
            with pytest.raises(RevisionConflict):
                tx.attempts.insert(bob)
            tx.attempts.insert(msgspec.structs.replace(bob, repository="another"))
            ended = msgspec.structs.replace(
                ann, revision=2, outcome="passed", settled_at=backend.clock.now()
            )
            tx.attempts.replace(ended, expected=1)
            tx.attempts.insert(msgspec.structs.replace(bob, id="third", sequence=3))

    def test_a_place_in_the_sequence_is_given_once(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            tx.attempts.insert(self.attempt(backend, "ann", 1))
            with pytest.raises(RevisionConflict):
                tx.attempts.insert(self.attempt(backend, "bob", 1))

    def test_sequences_count_from_one_in_each_repository(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            assert tx.attempts.next_sequence(REPOSITORY) == 1
            tx.attempts.insert(self.attempt(backend, "ann", 1))
            tx.attempts.insert(self.attempt(backend, "bob", 2))
            assert tx.attempts.next_sequence(REPOSITORY) == 3
            assert tx.attempts.next_sequence("another") == 1

    def test_unfinished_attempts_are_listed_by_sequence(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            for name, sequence in (("ann", 10), ("bob", 9), ("cyd", 11)):
                tx.attempts.insert(self.attempt(backend, name, sequence))
            bob = self.attempt(backend, "bob", 9)
            ended = msgspec.structs.replace(
                bob, revision=2, outcome="failed", settled_at=backend.clock.now()
            )
            tx.attempts.replace(ended, expected=1)
            listed = tx.attempts.unfinished(REPOSITORY)
            assert [record.id for record in listed] == ["ann-attempt", "cyd-attempt"]
            assert tx.attempts.unfinished("another") == []

    def test_claims_are_found_by_claim_and_by_lane(self, backend: Backend) -> None:
        database = backend.open()
        with database.write() as tx:
            for work in ("b", "a"):
                tx.claims.insert(publication(work))
            done = msgspec.structs.replace(publication("c"), finished=True)
            tx.claims.insert(done)
            tx.claims.insert(msgspec.structs.replace(publication("d"), claim="x", lane="x"))
            carried = [row.work for row in tx.claims.claimed_by("publication")]
            assert carried == ["a", "b", "c"]
            assert [row.work for row in tx.claims.open_in("nobody's")] == ["a", "b"]
            tx.claims.remove(["a", "never claimed"])
            assert tx.claims.read("a") is None
            assert [row.work for row in tx.claims.claimed_by("publication")] == ["b", "c"]
