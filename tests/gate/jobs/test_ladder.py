"""The steps of ending a process, and the time they are counted in."""

from signal import SIGINT, SIGKILL, SIGTERM

from tenure.gate.jobs.awake import AwakeTime
from tenure.gate.jobs.ladder import Ladder
from tenure.gate.jobs.outcome import Graces

GRACES = Graces(interrupt=8.0, terminate=4.0, survivors=2.0, unkillable=10.0)


def test_each_signal_of_the_ladder_is_due_once_and_in_order():
    ladder = Ladder.of_a_job(GRACES, 100.0)
    assert ladder.due(99.9) is None
    assert ladder.due(100.0) == SIGINT
    assert ladder.due(107.9) is None
    assert ladder.due(108.0) == SIGTERM
    assert ladder.due(111.9) is None
    assert ladder.due(112.0) == SIGKILL
    assert ladder.killing
    assert ladder.due(1000.0) is None


def test_the_ladder_is_spent_after_the_grace_of_its_last_signal():
    ladder = Ladder.of_what_is_left(GRACES, 0.0)
    assert ladder.due(0.0) == SIGTERM
    assert not ladder.spent(100.0)
    assert ladder.due(2.0) == SIGKILL
    assert not ladder.spent(11.9)
    assert ladder.spent(12.0)


def test_a_late_step_gives_the_next_its_whole_grace():
    ladder = Ladder.of_a_job(GRACES, 0.0)
    assert ladder.due(50.0) == SIGINT
    assert ladder.next_at == 58.0
    assert ladder.due(57.0) is None


def test_awake_time_is_the_callers_time_while_it_is_read():
    awake = AwakeTime(1000.0, 2.0)
    assert awake.at(1000.5) == 0.5
    assert awake.at(1002.5) == 2.5
    assert awake.at(1002.5) == 2.5


def test_an_hour_in_which_the_caller_was_stopped_counts_as_one_step():
    awake = AwakeTime(1000.0, 2.0)
    assert awake.at(1001.0) == 1.0
    assert awake.at(4601.0) == 3.0


def test_a_clock_that_goes_back_takes_nothing_away():
    awake = AwakeTime(1000.0, 2.0)
    assert awake.at(1001.0) == 1.0
    assert awake.at(900.0) == 1.0
    assert awake.at(901.0) == 2.0
