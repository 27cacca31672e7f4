"""A job whose inputs have a link among them runs again when what that leads to changes."""

from pathlib import Path

import pytest

from tests.faces.calls import executed, gated, job, reused, tenure
from tests.gate.repos import commit


def linked(path: Path, link: str, to: str, reads: str) -> Path:
    """A repository whose one job reads `shared/m` over a link."""
    path.mkdir()
    (path / "src").mkdir()
    (path / link).symlink_to(to)
    policy = job("one", f"grep -q 1 {reads}", inputs=["src/**"])
    return gated(path, policy, {"shared/m": "1\n"})


@pytest.mark.parametrize(
    ("link", "to", "reads"),
    [
        ("src/m", "../shared/m", "src/m"),
        ("src/pkg", "../shared", "src/pkg/m"),
        ("src/all", "..", "src/all/shared/m"),
    ],
)
def test_what_a_link_among_the_inputs_leads_to_is_an_input(tmp_path, link, to, reads):
    repo = linked(tmp_path / "repo", link, to, reads)
    assert tenure(repo, "done").code == 0
    commit(repo, {"beside.txt": "1\n"})
    assert reused(tenure(repo, "done", "--json")) == ([] if to == ".." else ["one"])
    commit(repo, {"shared/m": "2\n"})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, executed(ending)) == (1, ["one"])
