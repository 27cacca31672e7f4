"""Verifying asks git and the file: a table of what a bundle may fail to prove, and how that is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tenure.gate.attestation import attested
from tenure.gate.bundle import opened
from tenure.gate.errors import RepositoryError, UsageError
from tenure.gate.merging import merged
from tenure.gate.revision import find_commit, read_repository, read_revision
from tenure.gate.situation import Question
from tenure.gate.verification import Reason, require_recorded, stale, verify
from tests.faces.calls import gated, job
from tests.gate.bundles import forged, with_another, without
from tests.gate.rehearsal import Rehearsal
from tests.gate.repos import clone, commit, git, make_repo

POLICY = job("lint", "true", inputs=["a.txt"]) + job("test", "true", needs=["lint"])

COVERAGE = (
    job("test", "echo TENURE_METRIC share 87.5")
    + '[standards.coverage]\nfrom = "test"\nmetric = { line = "share" }\n'
    + 'direction = "up"\nlimit = 80\n'
)


def proven(top: Path, *accepted: str) -> bytes:
    """Prove what is checked out, and export it."""
    rehearsal = Rehearsal(top)
    question = Question(accepted=frozenset(accepted))
    report = rehearsal.conduct(question)
    assert report.outcome == "passed", report
    store = rehearsal.open_store()
    try:
        assert report.proof is not None
        proof = store.proof(report.proof)
        assert proof is not None
        receipts = store.evidence(proof)
        assert receipts is not None
        return attested(proof, receipts)
    finally:
        store.close()


def reasons(top: Path, data: bytes, *told: str, commit: str | None = None) -> list[tuple[str, str]]:
    """Kind and name of every reason why a bundle does not prove a commit; by default HEAD."""
    return [(each.kind, each.name) for each in verified(top, data, *told, commit=commit)]


def verified(top: Path, data: bytes, *told: str, commit: str | None = None) -> list[Reason]:
    bundle = opened(data)
    require_recorded(frozenset(told), bundle)
    repo, head = read_repository(str(top))
    accepted = frozenset(bundle.summary.about.accepted)
    judged = read_revision(repo, commit or head, accepted)
    return verify(bundle, judged, frozenset(told))


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A repository with a policy on main, and a branch that is checked out."""
    top = gated(tmp_path / "repo", POLICY)
    git(top, "switch", "-q", "-c", "work")
    commit(top, {"b.txt": "b\n"})
    return top


# ── Met ──────────────────────────────────────────────────────────────────────────────────


def test_it_proves_the_commit_it_was_made_for(repo: Path) -> None:
    assert reasons(repo, proven(repo)) == []


def test_it_proves_another_commit_of_the_same_tree(repo: Path) -> None:
    data = proven(repo)
    commit(repo)
    assert reasons(repo, data) == []


def test_it_is_verified_where_there_is_no_store(repo: Path, tmp_path: Path) -> None:
    data = proven(repo)
    elsewhere = clone(repo, tmp_path / "elsewhere")
    git(elsewhere, "remote", "set-head", "origin", "main")
    assert reasons(elsewhere, data) == []
    assert not (elsewhere / ".git" / "tenure").exists()


def test_it_proves_the_trunk_once_it_is_merged(repo: Path) -> None:
    data = proven(repo)
    git(repo, "switch", "-q", "main")
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge", "work")
    assert reasons(repo, data) == []


def test_the_first_policy_is_judged_by_itself(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", POLICY)
    assert reasons(top, proven(top)) == []


def test_a_commit_that_is_not_checked_out_can_be_asked_about(repo: Path) -> None:
    data = proven(repo)
    asked = git(repo, "rev-parse", "HEAD")
    git(repo, "switch", "-q", "main")
    assert reasons(repo, data, commit=asked) == []
    assert [kind for kind, _ in reasons(repo, data)] == ["other_tree"]


def test_a_standard_is_verified_by_its_number(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", COVERAGE)
    assert reasons(top, proven(top)) == []


# ── Not met ──────────────────────────────────────────────────────────────────────────────


def test_another_tree_is_not_proven(repo: Path) -> None:
    data = proven(repo)
    commit(repo, {"a.txt": "edited\n"})
    assert reasons(repo, data) == [("other_tree", "tree")]


def test_a_policy_that_judges_by_now_and_did_not_then_is_named(repo: Path) -> None:
    """The trunk moved on, the branch was put on top of it, and merging left its tree as it was."""
    data = proven(repo)
    git(repo, "switch", "-q", "main")
    commit(repo, {"tenure.toml": POLICY + job("more", "true")})
    git(repo, "switch", "-q", "work")
    git(repo, "merge", "-q", "-s", "ours", "-m", "Keep ours", "main")
    assert reasons(repo, data) == [("other_policy", "policy"), ("removed", "more")]


FORGED: dict[str, tuple[Callable[[bytes], bytes], list[tuple[str, str]]]] = {
    "a result is left out": (lambda data: without(data, 3), [("missing", "test")]),
    "a result failed": (
        lambda data: forged(data, 2, lambda it: it["predicate"].update(result="FAILED")),
        [("failed", "lint")],
    ),
    "a result only warns": (
        lambda data: forged(data, 2, lambda it: it["predicate"].update(result="WARNED")),
        [("failed", "lint")],
    ),
    "a result names a failed test": (
        lambda data: forged(data, 2, lambda it: it["predicate"].update(failedTests=["lint"])),
        [("failed", "lint")],
    ),
    "a result passed something else": (
        lambda data: forged(data, 2, lambda it: it["predicate"].update(passedTests=["test"])),
        [("failed", "lint")],
    ),
    "a result is of another definition": (
        lambda data: forged(
            data, 2, lambda it: _configuration(it)["digest"].update(tenureJob="0" * 64)
        ),
        [("other_definition", "lint")],
    ),
    "a result is of other inputs": (
        lambda data: forged(
            data, 2, lambda it: _configuration(it)["annotations"].update(inputs="0" * 64)
        ),
        [("other_inputs", "lint")],
    ),
    "a result is of another identity": (
        lambda data: forged(
            data, 2, lambda it: _configuration(it)["annotations"].update(identity="0" * 64)
        ),
        [("other_requirements", "requirements")],
    ),
    "there is a result more": (
        lambda data: with_another(data, 2, "other"),
        [("other_requirements", "other")],
    ),
}


def _configuration(result: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = result["predicate"]["configuration"][0]
    return found


@pytest.mark.parametrize("name", FORGED)
def test_what_somebody_made_up_is_named_where_git_knows_better(repo: Path, name: str) -> None:
    forge, expected = FORGED[name]
    assert reasons(repo, forge(proven(repo))) == expected


def test_a_number_that_does_not_keep_the_committed_limit_is_named(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", COVERAGE)
    data = proven(top)

    def standards(change: Callable[[list[dict[str, str]]], None]) -> bytes:
        return forged(data, 1, lambda it: change(it["predicate"]["tenure"]["standards"]))

    assert reasons(top, standards(lambda it: it[0].update(value="79.9", limit="1"))) == [
        ("failed", "coverage")
    ]
    assert reasons(top, standards(lambda it: it.clear())) == [("missing", "coverage")]
    assert reasons(top, standards(lambda it: it[0].update(job="other"))) == [
        ("missing", "coverage")
    ]
    assert reasons(top, standards(lambda it: it.append({**it[0], "standard": "more"}))) == [
        ("other_requirements", "more")
    ]


# ── Accepted policy changes ──────────────────────────────────────────────────────────────


def test_an_accepted_change_has_to_be_accepted_again(repo: Path) -> None:
    commit(repo, {"tenure.toml": job("lint", "exit 0", inputs=["a.txt"])})
    data = proven(repo, "lint", "test")
    assert reasons(repo, data) == [("not_accepted", "lint"), ("not_accepted", "test")]
    assert reasons(repo, data, "lint") == [("not_accepted", "test")]
    assert reasons(repo, data, "lint", "test") == []


def test_an_accepted_change_of_the_setup_is_one_too(tmp_path: Path) -> None:
    setup = '[setup]\nrun = "{}"\ninputs = ["a.txt"]\n'
    top = gated(tmp_path / "repo", setup.format("true") + POLICY)
    git(top, "switch", "-q", "-c", "work")
    commit(top, {"tenure.toml": setup.format("true again") + POLICY})
    data = proven(top, "setup")
    assert reasons(top, data) == [("not_accepted", "setup")]
    assert reasons(top, data, "setup") == []
    commit(top, {"tenure.toml": POLICY})
    data = proven(top, "setup")
    quiet = forged(data, 1, lambda it: it["predicate"]["tenure"].update(accepted=[]))
    assert reasons(top, quiet) == [("removed", "setup")]


def test_an_accepted_change_that_is_kept_quiet_about_is_named(repo: Path) -> None:
    commit(repo, {"tenure.toml": job("lint", "exit 0", inputs=["a.txt"])})
    data = proven(repo, "lint", "test")
    quiet = forged(data, 1, lambda it: it["predicate"]["tenure"].update(accepted=[]))
    assert reasons(repo, quiet) == [("removed", "test"), ("missing", "lint@base")]


def test_an_acceptance_that_the_bundle_does_not_record_is_a_mistake(repo: Path) -> None:
    data = proven(repo)
    with pytest.raises(
        UsageError, match="records no accepted policy change 'lint'; it records none"
    ):
        reasons(repo, data, "lint")


def test_a_recorded_acceptance_of_what_is_no_change_is_named(repo: Path) -> None:
    made_up = forged(
        proven(repo), 1, lambda it: it["predicate"]["tenure"].update(accepted=["lint"])
    )
    assert [kind for kind, _ in reasons(repo, made_up, "lint")] == ["other_policy"]


def test_a_judging_policy_that_was_passed_over_is_passed_over_again(tmp_path: Path) -> None:
    top = gated(tmp_path / "repo", "broken = [")
    git(top, "switch", "-q", "-c", "work")
    commit(top, {"tenure.toml": POLICY})
    data = proven(top, "policy")
    assert reasons(top, data) == [("not_accepted", "policy")]
    assert reasons(top, data, "policy") == []


# ── Merged with something else ───────────────────────────────────────────────────────────


def objects(top: Path) -> set[str]:
    return {str(path) for path in (top / ".git" / "objects").rglob("*")}


def test_a_bundle_is_stale_once_merging_gives_another_tree(repo: Path) -> None:
    bundle = opened(proven(repo))
    known, head = read_repository(str(repo))
    assert stale(bundle, "main", merged(known, head, "main").tree, "") == []
    git(repo, "switch", "-q", "main")
    commit(repo, {"c.txt": "c\n"})
    before = objects(repo)
    tree = merged(known, head, "main").tree
    assert objects(repo) == before
    (reason,) = stale(bundle, "main", tree, "")
    assert (reason.kind, reason.name) == ("stale", "main")
    assert f"merged with main the tree is {tree}" in reason.detail
    git(repo, "merge", "-q", "--no-ff", "-m", "Merge", "work")
    assert git(repo, "rev-parse", "HEAD^{tree}") == tree


def test_a_merge_that_conflicts_is_stale_and_names_the_paths(repo: Path) -> None:
    commit(repo, {"a.txt": "ours\n"})
    bundle = opened(proven(repo))
    git(repo, "switch", "-q", "main")
    commit(repo, {"a.txt": "theirs\n"})
    known, _ = read_repository(str(repo))
    merge = merged(known, "work", "main")
    assert (merge.tree, merge.conflicts) == (None, (b"a.txt",))
    (reason,) = stale(bundle, "main", None, "a.txt")
    assert reason.detail == "merged with main it conflicts in a.txt"


def test_a_repository_in_a_place_with_an_odd_name_is_merged_too(tmp_path: Path) -> None:
    top = make_repo(tmp_path / 'a:b"c\\d', {"a.txt": "a\n"})
    git(top, "switch", "-q", "-c", "work")
    commit(top, {"b.txt": "b\n"})
    known, head = read_repository(str(top))
    assert merged(known, head, "main").tree == git(top, "rev-parse", "HEAD^{tree}")


def test_histories_without_a_common_commit_cannot_be_merged(repo: Path) -> None:
    git(repo, "switch", "-q", "--orphan", "alone")
    commit(repo, {"z.txt": "z\n"})
    known, head = read_repository(str(repo))
    with pytest.raises(RepositoryError, match="merge-tree failed"):
        merged(known, head, "main")


def test_a_revision_that_is_none_is_a_mistake(repo: Path) -> None:
    known, head = read_repository(str(repo))
    assert find_commit(known, "HEAD") == head
    for typed in ("nowhere", "--all", "", "HEAD:a.txt", "HEAD^{tree}"):
        with pytest.raises(UsageError, match="names no commit"):
            find_commit(known, typed)
