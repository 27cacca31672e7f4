"""What a failure is worth to somebody else, and which exit code it has."""

from typing import get_args

import pytest

from tenure.gate.report import Failure, FailureKind, Report, adoptable, failed


def failure(kind: FailureKind) -> Failure:
    return Failure(requirement="test", kind=kind, detail="as it was")


CODES = {
    "failed": 1,
    "killed": 1,
    "timed_out": 1,
    "not_found": 1,
    "unrun": 3,  # what kept it from running decides, and is told besides
    "cancelled": 3,
    "inputs_moved": 3,
    "fixed": 1,
    "left_files": 1,
    "no_output": 1,
    "unkept": 3,
    "missed": 1,
    "unmeasured": 1,
    "unsettled": 1,
    "setup": 3,
}

ADOPTED = {"failed", "unrun", "no_output", "missed", "unmeasured"}


def test_every_kind_of_failure_is_in_the_tables() -> None:
    assert set(CODES) == set(get_args(FailureKind))


@pytest.mark.parametrize("kind", CODES)
def test_a_failure_is_not_met_unless_it_says_nothing_either_way(kind: FailureKind) -> None:
    outcome, code = failed((failure(kind),))
    assert code == CODES[kind]
    assert outcome == ("failed" if code == 1 else "unproven")


@pytest.mark.parametrize("kind", CODES)
def test_a_follower_adopts_only_what_is_about_the_candidate(kind: FailureKind) -> None:
    report = Report(outcome="failed", exit_code=1, failures=(failure(kind),))
    assert adoptable(report) == (kind in ADOPTED)


def test_one_failure_of_the_place_spoils_the_rest_for_followers() -> None:
    mixed = (failure("failed"), failure("killed"))
    assert not adoptable(Report(outcome="failed", exit_code=1, failures=mixed))
    assert failed((failure("failed"), failure("inputs_moved"))) == ("failed", 1)


def test_what_did_not_run_tells_as_much_as_what_kept_it_from_running() -> None:
    assert failed((failure("inputs_moved"), failure("unrun"))) == ("unproven", 3)
    assert failed((failure("failed"), failure("unrun"))) == ("failed", 1)


def test_a_cancelled_run_is_never_adopted() -> None:
    report = Report(outcome="cancelled", exit_code=4, failures=(failure("failed"),))
    assert not adoptable(report)
    assert not adoptable(Report(outcome="failed", exit_code=1))
