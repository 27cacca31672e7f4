"""`tenure standards`: measured, pinned, and measured as merged onto something else."""

import os

import pytest

from tests.faces.calls import failures, gated, job, reused, rows, tenure
from tests.faces.test_standards import MEASURED, objections, standard
from tests.gate.repos import commit, git, write

#: A job that counts what should get fewer: lines that say `todo`.
COUNTED = job("count", "echo TENURE_METRIC todo $(cat *.txt | grep -c todo)")
TODO = (
    '[standards.todo]\nfrom = "count"\nmetric = { line = "todo" }\ndirection = "down"\n'
    "limit = 4   # the fewer the better\n"
)
POLICY = MEASURED + standard("10", margin="0.5") + COUNTED + TODO


def repository(tmp_path, policy=POLICY, **files):
    text: dict[str | bytes, str | bytes] = {"n": "12", "t.txt": "todo\n" * 4}
    text.update(files)
    return gated(tmp_path / "repo", policy, text)


def measured(ending):
    return {
        each["standard"]: (each["verdict"], each["value"]) for each in ending.object["standards"]
    }


# ── Measured ─────────────────────────────────────────────────────────────────────────────


def test_every_standard_of_a_commit_is_measured_and_nothing_else_is_run(tmp_path):
    repo = repository(tmp_path, POLICY + job("slow", "false"))
    ending = tenure(repo, "standards", "--json")
    found = ending.object
    assert (ending.code, found["outcome"], found["meaning"]) == (0, "met", "met")
    assert measured(ending) == {"size": ("met", "12"), "todo": ("met", "4")}
    assert found["standards"] == found["report"]["standards"]
    assert (found["pinned"], found["onto"], found["objections"]) == ([], None, [])
    assert sorted(found["report"]["executed"]) == ["count", "test"]
    assert tenure(repo, "proof").code == 1
    assert git(repo, "status", "--porcelain") == ""


def test_people_are_told_what_each_came_to(tmp_path):
    repo = repository(tmp_path, n="9")
    ending = tenure(repo, "standards")
    assert ending.code == 1
    assert "  ok      todo  4 keeps the limit (limit 4, direction down; read from " in ending.out
    assert "\nsize: 9 is below the limit (limit 10, margin 0.5, direction up; " in ending.out
    assert ending.out.endswith(f"not met: {git(repo, 'rev-parse', 'HEAD')[:12]} on main (size)\n")
    ending = tenure(repo, "standards", "todo")
    assert ending.code == 0
    assert ending.out.endswith(" on main (1 standard)\n")


def test_a_standard_that_is_not_there_is_named_with_those_that_are(tmp_path):
    repo = repository(tmp_path)
    ending = tenure(repo, "standards", "tood")
    assert ending.code == 2
    assert "there is no standard 'tood'; did you mean 'todo'?" in ending.err
    commit(repo, {"tenure.toml": COUNTED}, remove=[])
    git(repo, "checkout", "-q", "--orphan", "alone")
    commit(repo, {"tenure.toml": COUNTED})
    ending = tenure(repo, "standards")
    assert ending.code == 2
    assert (
        "there is no standard that could be measured; declare one as [standards.NAME]" in ending.err
    )


def test_a_loosened_standard_is_named_and_measured_only_if_it_is_accepted(tmp_path):
    repo = repository(tmp_path)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": POLICY.replace("limit = 10", "limit = 3"), "n": "4"})
    ending = tenure(repo, "standards", "--json")
    assert (ending.code, objections(ending)[0][:2]) == (1, ("size", "loosened"))
    assert (ending.object["run"], ending.object["standards"]) == (None, [])
    assert tenure(repo, "standards", "todo").code == 0, "it is another one"
    accepted = tenure(repo, "standards", "--json", "--accept-policy-change", "size")
    assert measured(accepted)["size"] == ("met", "4")


def test_a_standard_that_was_removed_leaves_nothing_to_measure_and_nothing_is_no_pass(tmp_path):
    repo = repository(tmp_path)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"tenure.toml": MEASURED + COUNTED + TODO})
    ending = tenure(repo, "standards", "size", "--json")
    assert (ending.code, objections(ending)[0][:2]) == (1, ("size", "removed"))
    accepted = tenure(repo, "standards", "size", "--accept-policy-change", "size")
    assert accepted.code == 2
    assert "there is nothing left to measure" in accepted.err


def test_what_is_not_committed_is_measured_as_it_is_and_is_no_measurement_of_a_commit(tmp_path):
    repo = repository(tmp_path)
    write(repo, {"n": "9", "new.txt": "todo\n"})
    ending = tenure(repo, "standards", "--json")
    assert (ending.code, ending.object["committed"]) == (1, False)
    assert measured(ending) == {"size": ("missed", "9"), "todo": ("missed", "5")}
    (attempt,) = rows(repo, "SELECT kind FROM attempt")
    assert attempt == ("check",)
    head = git(repo, "rev-parse", "HEAD")[:12]
    plain = tenure(repo, "standards", "size")
    assert plain.out.endswith(f"not met: {head} on main, with what is not committed (size)\n")
    assert git(repo, "status", "--porcelain") == " M n\n?? new.txt"
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"n": "9"})
    committed = tenure(repo, "standards", "--json")
    assert (committed.object["committed"], reused(committed)) == (True, ["count", "test"])


def test_what_is_measured_in_one_worktree_is_reused_in_another(tmp_path):
    repo = repository(tmp_path)
    assert tenure(repo, "standards").code == 0
    git(repo, "worktree", "add", "-q", "--detach", str(tmp_path / "side"))
    ending = tenure(tmp_path / "side", "standards", "--json")
    assert (ending.code, reused(ending)) == (0, ["count", "test"])


# ── Pinned ───────────────────────────────────────────────────────────────────────────────


def test_a_pin_tightens_what_was_measured_and_the_commit_of_it_is_met(tmp_path):
    repo = repository(tmp_path, **{"t.txt": "todo\n"})
    ending = tenure(repo, "standards", "--pin", "--json")
    assert ending.code == 0, ending
    assert ending.object["pinned"] == [
        {"standard": "size", "before": "10", "after": "11.5"},
        {"standard": "todo", "before": "4", "after": "1"},
    ]
    expected = POLICY.replace("limit = 10", "limit = 11.5").replace(
        "limit = 4   #", "limit = 1   #"
    )
    assert (repo / "tenure.toml").read_text() == expected
    git(repo, "commit", "-q", "-a", "-m", "pin")
    assert tenure(repo, "done").code == 0
    again = tenure(repo, "standards", "--pin")
    assert "nothing is pinned: no limit can be tighter" in again.out
    assert git(repo, "status", "--porcelain") == ""


def test_nothing_is_pinned_where_something_was_not_met(tmp_path):
    repo = repository(tmp_path, n='"x"', **{"t.txt": "todo\n"})
    ending = tenure(repo, "standards", "--pin", "--json")
    assert (ending.code, failures(ending)) == (1, [("size", "unmeasured")])
    assert ending.object["pinned"] == []
    assert (repo / "tenure.toml").read_text() == POLICY
    assert (
        "nothing is pinned: not everything was measured and met"
        in tenure(repo, "standards", "--pin").out
    )
    assert tenure(repo, "standards", "todo", "--pin").code == 0
    assert (repo / "tenure.toml").read_text() == POLICY.replace("limit = 4", "limit = 1")


# ── Merged onto something else ───────────────────────────────────────────────────────────


def bits(repo):
    """Everything of a repository but its records: files, refs, index, objects, configuration."""
    found = {}
    for folder, folders, names in os.walk(repo):
        if folder.endswith("/.git") and "tenure" in folders:
            folders.remove("tenure")
        for name in names:
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, repo)] = file.read()
    return found


def test_two_branches_that_each_improve_are_measured_as_they_will_be_together(tmp_path):
    """Both tighten the same line alike, which merges without a word and says too little."""
    repo = repository(tmp_path, **{"t.txt": "todo\ntodo\n", "s.txt": "todo\ntodo\n"})
    pinned = POLICY.replace("limit = 4", "limit = 3")
    for branch, file in (("one", "t.txt"), ("two", "s.txt")):
        git(repo, "checkout", "-q", "-b", branch, "main")
        commit(repo, {file: "todo\n", "tenure.toml": pinned})
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "one")
    git(repo, "checkout", "-q", "two")
    before = bits(repo)
    ending = tenure(repo, "standards", "todo", "--onto", "main", "--json")
    assert (ending.code, measured(ending)) == (0, {"todo": ("met", "2")}), ending
    assert ending.object["standards"][0]["limit"] == "3", "that of main"
    assert ending.object["onto"] == {"ref": "main", "commit": git(repo, "rev-parse", "main")}
    assert ending.object["commit"] == git(repo, "rev-parse", "two")
    assert bits(repo) == before
    git(repo, "checkout", "-q", "main")
    git(repo, "merge", "-q", "--no-edit", "two")
    assert git(repo, "rev-parse", "main^{tree}") == ending.object["tree"], "it was the merged tree"
    landed = tenure(repo, "standards", "todo", "--pin", "--json")
    assert (landed.code, reused(landed)) == (0, ["count"]), "and its result is kept"
    assert landed.object["pinned"] == [{"standard": "todo", "before": "3", "after": "2"}]


def test_a_branch_that_is_fine_alone_and_would_redden_the_trunk_is_not_met(tmp_path):
    repo = repository(tmp_path)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"new.txt": "todo\n", "t.txt": "todo\n" * 3 + "done\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"tenure.toml": POLICY.replace("limit = 4", "limit = 3"), "u.txt": "\n"})
    git(repo, "checkout", "-q", "side")
    assert tenure(repo, "standards", "todo").code == 0
    ending = tenure(repo, "standards", "todo", "--onto", "main")
    assert ending.code == 1
    assert "todo: 4 is above the limit (limit 3, direction down; " in ending.out
    head = git(repo, "rev-parse", "HEAD")[:12]
    assert ending.out.endswith(f"not met: {head}, merged onto main (todo)\n")


def test_a_conflict_is_told_and_nothing_is_measured(tmp_path):
    repo = repository(tmp_path)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"t.txt": "one\n"})
    git(repo, "checkout", "-q", "main")
    commit(repo, {"t.txt": "two\n"})
    before = bits(repo)
    ending = tenure(repo, "standards", "--onto", "side", "--json")
    assert ending.code == 3
    assert "conflict in t.txt; merge or rebase" in ending.object["error"]["sentence"]
    assert ending.object["error"]["paths"] == ["t.txt"]
    assert bits(repo) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--onto=--all"], "'--all' names no commit of this repository"),
        (["--onto", "main", "--pin"], "--pin is about this checkout"),
        (["--onto", "main", "--wait", "5s"], "--wait is about this checkout"),
    ],
)
def test_what_cannot_be_measured_onto_something_is_refused(tmp_path, arguments, words):
    ending = tenure(repository(tmp_path), "standards", *arguments)
    assert ending.code == 2
    assert words in ending.err


def test_a_merged_tree_leaves_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    repo = repository(tmp_path)
    git(repo, "checkout", "-q", "-b", "side")
    commit(repo, {"u.txt": "\n"})
    assert tenure(repo, "standards", "--onto", "main").code == 0
    assert os.listdir(tmp_path / "scratch") == []
    kept = os.listdir(repo / ".git" / "tenure")
    assert [name for name in kept if name.startswith("checkout-")] == []


def test_a_merged_tree_of_uncommitted_work_is_refused(tmp_path):
    repo = repository(tmp_path)
    write(repo, {"t.txt": "edited\n"})
    ending = tenure(repo, "standards", "--onto", "main")
    assert ending.code == 3
    assert "t.txt" in ending.err
