"""What is judged, by whose policy, and what a checkout is called."""

import msgspec
import pytest

from tenure.gate.candidate import Judging, candidate, checkout_id, judges
from tenure.gate.worktree import start_read
from tests.gate.repos import commit, git, make_repo, worktree


def read(top, trunk="refs/heads/main"):
    return start_read(str(top), trunk).finish()


def test_on_a_branch_the_base_judges_then_the_tip_then_the_candidate(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    base = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "-b", "feature")
    head = commit(repo, {"f": "1"})
    git(repo, "checkout", "-q", "main")
    tip = commit(repo, {"m": "1"})
    git(repo, "checkout", "-q", "feature")
    assert judges(read(repo)) == [
        (Judging.BASE, base),
        (Judging.TIP, tip),
        (Judging.OWN, head),
    ]


def test_a_trunk_that_says_nothing_new_is_not_asked_twice(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    first = git(repo, "rev-parse", "HEAD")
    assert judges(read(repo)) == [(Judging.OWN, first)]
    second = commit(repo, {"a": "2"})
    assert judges(read(repo)) == [(Judging.BASE, first), (Judging.OWN, second)]
    git(repo, "checkout", "-q", "-b", "feature")
    third = commit(repo, {"a": "3"})
    assert judges(read(repo)) == [(Judging.BASE, second), (Judging.OWN, third)]


def test_unrelated_histories_are_judged_by_the_trunks_tip(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    tip = git(repo, "rev-parse", "HEAD")
    git(repo, "checkout", "-q", "--orphan", "other")
    head = commit(repo, {"o": "1"})
    assert judges(read(repo)) == [(Judging.TIP, tip), (Judging.OWN, head)]


def test_without_a_trunk_the_candidate_judges_itself(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    snapshot = read(repo, None)
    found = candidate(snapshot, *judges(snapshot)[-1])
    assert found.bootstrap
    assert (found.judging, found.judging_commit, found.trunk) == ("own", snapshot.head, None)


def test_a_candidate_is_a_value(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    commit(repo, {"a": "2"})
    snapshot = read(repo)
    found = candidate(snapshot, *judges(snapshot)[0])
    assert not found.bootstrap
    assert (found.tree, found.commit, found.base) == (snapshot.tree, snapshot.head, snapshot.base)
    assert found.branch == found.trunk == "refs/heads/main"
    assert msgspec.json.decode(msgspec.json.encode(found), type=type(found)) == found
    for field in found.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(found, field, "x")


def test_each_checkout_has_its_own_short_name_and_keeps_it(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    linked = worktree(repo, tmp_path / "w", "x")
    names = [checkout_id(read(top).repo.git_dir) for top in (repo, linked, repo)]
    assert names[0] == names[2] != names[1]
    for name in names:
        assert len(name) == 9
        assert name.isalnum()
        assert name[0] == "w"


def test_a_checkout_reached_through_a_link_has_the_same_name(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    (tmp_path / "link").symlink_to(repo)
    assert checkout_id(f"{tmp_path}/link/.git") == checkout_id(f"{repo}/.git")


def test_the_name_of_a_given_place_never_changes():
    assert checkout_id("/nowhere/in/particular/.git") == "w50a7ea16"
