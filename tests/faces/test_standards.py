"""Standards as requirements of `done`: measured from what a receipt kept, judged by the base."""

import json

import pytest

from tests.faces.calls import executed, failures, gated, job, reused, rows, tenure
from tests.gate.repos import commit, git

#: A test job whose report says what the file `n` of the commit says.
MEASURED = job(
    "test",
    "mkdir -p out; printf '{\"n\": %s}' $(cat n) > out/report.json; echo TENURE_METRIC lines $(cat n)",
    stage="test",
    inputs=["n"],
    outputs=["out/report.json"],
)


def standard(limit="10", *, metric='{ file = "out/report.json", json = "n" }', **keys):
    """The table of a standard named `size`."""
    keys = {"from": '"test"', "metric": metric, "direction": '"up"', "limit": limit, **keys}
    return "[standards.size]\n" + "".join(f"{key} = {value}\n" for key, value in keys.items())


LINE = '{ line = "lines" }'


def repository(tmp_path, policy="", n="12"):
    return gated(tmp_path / "repo", policy or MEASURED + standard(), {"n": n})


def details(ending):
    return [each["detail"] for each in ending.object["report"]["failures"]]


# ── Met and not met ──────────────────────────────────────────────────────────────────────


def test_a_proof_records_what_its_standards_came_to(tmp_path):
    repo = repository(tmp_path, MEASURED + standard("10", margin="0.5"), "9.50")
    ending = tenure(repo, "done", "--json")
    assert ending.code == 0, ending
    (found,) = ending.object["proof"]["standards"]
    (evidence,) = ending.object["proof"]["evidence"]
    assert found == {
        "standard": "size",
        "verdict": "met",
        "value": "9.5",
        "limit": "10",
        "margin": "0.5",
        "direction": "up",
        "job": "test",
        "source": "out/report.json (json n)",
        "receipt": evidence["receipt"],
        "detail": "",
    }
    assert ending.object["report"]["standards"] == [found]


def test_a_number_beyond_its_limit_is_not_met_with_everything_that_was_judged(tmp_path):
    repo = repository(tmp_path, MEASURED + standard("10", margin="0.5"), "9.4999")
    plain = tenure(repo, "done")
    told = (
        "9.4999 is below the limit (limit 10, margin 0.5, direction up; "
        "read from out/report.json (json n) of test)"
    )
    assert plain.code == 1
    assert "  XX      size  9.4999 is below the limit 10\n" in plain.out
    assert f"\nsize: {told}\n" in plain.out
    assert plain.out.endswith("(size)\n")
    again = tenure(repo, "done", "--json")
    assert (failures(again), details(again)) == ([("size", "missed")], [told])
    assert (executed(again), reused(again)) == ([], ["test"]), "the job itself passed"
    assert again.object["proof"] is None


MISSING = {
    "no such key": (standard(metric='{ file = "out/report.json", json = "m" }'), "there is no m"),
    "no such line": (
        standard(metric='{ line = "other" }'),
        "the job printed no line TENURE_METRIC other",
    ),
    "no number": (standard(), "n is a string, not a number"),
}


@pytest.mark.parametrize(
    ("name", "direction"), list(zip(MISSING, ("up", "down", "down"), strict=True)), ids=str
)
def test_a_missing_number_is_unmeasured_and_not_zero(tmp_path, name, direction):
    policy, why = MISSING[name]
    text = policy.replace('"up"', f'"{direction}"').replace("limit = 10", "limit = 0")
    repo = repository(tmp_path, MEASURED + text, '"x"' if name == "no number" else "12")
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("size", "unmeasured")]
    (detail,) = details(ending)
    assert detail.startswith(f"it was not measured: {why} (limit 0, direction {direction}, to be ")
    (found,) = ending.object["report"]["standards"]
    assert (found["verdict"], found["value"]) == ("unmeasured", None)


def test_a_standard_whose_job_fails_is_unrun_and_the_job_is_named(tmp_path):
    repo = repository(tmp_path, MEASURED.replace("mkdir", "false && mkdir") + standard())
    commit(repo, {"tenure.toml": job("test", "false", outputs=["out/report.json"]) + standard()})
    ending = tenure(repo, "done", "--json", "--accept-policy-change", "test")
    assert failures(ending) == [("test", "failed"), ("size", "unrun")]


# ── The receipt's copy ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("tree", ["deleted", "stale"])
def test_a_reused_job_says_the_number_it_said_whatever_lies_in_the_tree(tmp_path, tree):
    repo = repository(tmp_path, n="12")
    first = tenure(repo, "done", "--json")
    report = repo / "out" / "report.json"
    assert json.loads(report.read_text()) == {"n": 12}
    if tree == "deleted":
        report.unlink()
    else:
        report.write_text('{"n": 99}')
    commit(repo, {"b.txt": "another candidate\n"})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, reused(ending)) == (0, ["test"])
    (before,), (after,) = (e.object["proof"]["standards"] for e in (first, ending))
    assert after == before
    assert json.loads(report.read_text()) == {"n": 12}


def test_a_line_counts_when_the_log_of_its_run_is_gone(tmp_path):
    repo = repository(tmp_path, MEASURED + standard(metric=LINE))
    assert tenure(repo, "done").code == 0
    for log in (repo / ".git" / "tenure" / "runs").glob("*/test.out"):
        log.unlink()
    commit(repo, {"b.txt": "another candidate\n"})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, reused(ending)) == (0, ["test"])
    assert ending.object["proof"]["standards"][0]["value"] == "12"


def test_a_job_that_forges_a_report_of_another_job_changes_nothing(tmp_path):
    """Jobs share the tree. What is read was kept when its own job passed."""
    forger = job(
        "zz", "sleep 0; echo '{\"n\": 99}' > out/report.json", stage="test", needs=["test"]
    )
    repo = repository(tmp_path, MEASURED + forger + standard(), "5")
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("size", "missed")]
    assert ending.object["report"]["standards"][0]["value"] == "5"


def test_a_limit_is_another_question_and_the_same_receipt(tmp_path):
    repo = repository(tmp_path, n="12")
    first = tenure(repo, "done", "--json").object
    commit(repo, {"tenure.toml": MEASURED + standard("11")})
    second = tenure(repo, "done", "--json")
    assert (second.code, reused(second)) == (0, ["test"])
    assert second.object["candidate"] != first["candidate"]
    assert rows(repo, "SELECT count(*) FROM receipt") == [(1,)]


# ── Cheats ───────────────────────────────────────────────────────────────────────────────


def branched(tmp_path, **how):
    repo = repository(tmp_path, **how)
    git(repo, "checkout", "-q", "-b", "side")
    return repo


def objections(ending):
    return [(each["name"], each["kind"], each["detail"]) for each in ending.object["objections"]]


def test_a_lowered_limit_is_named_and_nothing_is_run(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": MEASURED + standard("3"), "n": "4"})
    ending = tenure(repo, "done", "--json")
    assert (ending.code, ending.object["outcome"]) == (1, "not met")
    told = "the branch loosens this standard of the base: limit from 10 to 3"
    assert objections(ending) == [("size", "loosened", told)]
    assert ending.object["run"] is None
    accepted = tenure(repo, "done", "--json", "--accept-policy-change", "size")
    assert accepted.code == 0, accepted
    assert accepted.object["proof"]["accepted"] == ["size"]


def test_a_removed_standard_is_named(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": MEASURED, "n": "1"})
    ending = tenure(repo, "done")
    assert ending.code == 1
    assert "size: the base requires this standard and the branch removes it" in ending.out
    assert "tenure done --accept-policy-change size" in ending.out


def test_a_standard_that_is_lowered_on_the_way_to_another_file_is_named(tmp_path):
    repo = branched(tmp_path)
    moved = (MEASURED + standard("3")).replace("[jobs.", "[tool.tenure.jobs.")
    moved = moved.replace("[standards.", "[tool.tenure.standards.")
    commit(repo, {"pyproject.toml": moved, "n": "4"}, remove=["tenure.toml"])
    assert objections(tenure(repo, "done", "--json"))[0][:2] == ("size", "loosened")
    same = moved.replace("limit = 3", "limit = 10.0")
    commit(repo, {"pyproject.toml": same, "n": "12"})
    assert tenure(repo, "done", "--json").object["proof"]["judged_by"] == "base"


def test_a_number_read_elsewhere_is_met_by_the_old_reading_as_well(tmp_path):
    repo = branched(tmp_path)
    elsewhere = MEASURED.replace("out/report.json;", "out/report.json; echo 99 > out/other;")
    elsewhere = elsewhere.replace('["out/report.json"]', '["out/report.json", "out/other"]')
    policy = elsewhere + standard("1", metric='{ file = "out/other", regex = "(.+)" }')
    commit(repo, {"tenure.toml": policy, "n": "4"})
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("size@base", "missed")]
    commit(repo, {"n": "11"})
    ending = tenure(repo, "done", "--json")
    assert ending.code == 0, ending
    found = {
        one["standard"]: (one["value"], one["limit"], one["job"])
        for one in ending.object["proof"]["standards"]
    }
    assert found == {"size": ("99", "1", "test"), "size@base": ("11", "10", "test@base")}


def test_a_reading_that_was_accepted_once_is_not_accepted_for_whoever_asks_next(tmp_path):
    """The same tree and the same judge: what differs is which standards have to be met."""
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": MEASURED + standard("1", metric=LINE), "n": "4"})
    accepted = tenure(repo, "done", "--json", "--accept-policy-change", "size")
    assert accepted.code == 0, accepted
    assert failures(tenure(repo, "done", "--json")) == [("size@base", "missed")]


def test_a_job_that_is_changed_to_say_a_better_number_is_measured_as_it_was(tmp_path):
    repo = branched(tmp_path)
    faked = MEASURED.replace("$(cat n) > out", "99 > out")
    assert faked != MEASURED
    commit(repo, {"tenure.toml": faked + standard(), "n": "4"})
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("size@base", "missed")]


def test_a_standard_may_be_tightened_and_then_has_to_be_met_as_it_is_now(tmp_path):
    repo = branched(tmp_path)
    commit(repo, {"tenure.toml": MEASURED + standard("13")})
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("size", "missed")]
    commit(repo, {"n": "13"})
    assert tenure(repo, "done").code == 0
