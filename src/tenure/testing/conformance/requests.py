"""The people of the law books: short names for requests that differ in one thing."""

from tenure.kernel.attempt import BindRequest
from tenure.kernel.claim import ClaimRecord
from tenure.kernel.fence import Fence
from tenure.kernel.identity import Executor, LeaseOwnerIdentity, Token
from tenure.kernel.lane import AcquireRequest
from tenure.kernel.lease import LeaseTimings
from tenure.kernel.liveness import OwnerEvidence
from tenure.kernel.takeover import Licence

#: Every hold in the books is left alone for 30 s and renewed every 10 s.
TIMINGS = LeaseTimings(ttl=30.0, renew_interval=10.0)
TTL = 30.0

REPOSITORY = "repository"
SUBJECT = "subject"
LANE = "lane"

LAPSED = Licence(ground="lapsed", evidence="silent for 30 s")
GONE = Licence(ground="gone", evidence="its process ended")


def owner(name: str) -> LeaseOwnerIdentity:
    """The one incarnation of a worker."""
    return LeaseOwnerIdentity(owner_id=name, incarnation_id=f"{name}-1")


def evidence(pid: int) -> OwnerEvidence:
    """What an owner with this pid leaves behind."""
    return OwnerEvidence(
        boot="boot-1",
        pid=pid,
        pid_namespace=4026531836,
        start_ticks=pid * 100,
        lock_path=f"/locks/{pid}",
        lock_device=1,
        lock_inode=pid,
    )


def bind_request(
    name: str, *, subject: str = SUBJECT, repository: str = REPOSITORY, pid: int = 0
) -> BindRequest:
    """What `name` asks for: attempt `name-attempt` of run `name-run`."""
    return BindRequest(
        attempt=f"{name}-attempt",
        run=f"{name}-run",
        repository=repository,
        subject=subject,
        kind="done",
        owner=owner(name),
        evidence=evidence(pid or sum(name.encode())),
        token=Token(n=1, secret=f"{name}-secret"),
        timings=TIMINGS,
    )


def executor(name: str) -> Executor:
    """The one executor of a worker."""
    return Executor(owner=owner(name), executor_id=f"{name}-executor")


def acquire_request(name: str, n: int = 1, *, lane: str = LANE) -> AcquireRequest:
    """The `n`-th acquisition of `name`'s executor."""
    return AcquireRequest(
        lane=lane,
        executor=executor(name),
        token=Token(n=n, secret=f"{name}-secret-{n}"),
        timings=TIMINGS,
    )


def foreign(fence: Fence) -> Fence:
    """The same hold claimed with somebody else's token."""
    return Fence(
        record=fence.record,
        generation=fence.generation,
        token=Token(n=fence.token.n, secret="somebody else's"),
    )


def publication(work: str = "published") -> ClaimRecord:
    """A row that stands for anything published."""
    return ClaimRecord(
        work=work,
        revision=1,
        claim="publication",
        lane="nobody's",
        generation=1,
        token=Token(n=1, secret="nobody's"),
    )
