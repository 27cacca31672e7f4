"""The planted faults can be planted. That each is caught is shown by `make mutations`."""

from collections import Counter

import pytest

from tests.mutations.__main__ import MUTATIONS
from tests.mutations.overlay import ROOT


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_fault_has_one_place_and_changes_it(mutation):
    text = (ROOT / mutation.path).read_text(encoding="utf-8")
    assert text.count(mutation.old) == 1
    assert mutation.old != mutation.new


def test_every_fault_has_a_name_of_its_own():
    names = Counter(mutation.name for mutation in MUTATIONS)
    assert [name for name, times in names.items() if times > 1] == []


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_the_tests_of_a_fault_are_there(mutation):
    for selection in mutation.tests:
        if not selection.startswith("-"):
            assert (ROOT / selection.partition("::")[0]).is_file()
