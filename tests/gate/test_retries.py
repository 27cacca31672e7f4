"""Jobs that are tried again: what counts, what is kept, and what nobody may rely on twice."""

from pathlib import Path

from tenure.gate.narration import JobRetried, LogReader
from tenure.gate.proof import Proof
from tenure.gate.store import GateStore
from tenure.testing.faults import Faults
from tests.faces.calls import gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit

#: Passes at the third time, says which one it is, and leaves an output each time.
THIRD = "echo x >> {0}; n=$(wc -l < {0}); echo try $n; echo $n >> report.txt; [ $n -ge 3 ]"


def flaky(tmp_path: Path, retries: int, command: str = THIRD, **more: object) -> Rehearsal:
    policy = job("suite", command.format(tmp_path / "times"), retries=retries, **more)
    return Rehearsal(gated(tmp_path / "repo", policy, {".gitignore": "report.txt\n"}))


def proof_of(rehearsal: Rehearsal) -> Proof:
    store: GateStore = rehearsal.open_store()
    try:
        found = store.find_proof(rehearsal.read().candidate_id)
        assert found is not None
        return found
    finally:
        store.close()


def times(tmp_path: Path) -> int:
    return len((tmp_path / "times").read_text().split())


def test_a_pass_by_a_retry_counts_once_and_its_proof_says_that_it_is_flaky(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2, outputs=["report.txt"])
    assert rehearsal.conduct().outcome == "passed"
    receipt = rehearsal.receipts()["suite"]
    assert (receipt.outcome, receipt.passed, receipt.flaky) == ("passed", True, True)
    assert [(one.outcome, one.code) for one in receipt.earlier] == [("failed", 1), ("failed", 1)]
    assert receipt.seconds >= sum(one.seconds for one in receipt.earlier)
    assert receipt.detail == "flaky: it passed at try 3"
    assert proof_of(rehearsal).flaky == ("suite",)
    # What the tries before it left is gone.
    assert (rehearsal.top / "report.txt").read_text() == "3\n"


def test_every_try_keeps_what_it_printed(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2)
    rehearsal.conduct()
    receipt = rehearsal.receipts()["suite"]
    logs = [*(one.log for one in receipt.earlier), receipt.log]
    said = [(Path(rehearsal.place.root) / log).read_text() for log in logs]
    assert said == ["try 1\n", "try 2\n", "try 3\n"]
    events = list(LogReader(rehearsal.place.run(rehearsal.run)).events())
    told = [(one.number, one.of, one.detail) for one in events if isinstance(one, JobRetried)]
    assert told == [(2, 3, "it exited with 1"), (3, 3, "it exited with 1")]


def test_a_flaky_pass_is_not_reused_and_a_clean_one_after_it_is(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2, inputs=["a.txt"])
    rehearsal.conduct()
    assert times(tmp_path) == 3
    commit(rehearsal.top, {"b.txt": "another candidate\n"})
    assert rehearsal.conduct().executed == ("suite",)
    assert times(tmp_path) == 4
    assert not rehearsal.receipts()["suite"].flaky
    assert proof_of(rehearsal).flaky == ()
    commit(rehearsal.top, {"c.txt": "and another\n"})
    assert rehearsal.conduct().reused == ("suite",)
    assert times(tmp_path) == 4


def test_a_proof_stands_on_the_flaky_pass_of_its_own_run(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2)
    rehearsal.conduct()
    assert rehearsal.proven()


def test_what_does_not_pass_in_all_its_tries_failed(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 1)
    report = rehearsal.conduct()
    assert (report.outcome, report.exit_code) == ("failed", 1)
    (failure,) = report.failures
    assert failure.detail == "it exited with 1; none of 2 tries passed"
    assert failure.tail == "try 2"
    receipt = rehearsal.receipts()["suite"]
    assert (receipt.passed, receipt.flaky, len(receipt.earlier)) == (False, False, 1)
    assert times(tmp_path) == 2


def test_the_old_definition_without_retries_has_to_pass_besides_one_with_them(
    tmp_path: Path,
) -> None:
    """A retry policy is part of a definition: a flaky pass does not answer for a strict one."""
    rehearsal = flaky(tmp_path, 0, command="true", inputs=["a.txt"])
    assert rehearsal.conduct().outcome == "passed"
    text = (rehearsal.top / "tenure.toml").read_text()
    commit(rehearsal.top, {"tenure.toml": text.replace("retries = 0", "retries = 2")})
    names = [each.name for each in rehearsal.read().required.requirements]
    assert sorted(names) == ["suite", "suite@base"]


def test_a_job_whose_inputs_moved_is_not_tried_again(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2)

    def edited() -> None:
        (rehearsal.top / "a.txt").write_text("moved\n")

    with Faults() as faults:
        faults.at("run.finish:suite", edited)
        report = rehearsal.conduct()
    assert ("suite", "inputs_moved") in [(one.requirement, one.kind) for one in report.failures]
    assert times(tmp_path) == 1


def test_a_run_that_has_to_end_tries_nothing_again_and_blames_nobody(tmp_path: Path) -> None:
    rehearsal = flaky(tmp_path, 2)
    with Faults() as faults:
        faults.at("run.finish:suite", rehearsal.retire)
        report = rehearsal.conduct()
    assert (report.outcome, report.other, report.failures) == ("cancelled", "other", ())
    assert times(tmp_path) == 1
    assert rehearsal.receipts() == {}


def test_a_job_keeps_what_it_holds_between_its_tries(tmp_path: Path) -> None:
    """Whoever waits comes after the last try."""
    policy = job("suite", THIRD.format(tmp_path / "times"), retries=2, holds=["db"])
    policy += job("other", f"cat {tmp_path}/times > {tmp_path}/seen", holds=["db"])
    rehearsal = Rehearsal(gated(tmp_path / "repo", policy, {".gitignore": "report.txt\n"}))
    assert rehearsal.conduct().outcome == "passed"
    assert (tmp_path / "seen").read_text() == "x\n" * 3
