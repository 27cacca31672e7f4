"""Forty whole runs from eight processes in four worktrees, in peace and under fire."""

import random
import signal
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.gate import repos
from tests.scenarios.caller import Caller
from tests.scenarios.stage import Stage
from tests.waiting import until

PROCESSES = 8
EACH = 5

#: Exit codes that are an answer: met; could not tell, since something moved; ended by another.
ANSWERS = {0, 3, 4}


class Crowd:
    """Eight people in four worktrees, two of them in each, who commit and ask."""

    def __init__(self, root: Path, seed: int) -> None:
        self.stage = Stage(root)
        (self.stage.story / "slow").touch()
        self.worktrees = [self.stage.top, *(self.stage.side(f"side-{n}") for n in range(3))]
        self.editing = [threading.Lock() for _ in self.worktrees]
        self.callers: list[Caller] = []
        self.seed = seed
        self.over = threading.Event()

    def work(self, person: int) -> None:
        """Five times: perhaps go to another state of the worktree, then ask whether it is done."""
        rng = random.Random(f"{self.seed}/{person}")
        place = person % len(self.worktrees)
        for turn in range(EACH):
            with self.editing[place]:
                self._edit(rng.random(), self.worktrees[place], f"{person} {turn}\n")
            options = ("--rerun",) if rng.random() < 0.2 else ()
            caller = self.stage.done(*options, cwd=self.worktrees[place])
            self.callers.append(caller)
            caller.wait()

    def _edit(self, chance: float, top: Path, text: str) -> None:
        """A state of one's own, one that everybody shares, or the same as before."""
        if chance < 0.3:
            repos.commit(top, {"code.txt": text})
        elif chance < 0.6:
            repos.git(top, "checkout", "-q", "--detach", "main~0" if chance < 0.45 else "shared")

    def play(self) -> None:
        """Everybody at once; raises what went wrong for anybody."""
        repos.git(self.stage.top, "checkout", "-q", "-b", "shared")
        repos.commit(self.stage.top, {"code.txt": "shared\n"})
        with ThreadPoolExecutor(PROCESSES) as pool:
            for future in [pool.submit(self.work, person) for person in range(PROCESSES)]:
                future.result()
        self.over.set()

    def settle(self) -> None:
        """Afterwards everything can still be proven, and the books are in order."""
        until(lambda: not self.stage.everybody(), "runs whose callers were killed end")
        self.stage.tenure("recover").expect(0)
        for top in self.worktrees:
            self.stage.done(cwd=top).expect(0)
        self.stage.check()
        self.stage.everybody_is_gone()


def test_forty_runs_from_eight_processes_end_as_the_laws_say(tmp_path: Path):
    crowd = Crowd(tmp_path, seed=1)
    crowd.play()
    assert len(crowd.callers) == PROCESSES * EACH
    codes = Counter(caller.wait() for caller in crowd.callers)
    assert codes.keys() <= ANSWERS, [caller.out for caller in crowd.callers]
    assert codes[0] >= len(crowd.callers) / 2, codes
    books = crowd.stage.check()
    proofs = {row["id"] for row in books.proofs}
    for caller in crowd.callers:
        told = caller.answer
        if told["exit_code"] == 0:
            assert told["proof"]["id"] in proofs
        elif told["exit_code"] == 4:
            assert told["report"]["other"] in crowd.stage.run_ids()
    crowd.settle()


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(3))
def test_forty_runs_under_fire_leave_nothing_behind(seed: int, tmp_path: Path):
    """Somebody is killed or stopped every moment: callers, supervisors, runners, jobs."""
    crowd = Crowd(tmp_path, seed)
    rng = random.Random(f"fire {seed}")

    def fire() -> None:
        while not crowd.over.wait(rng.uniform(0.05, 0.25)):
            targets = crowd.stage.everybody()
            if targets:
                one = rng.choice(targets)
                stopped = rng.random() < 0.2
                one.send(signal.SIGSTOP if stopped else signal.SIGKILL)
                if stopped:
                    crowd.over.wait(rng.uniform(0.1, 4))
                    one.send(signal.SIGCONT)

    gun = threading.Thread(target=fire)
    gun.start()
    try:
        crowd.play()
    finally:
        crowd.over.set()
        gun.join()
    crowd.settle()
