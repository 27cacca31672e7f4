"""Which models of turns that wait are searched."""

import msgspec

from tenure.testing.search.explorer import Explorer, Report
from tenure.testing.search.session_world import FIRST, LATER, TIMINGS, Troubles
from tenure.testing.search.waiting import Question, WaitingDrivers

ASKED = Question("approval")
SHORT = Question("short", TIMINGS.ttl)  #: times out when a lease lapses that is as old


class WaitScenario(msgspec.Struct, frozen=True, kw_only=True):
    """One model: how many drivers, what a turn asks, and what may happen."""

    name: str
    drivers: int
    troubles: Troubles
    questions: tuple[Question, ...] = (ASKED,)
    inputs: tuple[str, ...] = (FIRST,)

    def search(self) -> Report:
        """Visit it whole, or as far as its first fault."""
        model = WaitingDrivers(self.drivers, self.troubles, self.inputs, self.questions)
        return Explorer(model).run()


#: Searched with every run of the tests.
WAITS = (
    WaitScenario(
        name="two drivers that wait for an answer, a lapse and a late call",
        drivers=2,
        troubles=Troubles(lapses=1, duplicates=1),
    ),
    WaitScenario(
        name="two drivers and a timeout, a lapse, a death, and somebody else's answer",
        drivers=2,
        questions=(SHORT,),
        troubles=Troubles(lapses=1, crashes=1, answers=1),
    ),
    WaitScenario(
        name="two drivers, an answer or a timeout, time that passes, and an operator who revokes",
        drivers=2,
        questions=(ASKED, SHORT),
        troubles=Troubles(ticks=1, revokes=1),
    ),
    WaitScenario(
        name="two drivers that wait, an operator, and somebody who wants the end",
        drivers=2,
        troubles=Troubles(cancels=1, levers=1, revokes=1),
    ),
    WaitScenario(
        name="three drivers and a timeout, a death, and somebody else's answer",
        drivers=3,
        questions=(SHORT,),
        troubles=Troubles(crashes=1, answers=1),
    ),
)

#: Searched on demand, besides the others: some minutes.
WAITS_DEEP = (
    WaitScenario(
        name="two drivers that wait, a lapse, a late call, and somebody else's answer",
        drivers=2,
        troubles=Troubles(lapses=1, duplicates=1, answers=1),
    ),
    WaitScenario(
        name="two drivers that wait, a lapse, a death and a lost reply",
        drivers=2,
        troubles=Troubles(lapses=1, crashes=1, losses=1),
    ),
    WaitScenario(
        name="two drivers, an answer or a timeout, a lapse, and somebody else's answer",
        drivers=2,
        questions=(ASKED, SHORT),
        troubles=Troubles(lapses=1, answers=1),
    ),
    WaitScenario(
        name="two drivers, an answer or a timeout, a late call, and somebody else's answer",
        drivers=2,
        questions=(ASKED, SHORT),
        troubles=Troubles(duplicates=1, answers=1),
    ),
    WaitScenario(
        name="two drivers that wait, one asked to stop, an operator, and somebody who wants the end",
        drivers=2,
        troubles=Troubles(stops=1, cancels=1, levers=1, revokes=1),
    ),
    WaitScenario(
        name="two drivers that wait and two inputs, a lapse, and an operator who revokes",
        drivers=2,
        inputs=(FIRST, LATER),
        troubles=Troubles(lapses=1, revokes=1),
    ),
)
