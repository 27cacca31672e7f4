"""Faults in what keeps a hold and in what says whether its owner lives."""

from tests.mutations.planted import Mutation

LIVENESS = "tests/kernel/test_liveness.py"
COORDINATOR = "tests/kernel/test_coordinator.py"

KEEPER = (
    Mutation(
        "doubt is taken for loss",
        "kernel/coordinator.py",
        "            self.doubt = doubt\n",
        '            self.lost = HoldLost(record="?", by="doubt", evidence=str(doubt))\n',
        (COORDINATOR,),
    ),
    Mutation(
        "holders in doubt ask in step",
        "kernel/coordinator.py",
        "return self._timings.retry_pace * (1 - self._jitter() / 4)",
        "return self._timings.retry_pace",
        (COORDINATOR,),
    ),
    Mutation(
        "doubt waits for a whole interval",
        "kernel/coordinator.py",
        "            self._due = now + self.pause()\n",
        "            self._due = now + self._timings.renew_interval\n",
        (COORDINATOR,),
    ),
    Mutation(
        "a lost hold is renewed on",
        "kernel/coordinator.py",
        "if self.lost is None and now >= self._due:",
        "if now >= self._due:",
        (COORDINATOR,),
    ),
    Mutation(
        "a lost hold is settled",
        "kernel/coordinator.py",
        "            if self.lost is not None:\n                raise self.lost\n            try:",
        "            try:",
        (f"{COORDINATOR}::test_a_lost_hold_is_not_settled",),
    ),
    Mutation(
        "one doubt gives a settlement up",
        "kernel/coordinator.py",
        "                if monotonic() >= until:\n",
        "                if monotonic() >= 0:\n",
        (COORDINATOR,),
    ),
)

OWNERS = (
    Mutation(
        "a lock that cannot be read proves death",
        "kernel/liveness.py",
        '    if lock == "unreadable":\n',
        '    if lock == "unread":\n',
        (LIVENESS,),
    ),
    Mutation(
        "a zombie is alive",
        "kernel/liveness.py",
        'return None if fields[0] in (b"Z", b"X") else int(fields[19])',
        "return int(fields[19])",
        (LIVENESS,),
    ),
    Mutation(
        "a reused pid is its former owner",
        "kernel/liveness.py",
        "alive = ticks == evidence.start_ticks",
        "alive = ticks is not None",
        (LIVENESS,),
    ),
    Mutation(
        "a pid means the same in every namespace",
        "kernel/liveness.py",
        "if probe.pid_namespace() != evidence.pid_namespace:",
        "if probe.pid_namespace() == -1:",
        (LIVENESS,),
    ),
    Mutation(
        "any file of that name is the lock",
        "kernel/liveness.py",
        "if (status.st_dev, status.st_ino) != (device, inode):",
        "if (status.st_dev, status.st_ino) == (device, 0):",
        (LIVENESS,),
    ),
    Mutation(
        "an unreadable process table proves death",
        "kernel/liveness.py",
        """        return Verdict(state="unknown", reason=f"process {evidence.pid} cannot be read ({error})")
""",
        """        return Verdict(state="gone", reason=f"process {evidence.pid} cannot be read ({error})")
""",
        (LIVENESS,),
    ),
)
