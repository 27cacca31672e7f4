"""The run log: whoever reads it sees every event once, and whoever writes it waits for nobody."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tenure.gate.narration import JobBegan, LogReader, Noted, RunLog


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[LogReader]:
    reader = LogReader(str(tmp_path))
    yield reader
    reader.close()


def names(reader: LogReader) -> list[str]:
    return [event.requirement for event in reader.events() if isinstance(event, JobBegan)]


def test_each_event_is_read_once_as_soon_as_it_is_written(
    tmp_path: Path, reader: LogReader
) -> None:
    assert names(reader) == []
    log = RunLog(str(tmp_path), None)
    log.write(JobBegan(requirement="lint"), 7)
    assert names(reader) == ["lint"]
    log.write(JobBegan(requirement="test"), 8)
    log.write(JobBegan(requirement="docs"), 9)
    assert names(reader) == ["test", "docs"]
    assert names(reader) == []


def test_an_event_that_is_half_written_is_read_when_it_is_whole(
    tmp_path: Path, reader: LogReader
) -> None:
    RunLog(str(tmp_path), None).write(JobBegan(requirement="lint"), 7)
    line = (tmp_path / "log").read_bytes()
    (tmp_path / "log").write_bytes(line + line[:20])
    assert names(reader) == ["lint"]
    with open(tmp_path / "log", "ab") as log:
        log.write(line[20:])
    assert names(reader) == ["lint"]


def test_a_line_that_nobody_understands_is_passed_over(tmp_path: Path, reader: LogReader) -> None:
    log = RunLog(str(tmp_path), None)
    with open(tmp_path / "log", "ab") as file:
        file.write(b'{"event": "of a later version"}\n\xff\n')
    log.write(JobBegan(requirement="lint"), 7)
    assert names(reader) == ["lint"]


def test_a_starter_that_does_not_look_is_not_waited_for(tmp_path: Path) -> None:
    read_end, write_end = os.pipe2(os.O_NONBLOCK)
    log = RunLog(str(tmp_path), write_end)
    for _ in range(2):
        try:
            while os.write(write_end, b"." * 65536):
                pass
        except BlockingIOError:
            pass
        log.write(Noted(text="it is told already"), 7)
    os.close(read_end)
    log.write(Noted(text="nobody is there"), 8)
    log.write(Noted(text="and nobody is told"), 9)
    os.close(write_end)
    assert len((tmp_path / "log").read_bytes().splitlines()) == 4
