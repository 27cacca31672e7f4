"""Which models are searched: small enough to be visited whole, together large enough to matter."""

import msgspec

from tenure.testing.search.explorer import Explorer, Report
from tenure.testing.search.protocol import Runs
from tenure.testing.search.world import Troubles


class Scenario(msgspec.Struct, frozen=True, kw_only=True):
    """One model. `subjects` has a letter per run: the same letter, the same subject."""

    name: str
    subjects: str
    troubles: Troubles
    jobs: int = 1

    def search(self, model: type[Runs] = Runs) -> Report:
        """Visit it whole, or as far as its first fault."""
        return Explorer(model(tuple(self.subjects), self.troubles, jobs=self.jobs)).run()


#: Searched with every run of the tests.
EVERY_TIME = (
    Scenario(
        name="two runs, and everything goes wrong",
        subjects="ss",
        jobs=2,
        troubles=Troubles(lapses=2, crashes=1, losses=1, failures=1, cancels=1),
    ),
    Scenario(
        name="three runs, a lapse and a death",
        subjects="sss",
        troubles=Troubles(lapses=1, crashes=1),
    ),
    Scenario(
        name="three runs, a lapse and a lost reply",
        subjects="sss",
        troubles=Troubles(lapses=1, losses=1),
    ),
    Scenario(
        name="three runs, a death, a failing job and somebody who stops one",
        subjects="sss",
        troubles=Troubles(crashes=1, failures=1, cancels=1),
    ),
    Scenario(
        name="two runs and a stranger, a lapse and a death",
        subjects="sst",
        troubles=Troubles(lapses=1, crashes=1),
    ),
)

#: Searched on demand, besides the others: some minutes and some gigabytes.
DEEP = (
    Scenario(
        name="two runs, and everything goes wrong twice",
        subjects="ss",
        jobs=2,
        troubles=Troubles(lapses=2, crashes=2, losses=2, failures=1, cancels=2),
    ),
    Scenario(
        name="three runs, two lapses and a death",
        subjects="sss",
        troubles=Troubles(lapses=2, crashes=1),
    ),
    Scenario(
        name="three runs, a lapse, a death and a lost reply",
        subjects="sss",
        troubles=Troubles(lapses=1, crashes=1, losses=1),
    ),
    Scenario(
        name="two runs and a stranger, a lapse, a death and a lost reply",
        subjects="sst",
        troubles=Troubles(lapses=1, crashes=1, losses=1),
    ),
)
