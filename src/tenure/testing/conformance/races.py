"""The law book of races: nothing between a check and its write can be exploited (S4).

The first caller is held after it read and before it writes. Meanwhile the second arrives:
one that will not wait learns nothing (busy is a doubt), one that waits is answered as if it
had come after the first. Each row says who is first, who is second, and what each is told.
"""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tenure.kernel.errors import Doubt
from tenure.testing.conformance.answers import answer
from tenure.testing.conformance.backend import IMPATIENT, Backend
from tenure.testing.conformance.scene import CALLS, Scene
from tenure.testing.faults import Faults

RACES = [
    # (held between its read and its write, told; meanwhile, told)
    ("settle", "passed", "bob retires", "RevisionConflict"),
    ("settle", "passed", "bob binds", "bound"),
    ("settle", "passed", "renew", "HoldEnded"),
    ("settle", "passed", "publish", "HoldEnded"),
    ("renew", "bound", "bob retires", "RevisionConflict"),
    ("renew", "bound", "bob binds", "joined ann-attempt"),
    ("renew", "bound", "settle", "passed"),
    ("publish", "published", "bob retires", "cancelled"),
    ("publish", "published", "bob binds", "bound"),
    ("bob retires", "cancelled", "settle", "HoldLost"),
    ("bob retires", "cancelled", "renew", "HoldLost"),
    ("bob retires", "cancelled", "publish", "HoldLost"),
    ("bob retires", "cancelled", "cyd retires", "RevisionConflict"),
    ("bob retires", "cancelled", "cyd binds", "bound"),
    ("bob binds", "bound", "settle", "HoldLost"),
    ("bob binds", "bound", "renew", "HoldLost"),
    ("bob binds", "bound", "publish", "HoldLost"),
    ("bob binds", "bound", "cyd binds", "joined bob-attempt"),
    ("bob binds", "bound", "cyd retires", "RevisionConflict"),
    ("bob binds", "bound", "ann binds again", "cancelled"),
    ("bob acquires", "generation 2", "renew lane", "HoldLost"),
    ("bob acquires", "generation 2", "publish under lane", "HoldLost"),
    ("bob acquires", "generation 2", "ann claims", "HoldLost"),
    ("bob acquires", "generation 2", "release", "HoldLost"),
    ("bob acquires", "generation 2", "delete", "HoldLost"),
    ("bob acquires", "generation 2", "ann re-enters", "LaneBusy"),
    ("bob acquires", "generation 2", "cyd acquires", "LaneBusy"),
    ("bob acquires", "generation 2", "finish", "mail finished+post finished"),
    ("ann re-enters", "generation 1", "bob acquires", "LaneBusy"),
    ("ann re-enters", "generation 1", "renew lane", "FenceMismatch"),
    ("renew lane", "held", "bob acquires", "LaneBusy"),
    ("publish under lane", "published", "bob acquires", "generation 2"),
    ("release", "released", "bob acquires", "generation 2"),
    ("release", "released", "renew lane", "HoldEnded"),
    ("delete", "deleted", "bob acquires", "LaneDeleted"),
    ("ann claims", "parcel", "bob acquires", "generation 2"),
    ("finish", "mail finished+post finished", "abandon", "done"),
    ("abandon", "done", "finish", "ClaimSuperseded"),
]

#: The same after bob took over the lane, when ann's claims are still hers.
RACES_AFTER_A_TAKEOVER = [
    ("bob claims", "mail+post", "finish", "ClaimSuperseded"),
    ("bob claims", "mail+post", "abandon", "done"),
    ("finish", "mail finished+post finished", "bob claims", "nothing"),
    ("abandon", "done", "bob claims", "mail+post"),
]


class RaceLaws:
    """Bound to a backend by a subclass with a `backend` fixture."""

    def race(self, backend: Backend, scene: Scene, first: str, second: str) -> tuple[str, str]:
        """Hold `first` at its point until `second` has arrived; what each is told."""
        point, leading = CALLS[first]
        _, following = CALLS[second]
        with ThreadPoolExecutor(2) as threads, Faults() as faults:
            pause = faults.pause(point)
            one = threads.submit(
                lambda: answer(lambda caller: leading(scene, caller), backend.caller())
            )
            pause.await_arrival()
            before = scene.rows()
            with pytest.raises(Doubt):
                following(scene, backend.caller(IMPATIENT))
            assert scene.rows() == before, "a rival got in between"
            two = threads.submit(
                lambda: answer(lambda caller: following(scene, caller), backend.caller())
            )
            pause.resume()
            return one.result(), two.result()

    @pytest.mark.parametrize(("first", "told", "second", "then"), RACES)
    def test_s4_a_check_and_its_write_are_one(
        self, backend: Backend, first: str, told: str, second: str, then: str
    ) -> None:
        assert self.race(backend, Scene(backend), first, second) == (told, then)

    @pytest.mark.parametrize(("first", "told", "second", "then"), RACES_AFTER_A_TAKEOVER)
    def test_s4_a_check_and_its_write_are_one_after_a_takeover(
        self, backend: Backend, first: str, told: str, second: str, then: str
    ) -> None:
        scene = Scene(backend)
        scene.bob_takes_the_lane()
        assert self.race(backend, scene, first, second) == (told, then)

    @pytest.mark.parametrize("first", ["settle", "bob retires"])
    def test_s1_of_a_settlement_and_a_retirement_exactly_one_is_recorded(
        self, backend: Backend, first: str
    ) -> None:
        scene = Scene(backend)
        second = "bob retires" if first == "settle" else "settle"
        self.race(backend, scene, first, second)
        record = scene.caller.attempt("ann-attempt")
        assert record is not None
        assert (record.settled_at is None) == (first == "bob retires")
        assert (record.retired is None) == (first == "settle")
        assert record.revision == 2
