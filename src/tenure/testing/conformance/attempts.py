"""The law book of attempts: held once, finished once."""

import msgspec
import pytest

from tenure.kernel.attempt import AttemptRecord, Outcome
from tenure.kernel.errors import (
    FenceMismatch,
    HoldEnded,
    HoldLost,
    NotLicensed,
    RecordMissing,
    Refused,
    RevisionConflict,
)
from tenure.kernel.fence import Fence
from tenure.kernel.liveness import State
from tenure.kernel.takeover import Licence
from tenure.testing.conformance.backend import Backend, Caller
from tenure.testing.conformance.requests import (
    GONE,
    LAPSED,
    REPOSITORY,
    TTL,
    bind_request,
    evidence,
    foreign,
    publication,
)


class AttemptLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def refuses_everything(self, caller: Caller, fence: Fence, kind: type[Refused]) -> None:
        """Every fenced write is refused, and nothing is changed by it."""
        before = caller.attempt(fence.record)
        with pytest.raises(kind):
            caller.renew(fence)
        with pytest.raises(kind):
            caller.publish(fence, publication())
        with pytest.raises(kind):
            caller.settle(fence, "failed")
        assert caller.attempt(fence.record) == before
        assert caller.work("published") is None

    def retired(self, backend: Backend, caller: Caller, name: str = "ann") -> AttemptRecord:
        """An attempt of `name` that bob retired after it lapsed, as its holder still sees it."""
        record = caller.bind(bind_request(name))
        backend.clock.advance(TTL)
        caller.retire(record, "bob-run", LAPSED)
        return record

    # S1, S3

    @pytest.mark.parametrize("outcome", ["passed", "failed", "cancelled"])
    def test_s1_a_settled_attempt_never_reopens(self, backend: Backend, outcome: Outcome) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        settled = caller.settle(record.fence, outcome)
        assert (settled.outcome, settled.retired) == (outcome, None)
        backend.clock.advance(TTL)
        with pytest.raises(RevisionConflict):
            caller.retire(settled, "bob-run", LAPSED)
        with pytest.raises(RevisionConflict):
            caller.retire(record, "bob-run", GONE)
        with pytest.raises(HoldEnded) as ended:
            caller.renew(record.fence)
        assert ended.value.outcome == outcome
        assert caller.bind(bind_request("ann")) == settled
        assert caller.attempt(record.id) == settled

    def test_s1_another_outcome_does_not_replace_the_first(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        settled = caller.settle(record.fence, "failed")
        with pytest.raises(HoldEnded):
            caller.settle(record.fence, "passed")
        assert caller.attempt(record.id) == settled

    def test_s3_another_token_holds_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        self.refuses_everything(caller, foreign(record.fence), FenceMismatch)

    def test_s3_another_count_of_the_same_secret_holds_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        token = msgspec.structs.replace(record.token, n=2)
        fence = msgspec.structs.replace(record.fence, token=token)
        self.refuses_everything(caller, fence, FenceMismatch)

    @pytest.mark.parametrize("generation", [0, 2])
    def test_s3_another_generation_holds_nothing(self, backend: Backend, generation: int) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        fence = msgspec.structs.replace(record.fence, generation=generation)
        self.refuses_everything(caller, fence, FenceMismatch)

    def test_s3_a_token_of_one_attempt_does_not_hold_another(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.bind(bind_request("ann"))
        bob = caller.bind(bind_request("bob", subject="another"))
        fence = msgspec.structs.replace(ann.fence, record=bob.id)
        self.refuses_everything(caller, fence, FenceMismatch)

    def test_s3_a_name_proves_nothing(self, backend: Backend) -> None:
        """The same worker, run and id with a new token is somebody else."""
        caller = backend.caller()
        request = bind_request("ann")
        record = caller.bind(request)
        again = msgspec.structs.replace(request, token=foreign(record.fence).token)
        with pytest.raises(FenceMismatch):
            caller.bind(again)
        assert caller.attempt(record.id) == record

    # S5

    @pytest.mark.parametrize("away", ["stalled", "asleep", "rebooted"])
    def test_s5_a_lapsed_holder_that_nobody_replaced_goes_on(
        self, backend: Backend, away: str
    ) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        if away == "stalled":
            backend.clock.advance(100 * TTL)
        elif away == "asleep":
            backend.clock.suspend(100 * TTL)
        else:
            backend.clock.reboot()
        now = backend.clock.now()
        assert caller.renew(record.fence).lease.renewed == now
        backend.clock.advance(100 * TTL)
        assert caller.publish(record.fence, publication()) == publication()
        assert caller.settle(record.fence).outcome == "passed"

    def test_s5_a_lapsed_holder_that_binds_again_is_answered(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        backend.clock.advance(100 * TTL)
        assert caller.bind(bind_request("ann")) == record

    # S6

    def test_s6_a_live_hold_is_not_retired_for_silence(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        backend.clock.advance(29.9)
        with pytest.raises(NotLicensed):
            caller.retire(record, "bob-run", LAPSED)
        joined = caller.bind(bind_request("bob"))
        assert (joined.outcome, joined.joined) == ("joined", record.id)
        assert caller.attempt(record.id) == record

    @pytest.mark.parametrize("state", ["running", "unknown"])
    def test_s6_only_an_owner_proven_gone_is_replaced_early(
        self, backend: Backend, state: State
    ) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann", pid=7))
        backend.owners.becomes(state, evidence(7))
        assert caller.bind(bind_request("bob")).joined == record.id

    def test_s6_a_wall_clock_licenses_nothing(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        for step in (3600.0, -7200.0):
            backend.clock.step_wall(step)
            with pytest.raises(NotLicensed):
                caller.retire(record, "bob-run", LAPSED)

    def test_s6_a_machine_that_slept_gives_one_interval_to_renew(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        backend.clock.suspend(100 * TTL)
        backend.clock.advance(9.9)
        assert caller.bind(bind_request("bob")).joined == record.id
        backend.clock.advance(0.1)
        assert caller.bind(bind_request("cyd")).bound

    def test_s6_a_retirement_that_was_decided_on_an_older_revision_fails(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        seen = caller.bind(bind_request("ann"))
        backend.clock.advance(TTL)
        renewed = caller.renew(seen.fence)
        backend.clock.advance(TTL)
        with pytest.raises(RevisionConflict):
            caller.retire(seen, "bob-run", LAPSED)
        assert caller.attempt(seen.id) == renewed

    def test_s6_a_takeover_records_who_and_when_and_why(self, backend: Backend) -> None:
        caller = backend.caller()
        ann = caller.bind(bind_request("ann", pid=7))
        backend.owners.becomes("gone", evidence(7))
        backend.clock.advance(1)
        bob = caller.bind(bind_request("bob"))
        assert bob.bound
        ended = caller.attempt(ann.id)
        assert ended is not None
        assert ended.retired is not None
        assert (ended.outcome, ended.settled_at) == ("cancelled", None)
        assert (ended.retired.by, ended.retired.at) == ("bob-run", backend.clock.now())
        assert ended.retired.licence == Licence(ground="gone", evidence="process 7 is gone")

    # S7, S8

    def test_s7_the_retired_are_inert(self, backend: Backend) -> None:
        caller = backend.caller()
        record = self.retired(backend, caller)
        self.refuses_everything(caller, record.fence, HoldLost)

    def test_s7_the_retired_learn_by_whom_and_why(self, backend: Backend) -> None:
        caller = backend.caller()
        record = self.retired(backend, caller)
        with pytest.raises(HoldLost) as loss:
            caller.renew(record.fence)
        assert loss.value.by == "bob-run"
        assert loss.value.evidence == "lapsed: silent for 30 s"

    def test_s7_a_retired_holder_does_not_come_back_when_its_successor_ends(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        record = self.retired(backend, caller)
        bob = caller.bind(bind_request("bob"))
        caller.settle(bob.fence)
        self.refuses_everything(caller, record.fence, HoldLost)

    def test_s8_an_unknown_attempt_is_a_doubt(self, backend: Backend) -> None:
        caller = backend.caller()
        fence = caller.bind(bind_request("ann")).fence
        missing = msgspec.structs.replace(fence, record="never bound")
        with pytest.raises(RecordMissing):
            caller.renew(missing)
        with pytest.raises(RecordMissing):
            caller.settle(missing)

    # L1, L2

    def test_l1_the_attempt_of_a_dead_owner_is_replaced_at_once(self, backend: Backend) -> None:
        caller = backend.caller()
        caller.bind(bind_request("ann", pid=7))
        backend.owners.becomes("gone", evidence(7))
        assert caller.bind(bind_request("bob")).bound

    def test_l1_the_attempt_of_a_silent_owner_is_replaced_after_its_ttl(
        self, backend: Backend
    ) -> None:
        caller = backend.caller()
        caller.bind(bind_request("ann"))
        backend.clock.advance(TTL)
        assert caller.bind(bind_request("bob")).bound

    def test_l1_another_boot_ends_the_wait(self, backend: Backend) -> None:
        caller = backend.caller()
        caller.bind(bind_request("ann"))
        backend.clock.reboot()
        assert caller.bind(bind_request("bob")).bound

    def test_l2_an_owner_that_misses_two_renewals_is_not_replaced(self, backend: Backend) -> None:
        caller = backend.caller()
        record = caller.bind(bind_request("ann"))
        for _ in range(5):
            backend.clock.advance(29.999)
            assert caller.bind(bind_request("bob", subject="another")).id == "bob-attempt"
            assert caller.bind(bind_request("bob")).id == "bob-attempt"
            assert caller.renew(record.fence).bound

    def test_different_subjects_and_repositories_do_not_meet(self, backend: Backend) -> None:
        caller = backend.caller()
        assert caller.bind(bind_request("ann")).bound
        assert caller.bind(bind_request("bob", subject="another")).bound
        assert caller.bind(bind_request("cyd", repository="another")).bound
        assert [record.sequence for record in caller.unfinished(REPOSITORY)] == [1, 2]
        assert [record.sequence for record in caller.unfinished("another")] == [1]
