"""Faults in the kernel's rules: each breaks one law, and somebody has shipped most of them."""

from tests.mutations.planted import Mutation

MEMORY = "tests/conformance/test_memory.py"
LEASE = "tests/kernel/test_lease.py"

ATTEMPTS = (
    Mutation(
        "an attempt's fence is compared without its token",
        "kernel/attempt.py",
        "(record.id, GENERATION, record.token) != (fence.record, fence.generation, fence.token)",
        "(record.id, GENERATION) != (fence.record, fence.generation)",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "an attempt's fence is compared without its generation",
        "kernel/attempt.py",
        "(record.id, GENERATION, record.token) != (fence.record, fence.generation, fence.token)",
        "(record.id, record.token) != (fence.record, fence.token)",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a lapsed attempt cannot be renewed",
        "kernel/attempt.py",
        '''lease renewed. Raises what `held` raises."""
    mine = held(record, fence)
''',
        '''lease renewed. Raises what `held` raises."""
    mine = held(record, fence)
    if leases.lapsed(mine.lease, now):
        raise HoldLost(record=mine.id, by="the clock", evidence="expired")
''',
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a lapsed attempt cannot be settled",
        "kernel/attempt.py",
        """    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, outcome=outcome, settled_at=now
""",
        """    if leases.lapsed(mine.lease, now):
        raise HoldLost(record=mine.id, by="the clock", evidence="expired")
    return msgspec.structs.replace(
        mine, revision=mine.revision + 1, outcome=outcome, settled_at=now
""",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a retirement does not ask which revision was read",
        "kernel/attempt.py",
        "if record.revision != seen.revision or not record.bound:",
        "if not record.bound:",
        ("tests/kernel/test_attempt.py",),
    ),
    Mutation(
        "a finished attempt can be retired",
        "kernel/attempt.py",
        "if record.revision != seen.revision or not record.bound:",
        "if record.revision != seen.revision:",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a retirement needs no licence",
        "kernel/attempt.py",
        'if licence.ground == "lapsed" and not leases.lapsed(record.lease, now):',
        "if licence.ground not in ('lapsed', 'gone', 'declared'):",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a settled attempt can be settled otherwise",
        "kernel/attempt.py",
        """        if record.outcome != outcome:
            raise
        return record
""",
        """        if record.outcome == outcome:
            return record
        return msgspec.structs.replace(record, revision=record.revision + 1, outcome=outcome)
""",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a repeated settlement is refused",
        "kernel/attempt.py",
        """        if record.outcome != outcome:
            raise
        return record
""",
        "        raise\n",
        (f"{MEMORY}::TestReplies",),
    ),
    Mutation(
        "a retired holder is told that it ended by itself",
        "kernel/attempt.py",
        "    if record.retired is not None:\n        raise HoldLost(",
        "    if record.retired is not None and record.outcome is None:\n        raise HoldLost(",
        (f"{MEMORY}::TestAttempts",),
    ),
)

LEASES = (
    Mutation(
        "a lease lapses in sleep",
        "kernel/lease.py",
        "return age >= lease.timings.ttl_ns and awake >= lease.timings.renew_interval_ns",
        "return age >= lease.timings.ttl_ns or awake < -1",
        (f"{MEMORY}::TestAttempts", LEASE),
    ),
    Mutation(
        "a lease is judged by the wall",
        "kernel/lease.py",
        "    age = now.boot_ns - last.boot_ns\n",
        "    age = now.wall_ns - last.wall_ns\n",
        (LEASE,),
    ),
    Mutation(
        "a lease of another boot is compared with this boot's clock",
        "kernel/lease.py",
        "    if not now.same_boot(last):\n        return True\n",
        "",
        (LEASE,),
    ),
    Mutation(
        "a lease is as old as its acquisition",
        "kernel/lease.py",
        "    last = lease.renewed\n",
        "    last = lease.acquired\n",
        (LEASE,),
    ),
    Mutation(
        "a renewal moves back in time",
        "kernel/lease.py",
        "if now.same_boot(lease.renewed) and now.boot_ns < lease.renewed.boot_ns:",
        "if now.boot_ns < 0:",
        (LEASE,),
    ),
    Mutation(
        "one missed renewal is enough to lapse",
        "kernel/lease.py",
        "if self.ttl_ns < 3 * self.renew_interval_ns:",
        "if self.ttl_ns < 1 * self.renew_interval_ns:",
        (LEASE,),
    ),
)

LANES = (
    Mutation(
        "a takeover keeps the generation",
        "kernel/lane.py",
        "generation=record.generation + 1,",
        "generation=record.generation,",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a release starts the generations anew",
        "kernel/lane.py",
        "return msgspec.structs.replace(mine, revision=mine.revision + 1, lease=None, displaced=None)",
        "return msgspec.structs.replace(\n"
        "        mine, revision=mine.revision + 1, generation=0, lease=None, displaced=None\n    )",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a re-entry keeps the old token",
        "kernel/lane.py",
        "record, revision=record.revision + 1, token=request.token, lease=lease",
        "record, revision=record.revision + 1, lease=lease",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a late duplicate acquires",
        "kernel/lane.py",
        "if request.token.n <= record.token.n:",
        "if request.token.n < 0:",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a live lane can be taken",
        "kernel/lane.py",
        "        licence = lapse(record.lease, now)\n",
        '        licence = Licence(ground="lapsed", evidence="it was wanted")\n',
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a displaced holder is taken for a bug",
        "kernel/lane.py",
        "    if record.generation > fence.generation:\n        who",
        "    if record.generation > 10**9:\n        who",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a store that went back is not noticed",
        "kernel/lane.py",
        "    if record.generation < fence.generation:\n",
        "    if record.generation < 0:\n",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a lane's fence is compared without its token",
        "kernel/lane.py",
        "if record.id != fence.record or record.token != fence.token:",
        "if record.id != fence.record:",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a deleted lane is acquired again",
        "kernel/lane.py",
        "    if record.deleted:\n        raise LaneDeleted(lane=record.id)\n    if record.executor",
        "    if record.executor",
        (f"{MEMORY}::TestLanes",),
    ),
    Mutation(
        "a repeated acquisition is refused",
        "kernel/lane.py",
        "if record.held and record.token == request.token:",
        "if not record.held and record.token == request.token:",
        (f"{MEMORY}::TestReplies",),
    ),
    Mutation(
        "a takeover forgets whom it displaced",
        "kernel/lane.py",
        'return _succeed(record, request, "takeover", displaced, now)',
        'return _succeed(record, request, "takeover", None, now)',
        (f"{MEMORY}::TestLanes",),
    ),
)

CLAIMS = (
    Mutation(
        "a hold claims again what it claimed",
        "kernel/claim.py",
        "row.generation < fence.generation",
        "row.generation <= fence.generation",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "a hold claims what another lane claimed",
        "kernel/claim.py",
        "return row.lane == fence.record and row.generation",
        "return row.generation",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "finished work is claimed again",
        "kernel/claim.py",
        "    if row.finished:\n        return False\n    return row.lane",
        "    return row.lane",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "a commit of work asks who has the lane",
        "kernel/ledger.py",
        '    point("finish_claim:read")\n',
        """    point("finish_claim:read")
    for row in rows:
        lane = tx.lanes.read(row.lane)
        if lane is not None and lane.generation != row.generation:
            raise ClaimSuperseded(claim=claim_id, rows=(row.work,))
""",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "a commit of work does not ask who claims it",
        "kernel/ledger.py",
        "if row is not None and row.claim == claim_id]",
        "if row is not None]",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "work is claimed without the lane",
        "kernel/ledger.py",
        """    lanes.held(tx.lanes.read(fence.record), fence)
    before""",
        "    before",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "handing back forgets finished work",
        "kernel/ledger.py",
        "rows = [row.work for row in tx.claims.claimed_by(claim_id) if not row.finished]",
        "rows = [row.work for row in tx.claims.claimed_by(claim_id)]",
        (f"{MEMORY}::TestClaims",),
    ),
    Mutation(
        "a claim is live whoever holds the lane",
        "kernel/claim.py",
        "if (lane.generation, lane.token) != (row.generation, row.token):",
        "if lane.generation < 0:",
        (f"{MEMORY}::TestClaims",),
    ),
)

LEDGER = (
    Mutation(
        "a bind does not look for rivals",
        "kernel/ledger.py",
        "        if record.subject != request.subject:\n",
        "        if record.subject != request.attempt:\n",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a dead owner is waited for",
        "kernel/ledger.py",
        '    if verdict.state != "gone":\n',
        "    if verdict.state:\n",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "an owner nobody can see is taken for dead",
        "kernel/ledger.py",
        '    if verdict.state != "gone":\n',
        '    if verdict.state == "running":\n',
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a bind answers whoever knows the id",
        "kernel/ledger.py",
        "    if known.token != request.token:\n",
        "    if known.id != request.attempt:\n",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a publication asks for the record and not for the hold",
        "kernel/ledger.py",
        "    record = attempts.held(tx.attempts.read(fence.record), fence)\n",
        "    record = tx.attempts.read(fence.record)\n    assert record is not None\n",
        (f"{MEMORY}::TestAttempts",),
    ),
    Mutation(
        "a repeated retirement is refused",
        "kernel/ledger.py",
        "before.retired.by == by:",
        "before.retired.by == seen.id:",
        (f"{MEMORY}::TestReplies",),
    ),
    Mutation(
        "errors lose their fields on the way to another process",
        "kernel/errors.py",
        "return (_rebuild, (type(self), self.fields))",
        "return (_rebuild, (type(self), {}))",
        ("tests/architecture/test_errors.py",),
    ),
)

RULES = (*ATTEMPTS, *LEASES, *LANES, *CLAIMS, *LEDGER)
