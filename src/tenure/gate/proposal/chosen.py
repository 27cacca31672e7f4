"""Choosing among proposals: no two jobs run the same, and each has a name of its own."""

import msgspec

from tenure.gate.policy import STAGE_RANK
from tenure.gate.proposal.proposed import Proposed

_RESERVED = ("trunk", "policy", "setup")
_MOST_CHARACTERS = 60


class Chosen:
    """A proposal that stays, and those that would do the same again."""

    def __init__(self, job: Proposed) -> None:
        self.job = job
        self.others: list[str] = []  #: their sources
        self.does = {*job.tools, job.called} - {""}

    def add(self, job: Proposed) -> None:
        """Take note of one that would do the same, and of what others call it."""
        self.does |= {job.called} - {""}
        if job.source not in (self.job.source, *self.others):
            self.others.append(job.source)


def chosen(proposals: list[Proposed]) -> list[Chosen]:
    """The proposals that stay, the earlier before the later, in the order of their stages."""
    kept: list[Chosen] = []
    for job in proposals:
        twin = _twin(job, kept)
        if twin is not None:
            twin.add(job)
        else:
            kept.append(Chosen(_named(job, {one.job.name for one in kept})))
    return sorted(kept, key=lambda one: STAGE_RANK[one.job.stage])


def _twin(job: Proposed, kept: list[Chosen]) -> Chosen | None:
    """One of those that make `job` superfluous, if it does nothing that they don't.

    A target of which not everything is known is taken for the same as a job of the same name.
    """
    near = [one for one in kept if one.job.cwd == job.cwd]
    namesake = next((one for one in near if one.job.name == job.name), None)
    if job.called and not job.whole:
        return next((one for one in near if job.called in one.does), namesake)
    does = set().union(*(one.does for one in near))
    if not job.tools or not job.tools <= does:
        return None
    return namesake or next(one for one in near if job.tools & one.does)


def _named(job: Proposed, taken: set[str]) -> Proposed:
    """The job under a name that a policy allows and that no other job has."""
    name = _allowed(job.name) or "job"
    if name in _RESERVED:
        name = f"{name}-job"
    more = _allowed(job.cwd.rpartition("/")[2]) or min(job.tools, default=job.called).split(" ")[0]
    rivals = [name, _allowed(f"{name}-{more}"), *(f"{name}-{n}" for n in range(2, len(taken) + 3))]
    free = next(rival for rival in rivals if rival not in taken)
    return msgspec.structs.replace(job, name=free)


def _allowed(text: str) -> str:
    kept = (one if one.isascii() and (one.isalnum() or one in "._-") else "-" for one in text)
    return "".join(kept).strip("._-")[:_MOST_CHARACTERS]
