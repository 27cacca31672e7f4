"""Which models of drivers on one session are searched."""

import msgspec

from tenure.testing.search.explorer import Explorer, Report
from tenure.testing.search.session_world import FIRST, LATER, Troubles
from tenure.testing.search.sessions import Drivers


class SessionScenario(msgspec.Struct, frozen=True, kw_only=True):
    """One model: how many drivers, what was asked already, and what may go wrong."""

    name: str
    drivers: int
    troubles: Troubles
    inputs: tuple[str, ...] = (FIRST,)

    def search(self) -> Report:
        """Visit it whole, or as far as its first fault."""
        return Explorer(Drivers(self.drivers, self.troubles, self.inputs)).run()


#: Searched with every run of the tests.
SESSIONS = (
    SessionScenario(
        name="two drivers, a lapse, a death, a lost reply, and somebody who says more",
        drivers=2,
        troubles=Troubles(lapses=1, crashes=1, losses=1, inputs=1),
    ),
    SessionScenario(
        name="two drivers, a lapse, a late call, and somebody who says more and wants the end",
        drivers=2,
        troubles=Troubles(lapses=1, duplicates=1, inputs=1, cancels=1),
    ),
    SessionScenario(
        name="two drivers, a lapse, a late call, and an operator who hands back",
        drivers=2,
        troubles=Troubles(lapses=1, duplicates=1, levers=1),
    ),
    SessionScenario(
        name="two drivers and two inputs, a lapse and a late call",
        drivers=2,
        inputs=(FIRST, LATER),
        troubles=Troubles(lapses=1, duplicates=1),
    ),
    SessionScenario(
        name="two drivers, one asked to stop, an operator, and somebody who says more",
        drivers=2,
        troubles=Troubles(stops=1, levers=1, inputs=1),
    ),
    SessionScenario(
        name="three drivers, a lapse, a death, and somebody who says more",
        drivers=3,
        troubles=Troubles(lapses=1, crashes=1, inputs=1),
    ),
    SessionScenario(
        name="three drivers, a lapse and a lost reply",
        drivers=3,
        troubles=Troubles(lapses=1, losses=1),
    ),
)

#: Searched on demand, besides the others: some minutes.
SESSIONS_DEEP = (
    SessionScenario(
        name="two drivers, a lapse, a late call, one asked to stop, and somebody who wants the end",
        drivers=2,
        troubles=Troubles(lapses=1, duplicates=1, stops=1, cancels=1),
    ),
    SessionScenario(
        name="two drivers, two lapses, a death, a lost reply and an operator",
        drivers=2,
        troubles=Troubles(lapses=2, crashes=1, losses=1, levers=1),
    ),
    SessionScenario(
        name="two drivers and two inputs, a lapse, a death, a lost reply, and more",
        drivers=2,
        inputs=(FIRST, LATER),
        troubles=Troubles(lapses=1, crashes=1, losses=1, inputs=1),
    ),
    SessionScenario(
        name="three drivers, two lapses and two deaths",
        drivers=3,
        troubles=Troubles(lapses=2, crashes=2),
    ),
    SessionScenario(
        name="three drivers, a lapse, a late call, and somebody who says more",
        drivers=3,
        troubles=Troubles(lapses=1, duplicates=1, inputs=1),
    ),
)
