"""The front door: every name is there, and nobody pays for those they do not use."""

import subprocess
import sys

import pytest

import tenure

LIGHT = """
import sys
before = set(sys.modules)
import tenure
print(sorted(set(sys.modules) - before))
"""


def test_coming_in_imports_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:0] = {sys.path!r}\n{LIGHT}"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "['tenure']"


@pytest.mark.parametrize("name", tenure.__all__)
def test_every_name_is_at_home_where_it_says(name: str) -> None:
    assert getattr(tenure, name) is not None
    assert name in dir(tenure)


def test_there_are_about_twenty_names_and_each_is_shown_to_type_checkers() -> None:
    assert len(tenure.__all__) == len(set(tenure.__all__)) <= 30
    with open(tenure.__file__, encoding="utf-8") as file:
        checked = file.read().partition("__all__")[0]
    assert [name for name in tenure.__all__ if name not in checked] == []


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        getattr(tenure, "Nothing")  # noqa: B009
