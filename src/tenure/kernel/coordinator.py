"""The keeper of one hold: renews it in step with the work, and settles it.

There is no thread here. The owner's own loop calls `tick` when `deadline` is due, so a run
that makes no progress stops renewing. Doubt never ends a run; only proven loss does.
"""

import math
from collections.abc import Callable
from typing import Generic, TypeVar

from tenure.kernel.errors import Doubt, HoldLost, Refused, SettlementUnknown
from tenure.kernel.lease import LeaseTimings

T = TypeVar("T")


class Coordinator(Generic[T]):
    """Renews through `renew`, one call at a time, on the loop that calls `tick`.

    `jitter` returns a number in [0, 1): doubt is retried after a quarter of the interval,
    shortened by up to a quarter of itself, so that many holders do not ask in step.
    """

    def __init__(
        self,
        *,
        renew: Callable[[], object],
        timings: LeaseTimings,
        started: float,
        jitter: Callable[[], float],
    ) -> None:
        self._renew = renew
        self._timings = timings
        self._jitter = jitter
        self._last = started
        self._due = started + timings.renew_interval
        self._settled: tuple[T] | None = None
        self._refused: Refused | None = None
        self.lost: HoldLost | None = None  #: proof that somebody took over, once there is
        self.doubt: Doubt | None = None  #: why the last renewal is unknown, if it is
        self.longest_gap = 0.0  #: seconds between renewals at their worst, for reports

    @property
    def deadline(self) -> float:
        """When `tick` wants to be called next, on the clock that `tick` is given.

        Never, once the hold is lost: there is nothing left to renew.
        """
        return self._due if self.lost is None else math.inf

    def tick(self, now: float) -> None:
        """Renew if it is due.

        A loss is not raised: look at `lost` afterwards. Any other refusal is a defect of the
        caller, and is raised.
        """
        if self.lost is None and now >= self._due:
            self.check(now)

    def check(self, now: float) -> None:
        """Renew now, due or not: the test that every step of the work makes.

        Raises what `tick` raises.
        """
        try:
            self._renew()
        except HoldLost as loss:
            self.lost = loss
        except Doubt as doubt:
            self.doubt = doubt
            self._due = now + self.pause()
        else:
            self.doubt = None
            self.longest_gap = max(self.longest_gap, now - self._last)
            self._last = now
            self._due = now + self._timings.renew_interval

    def pause(self) -> float:
        """Seconds to wait before asking again while in doubt."""
        return self._timings.retry_pace * (1 - self._jitter() / 4)

    def settle(
        self,
        write: Callable[[], T],
        *,
        record: str,
        monotonic: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> T:
        """Write the settlement, asking again while in doubt, for one ttl.

        A definite answer is remembered: asked again, the same value or the same error, and
        the store is not called. Renewals are on the same loop, so none is under way here.

        Raises:
            Refused: a definite answer as well; mostly `HoldLost`.
            SettlementUnknown: no definite answer within one ttl; asking again is allowed.
        """
        until = monotonic() + self._timings.ttl
        while self._settled is None:
            if self._refused is not None:
                raise self._refused
            if self.lost is not None:
                raise self.lost
            try:
                self._settled = (write(),)
            except HoldLost as loss:
                self.lost = loss
            except Refused as refusal:
                self._refused = refusal
            except Doubt as doubt:
                if monotonic() >= until:
                    raise SettlementUnknown(record=record, last=str(doubt)) from doubt
                sleep(self.pause())
        return self._settled[0]
