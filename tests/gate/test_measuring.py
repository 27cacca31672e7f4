"""Committed measurement: the protocol of `done` without a Proof, and with standards alone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tenure.gate.kind import STANDARDS
from tenure.gate.situation import Question
from tenure.testing.faults import Faults, Planted
from tests.faces.calls import gated, job
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import commit, worktree
from tests.gate.test_run import locks
from tests.waiting import until

MEASURE = Question(kind=STANDARDS)


def standard(name: str = "size", limit: str = "10", *, of: str = "test", line: str = "n") -> str:
    return (
        f'[standards.{name}]\nfrom = "{of}"\nmetric = {{ line = "{line}" }}\n'
        f'direction = "up"\nlimit = {limit}\n'
    )


def says(name: str, value: str = "12", **keys: object) -> str:
    write = f"mkdir -p out; echo {value} > out/n; echo TENURE_METRIC n {value}"
    return job(name, f'{write}; [ -z "$RAN" ] || echo {name} >> "$RAN"', **keys)


def policy(tmp_path: Path, *more: str, limit: str = "10") -> str:
    ran = {"RAN": str(tmp_path / "ran")}
    return "".join(
        [
            says("format", stage="fix", set_env=ran),
            says("test", stage="test", needs=["format"], set_env=ran, outputs=["out"]),
            says("lint", set_env=ran),
            standard(limit=limit),
            *more,
        ]
    )


def rehearsal(tmp_path: Path, *more: str, limit: str = "10") -> Rehearsal:
    return Rehearsal(gated(tmp_path / "repo", policy(tmp_path, *more, limit=limit)))


def ran(tmp_path: Path) -> list[str]:
    file = tmp_path / "ran"
    return file.read_text().split() if file.exists() else []


# ── What it runs, records and leaves to `done` ───────────────────────────────────────────


def test_only_what_the_standards_take_is_run_and_no_proof_is_made(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path)
    report = measured.conduct(MEASURE)
    assert (report.outcome, report.exit_code, report.proof) == ("passed", 0, None)
    assert [(m.standard, m.verdict, m.value) for m in report.standards] == [("size", "met", "12")]
    assert ran(tmp_path) == ["format", "test"]
    attempt = measured.attempt()
    assert (attempt.kind, attempt.outcome) == ("standards", "passed")
    assert not measured.proven()
    assert locks(measured) == []


def test_done_reuses_what_was_measured_and_a_measurement_what_was_proven(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path)
    measured.conduct(MEASURE)
    proven = measured.conduct()
    assert (proven.executed, sorted(proven.reused)) == (("lint",), ["format", "test"])
    assert measured.proven()
    again = measured.conduct(MEASURE)
    assert (again.executed, sorted(again.reused)) == ((), ["format", "test"])
    assert again.standards == proven.standards


def test_a_standard_that_is_missed_settles_as_failed(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path, limit="13")
    report = measured.conduct(MEASURE)
    assert (report.outcome, report.exit_code) == ("failed", 1)
    assert [(f.requirement, f.kind) for f in report.failures] == [("size", "missed")]
    assert measured.attempt().outcome == "failed"
    assert measured.receipts()["test"].passed, "the job is not to blame"


def test_a_named_standard_is_measured_alone_and_is_a_question_of_its_own(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path, standard("other", "99", of="lint"))
    one = Question(kind=STANDARDS, requested=frozenset({"size"}))
    report = measured.conduct(one)
    assert (report.outcome, [m.standard for m in report.standards]) == ("passed", ["size"])
    assert ran(tmp_path) == ["format", "test"]
    both = measured.conduct(MEASURE)
    assert [(m.standard, m.verdict) for m in both.standards] == [
        ("size", "met"),
        ("other", "missed"),
    ]
    subjects = {measured.read(question).subject for question in (one, MEASURE, Question())}
    assert len(subjects) == 3


def test_a_lost_copy_of_a_report_is_no_verdict(tmp_path: Path) -> None:
    text = says("test", outputs=["out"]) + standard()
    text = text.replace('{ line = "n" }', '{ file = "out/n", regex = "([0-9]+)" }')
    measured = Rehearsal(gated(tmp_path / "repo", text))

    def lose() -> None:
        for kept in Path(measured.place.outputs).iterdir():
            kept.write_bytes(b"99\n")

    with Faults() as faults:
        faults.at("run.measure", lose)
        report = measured.conduct(MEASURE)
    assert (report.outcome, report.exit_code) == ("unproven", 3)
    assert "the captured copy of out/n is damaged; ask again with --rerun" in report.reason


# ── Every step of the protocol ───────────────────────────────────────────────────────────

EVERY_STEP = (
    "run.bound",
    "run.fix",
    "run.begin:format",
    "run.finish:format",
    "run.baseline",
    "run.publish",
    "run.jobs",
    "run.begin:test",
    "run.finish:test",
    "run.publish#2",
    "run.measure",
    "run.closing",
    "run.settle",
)


def at(faults: Faults, step: str, act: Callable[[], None]) -> None:
    """Plant `act` where a step is arrived at, `#2` for the second time."""
    name, _, time = step.partition("#")
    faults.skip(name, int(time or 1) - 1)
    faults.at(name, act)


@pytest.mark.parametrize(
    ("step", "limit"), [*((step, "13") for step in EVERY_STEP), ("run.settle", "10")]
)
def test_a_measurement_retired_at_any_step_ends_cancelled_and_tells_nothing_else(
    tmp_path: Path, step: str, limit: str
) -> None:
    measured = rehearsal(tmp_path, limit=limit)
    with Faults() as faults:
        at(faults, step, measured.retire)
        report = measured.conduct(MEASURE)
    assert (report.outcome, report.exit_code, report.other) == ("cancelled", 4, "other")
    assert report.reason.startswith("retired by run other (gone: somebody says so)")
    assert (report.failures, report.standards, report.proof) == ((), (), None)
    attempt = measured.attempt()
    assert (attempt.outcome, attempt.retired is not None) == ("cancelled", True)
    assert locks(measured) == []
    assert not measured.proven()


@pytest.mark.parametrize("step", EVERY_STEP)
def test_a_measurement_that_lapses_at_any_step_goes_on(tmp_path: Path, step: str) -> None:
    """Nobody retired it, so it still holds."""
    measured = rehearsal(tmp_path, '[gate]\nlease_ttl = "30ms"\nrenew_interval = "10ms"\n')
    lapsed: list[str] = []

    def stall() -> None:
        store = measured.open_store()
        try:
            (held,) = store.unfinished()
            until(lambda: store.licence(held) is not None, "the lease lapses")
            licence = store.licence(held)
            assert licence is not None
            lapsed.append(licence.ground)
        finally:
            store.close()

    with Faults() as faults:
        at(faults, step, stall)
        report = measured.conduct(MEASURE)
    assert lapsed == ["lapsed"]
    assert (report.outcome, report.exit_code) == ("passed", 0)
    attempt = measured.attempt()
    assert (attempt.outcome, attempt.retired) == ("passed", None)


def test_a_measurement_that_breaks_after_it_was_retired_reports_the_retirement(
    tmp_path: Path,
) -> None:
    measured = rehearsal(tmp_path)
    with Faults() as faults:
        faults.at("run.finish:test", measured.retire)
        faults.crash("run.measure")
        report = measured.conduct(MEASURE)
    assert (report.outcome, report.exit_code, report.other) == ("cancelled", 4, "other")


def test_a_measurement_that_breaks_is_settled_and_its_fault_gets_out(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path)
    with Faults() as faults:
        faults.crash("run.measure")
        with pytest.raises(Planted):
            measured.conduct(MEASURE)
    assert measured.attempt().outcome == "failed"


def test_whoever_asks_the_same_of_the_same_commit_joins_and_holds_nothing(tmp_path: Path) -> None:
    first = rehearsal(tmp_path)
    second = Rehearsal(worktree(first.top, tmp_path / "side", "side"))
    ended = []
    with Faults() as faults:
        faults.at("run.begin:test", lambda: ended.append(second.conduct(MEASURE)))
        report = first.conduct(MEASURE)
    assert report.outcome == "passed"
    assert [(each.outcome, each.other) for each in ended] == [("joined", first.run)]


def test_a_measurement_and_a_proof_of_the_same_commit_do_not_join(tmp_path: Path) -> None:
    first = rehearsal(tmp_path)
    second = Rehearsal(worktree(first.top, tmp_path / "side", "side"))
    ended = []
    with Faults() as faults:
        faults.at("run.begin:test", lambda: ended.append(second.conduct()))
        report = first.conduct(MEASURE)
    assert (report.outcome, [each.outcome for each in ended]) == ("passed", ["passed"])
    assert second.proven()


# ── What is read ─────────────────────────────────────────────────────────────────────────


def test_a_receipt_keeps_the_lines_that_a_pass_printed(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path)
    measured.conduct(MEASURE)
    (line,) = measured.receipts()["test"].metrics
    assert (line.name, line.number) == ("n", "12")


def test_the_log_says_what_was_measured_as_soon_as_it_is(tmp_path: Path) -> None:
    measured = rehearsal(tmp_path)
    measured.conduct(MEASURE)
    log = Path(measured.place.run(measured.run)) / "log"
    events = [json.loads(line) for line in log.read_text().splitlines()]
    (found,) = [event for event in events if event["event"] == "measured"]
    assert found["measurement"]["value"] == "12"


def test_another_commit_of_the_same_receipts_says_the_same(tmp_path: Path) -> None:
    text = says("test", inputs=["a.txt"], outputs=["out"]) + standard()
    measured = Rehearsal(gated(tmp_path / "repo", text))
    before = measured.conduct(MEASURE).standards
    (measured.top / "out" / "n").unlink()
    commit(measured.top, {"b.txt": "b\n"})
    report = measured.conduct(MEASURE)
    assert (report.reused, report.standards) == (("test",), before)
