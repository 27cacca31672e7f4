"""What a job wrote: its last lines, and a log of a size one can keep."""

import os
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.jobs.output import compact, tail


@pytest.fixture
def log(tmp_path):
    def write(content):
        path = tmp_path / "job.log"
        path.write_bytes(content)
        return str(path)

    return write


def test_the_last_lines_are_shown(log):
    path = log(b"".join(b"line %d\n" % n for n in range(1, 101)))
    assert tail(path, lines=3) == "line 98\nline 99\nline 100"


def test_a_last_line_without_an_end_is_a_line(log):
    assert tail(log(b"one\ntwo"), lines=1) == "two"


def test_blank_lines_at_the_end_are_not_worth_showing(log):
    assert tail(log(b"one\n\n\x1b[0m\n  \n"), lines=1) == "one"


def test_a_blank_line_between_others_is_kept(log):
    assert tail(log(b"one\n\ntwo\n"), lines=3) == "one\n\ntwo"


def test_no_file_and_no_line_are_nothing(log, tmp_path):
    assert tail(str(tmp_path / "missing")) == ""
    assert tail(log(b"")) == ""
    assert tail(log(b"one\n"), lines=0) == ""


def test_bytes_that_are_no_text_are_marked(log):
    assert tail(log(b"caf\xe9 \xff\xfe\n")) == "caf� ��"


def test_all_256_bytes_can_be_shown(log):
    shown = tail(log(bytes(range(256)) * 100), lines=1000)
    assert shown
    assert all(character in "\t\n" or character >= " " for character in shown)
    assert not any("\x7f" <= character < "\xa0" for character in shown)
    shown.encode("utf-8")


@pytest.mark.parametrize("at", [4095, 4096, 8191, 65535, 65536])
@pytest.mark.parametrize("shift", [0, 1, 2, 3, 4])
def test_a_character_at_the_edge_is_whole_or_left_out(log, at, shift):
    content = b"x" * 10_000 + "🙂".encode() + b"y" * (at - shift)
    shown = tail(log(content), max_bytes=at)
    assert shown == ("🙂" if shift == 4 else "") + "y" * (at - shift)


@pytest.mark.parametrize("length", [4095, 4096, 8191, 65537])
def test_a_character_across_any_read_is_whole(log, length):
    content = "x" * length + "🙂\n"
    assert tail(log(content.encode() * 5), lines=5, max_bytes=10**6) == "\n".join(
        [content[:-1]] * 5
    )


def test_a_line_cut_at_the_front_is_left_out(log):
    assert tail(log(b"a long first line\nsecond\nthird\n"), max_bytes=13) == "second\nthird"
    assert tail(log(b"a long first line\nsecond\nthird\n"), max_bytes=12) == "third"
    assert tail(log(b"a long first line\nsecond\nthird\n"), max_bytes=20) == "second\nthird"


def test_the_end_of_one_huge_line_is_shown(log):
    assert tail(log(b"x" * 100_000 + b"the end"), max_bytes=10) == "xxxthe end"
    assert tail(log(b"x" * 100_000 + b"the end\n"), max_bytes=10) == "xxthe end"


def test_a_progress_bar_is_shown_as_it_stood_last(log):
    path = log(b"start\n  1%\r 50%\r100%\r\nnext\r\n 10%\r 20%")
    assert tail(path) == "start\n100%\nnext\n 20%"


@pytest.mark.parametrize(
    "escape",
    [
        b"\x1b[31;1m",
        b"\x1b[0m",
        b"\x1b[2K",
        b"\x1b[?25l",
        b"\x1b[38:2::1:2:3m",
        b"\x1b]0;a title\x07",
        b"\x1b]8;;https://example.invalid\x1b\\",
        b"\x1bP1$r0m\x1b\\",
        b"\x1b(B",
        b"\x1b7",
        b"\x1bM",
        b"\x07",
        b"\x08",
        b"\0",
        "\x9b".encode(),
        b"\x7f",
    ],
    ids=repr,
)
def test_escapes_and_controls_are_left_out(log, escape):
    assert tail(log(b"left" + escape + b" right\n")) == "left right"


def test_an_unfinished_escape_hides_no_line(log):
    shown = tail(log(b"one\n\x1b]0;never ended\ntwo\x1b\nthree\x1b[31"))
    assert shown == "one\n0;never ended\ntwo\nthree31"


@given(content=st.binary(max_size=300), lines=st.integers(0, 5), max_bytes=st.integers(1, 100))
def test_any_bytes_can_be_shown(tmp_path_factory, content, lines, max_bytes):
    path = tmp_path_factory.getbasetemp() / f"any-{os.getpid()}.log"
    path.write_bytes(content)
    shown = tail(str(path), lines=lines, max_bytes=max_bytes)
    assert shown.count("\n") < max(1, lines)
    assert len(shown) <= max_bytes
    assert shown.isprintable() or set(shown) - {"\n", "\t"} == {
        one for one in shown if one not in "\n\t"
    }


def test_a_small_log_stays_as_it_is(log):
    path = log(b"x" * 5000)
    assert compact(path, keep_head=1000, keep_tail=1000) == 0
    assert os.stat(path).st_size == 5000


@pytest.mark.parametrize("tail_kept", [1100, 1105, 1110])
def test_a_compacted_log_is_head_count_and_tail(log, tail_kept):
    content = b"".join(b"line %05d\n" % n for n in range(10_000))  # 11 bytes each
    path = log(content)
    missing = compact(path, keep_head=1105, keep_tail=tail_kept)
    with open(path, "rb") as file:
        kept = file.read()
    head, tail_ = content[: 100 * 11], content[-100 * 11 :]
    assert missing == 110_000 - 2200
    assert kept == head + b"[107800 bytes are left out here]\n" + tail_


def test_without_line_ends_the_count_still_has_a_line_of_its_own(log):
    path = log("🙂".encode() * 10_000)
    missing = compact(path, keep_head=1001, keep_tail=1002)
    with open(path, "rb") as file:
        text = file.read().decode("utf-8")
    assert text == "🙂" * 250 + f"\n[{missing} bytes are left out here]\n" + "🙂" * 250
    assert missing == 38_000


@pytest.mark.parametrize("keep_head", [0, 1, 2, 3, 4, 5, 4096, 4097])
@pytest.mark.parametrize("keep_tail", [0, 1, 2, 3, 4, 5, 4096, 4097])
def test_what_is_kept_and_what_is_counted_is_everything(log, keep_head, keep_tail):
    for content in (
        "🙂é".encode() * 5000,
        b"ab\n" * 10_000,
        b"\n" * 30_000,
        bytes(range(256)) * 117,
    ):
        path = log(content)
        missing = compact(path, keep_head=keep_head, keep_tail=keep_tail)
        with open(path, "rb") as file:
            kept = file.read()
        line = f"[{missing} bytes are left out here]\n".encode()
        head, found, end = kept.partition(line)
        assert found
        if len(head) > keep_head or not content.startswith(head):
            head = head.removesuffix(b"\n")  # which gave the count a line of its own
        assert content.startswith(head)
        assert content.endswith(end)
        assert len(head) <= keep_head
        assert len(end) <= keep_tail
        assert len(head) + missing + len(end) == len(content)


def test_compacting_again_changes_nothing(log):
    path = log(b"line\n" * 100_000)
    assert compact(path, keep_head=10_000, keep_tail=10_000) > 0
    size = os.stat(path).st_size
    assert compact(path, keep_head=10_000, keep_tail=10_000) == 0
    assert os.stat(path).st_size == size


def test_a_log_of_five_gigabytes_is_read_at_its_ends_only(tmp_path, monkeypatch):
    """Sparse, so that only somebody who reads it all needs the time and the memory."""
    path = tmp_path / "huge.log"
    size = 5 * 1024**3
    with open(path, "wb") as file:
        file.write(b"first\n")
        file.seek(size - 6)
        file.write(b"\nlast\n")
    read = []
    pread = os.pread

    def counting(descriptor, length, offset):
        part = pread(descriptor, length, offset)
        read.append(len(part))
        return part

    monkeypatch.setattr(os, "pread", counting)
    assert tail(str(path), lines=1) == "last"
    assert sum(read) == 64 * 1024 + 1
    read.clear()
    missing = compact(str(path), keep_head=1000, keep_tail=1000)
    assert sum(read) < 32 * 1024
    # The head ends with its only line, the tail begins with its last.
    assert missing == size - 6 - 5
    assert path.read_bytes() == b"first\n[%d bytes are left out here]\nlast\n" % missing


def test_a_real_job_may_write_more_than_it_may_keep(floor):
    write = "import sys\nfor n in range(200_000): sys.stdout.write('%06d🙂\\n' % n)"
    result = floor.run([sys.executable, "-c", write])
    assert result.output_size == 200_000 * 11
    assert compact(result.output, keep_head=110, keep_tail=110) == 200_000 * 11 - 220
    assert tail(result.output, lines=2) == "199998🙂\n199999🙂"
