"""What a link among a job's inputs leads to."""

import pytest

from tenure.gate.links import followed

LINKS = {
    b"src/file": b"../shared/m",
    b"src/dir": b"../lib",
    b"lib/on": b"../deep/end",
    b"deep": b"real",
    b"src/out": b"/etc/passwd",
    b"src/up": b"../../beside",
    b"src/self": b"self",
    b"other/link": b"../secret",
}


@pytest.mark.parametrize(
    ("path", "is_input"),
    [
        (b"src/file", True),
        (b"shared/m", True),
        (b"shared/n", False),
        (b"lib/a/b", True),
        (b"library", False),
        (b"deep", True),  # on the way
        (b"real/end", True),
        (b"real/end/x", True),
        (b"real/other", False),
        (b"etc/passwd", False),
        (b"beside", False),
        (b"secret", False),
    ],
)
def test_what_it_leads_to_counts_and_nothing_beside_it(path: bytes, is_input: bool) -> None:
    matches = followed(lambda one: one.startswith(b"src/"), LINKS)
    assert matches(path) == is_input


def test_without_a_link_among_them_inputs_stay_as_they_are() -> None:
    def matches(path: bytes) -> bool:
        return path == b"a"

    assert followed(matches, LINKS) is matches


def test_a_link_to_the_root_leads_to_everything() -> None:
    matches = followed(lambda one: one == b"top", {b"top": b"."})
    assert matches(b"any/where")
