"""One situation for every table of calls: ann holds, has lapsed, and others are about to act.

Ann has bound an attempt, holds a lane and has claimed `mail` and `post` under it. Her time
is up. Each call is named in one or two words; `CALLS` says what the names do.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tenure.kernel.attempt import AttemptRecord
from tenure.kernel.fence import Fence
from tenure.testing.conformance.backend import Backend, Caller
from tenure.testing.conformance.requests import (
    LANE,
    LAPSED,
    TTL,
    acquire_request,
    bind_request,
    publication,
)

WORK = ("mail", "post")


class Scene:
    """What is known to everybody before the calls under test."""

    def __init__(self, backend: Backend) -> None:
        caller = backend.caller()
        self.caller = caller
        self.seen: AttemptRecord = caller.bind(bind_request("ann"))
        self.attempt: Fence = self.seen.fence
        self.lane: Fence = caller.acquire(acquire_request("ann")).fence
        caller.claim(self.lane, WORK, "ann's")
        backend.clock.advance(TTL)

    def bob_takes_the_lane(self) -> Fence:
        """Bob takes over ann's lane and has claimed nothing yet."""
        return self.caller.acquire(acquire_request("bob")).fence

    def rows(self) -> tuple[object, ...]:
        """Everything stored that the calls can touch."""
        names = ("ann-attempt", "bob-attempt", "cyd-attempt")
        return (
            *(self.caller.attempt(name) for name in names),
            self.caller.lane(LANE),
            *(self.caller.work(work) for work in (*WORK, "parcel", "published")),
        )


#: A call on the scene, and the point at which it has read and has not written.
Call = Callable[[Scene, Caller], Any]

CALLS: Mapping[str, tuple[str, Call]] = {
    "bob binds": ("bind:read", lambda _, caller: caller.bind(bind_request("bob"))),
    "cyd binds": ("bind:read", lambda _, caller: caller.bind(bind_request("cyd"))),
    "ann binds again": ("bind:read", lambda _, caller: caller.bind(bind_request("ann"))),
    "renew": ("renew:read", lambda scene, caller: caller.renew(scene.attempt)),
    "publish": (
        "hold:read",
        lambda scene, caller: caller.publish(scene.attempt, publication()),
    ),
    "settle": ("settle:read", lambda scene, caller: caller.settle(scene.attempt)),
    "bob retires": (
        "retire:read",
        lambda scene, caller: caller.retire(scene.seen, "bob-run", LAPSED),
    ),
    "cyd retires": (
        "retire:read",
        lambda scene, caller: caller.retire(scene.seen, "cyd-run", LAPSED),
    ),
    "bob acquires": ("acquire:read", lambda _, caller: caller.acquire(acquire_request("bob"))),
    "cyd acquires": ("acquire:read", lambda _, caller: caller.acquire(acquire_request("cyd"))),
    "ann re-enters": (
        "acquire:read",
        lambda _, caller: caller.acquire(acquire_request("ann", 2)),
    ),
    "renew lane": ("renew_lane:read", lambda scene, caller: caller.renew_lane(scene.lane)),
    "publish under lane": (
        "hold_lane:read",
        lambda scene, caller: caller.publish_under_lane(scene.lane, publication()),
    ),
    "release": ("release:read", lambda scene, caller: caller.release(scene.lane)),
    "delete": ("delete:read", lambda scene, caller: caller.delete(scene.lane)),
    "ann claims": (
        "claim:read",
        lambda scene, caller: caller.claim(scene.lane, ["parcel"], "ann's parcel"),
    ),
    "bob claims": (
        "claim:read",
        lambda scene, caller: caller.claim(bobs(scene), WORK, "bob's"),
    ),
    "finish": ("finish_claim:read", lambda _, caller: caller.finish("ann's", WORK)),
    "close claim": ("close_claim:read", lambda _, caller: caller.close_claim("ann's", WORK)),
    "abandon": ("abandon_claim:read", lambda _, caller: caller.abandon("ann's")),
}


def bobs(scene: Scene) -> Fence:
    """The fence with which bob holds ann's former lane."""
    token = acquire_request("bob").token
    return msgspec.structs.replace(scene.lane, generation=2, token=token)
