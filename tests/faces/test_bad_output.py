"""Whatever a job prints, and however much: it is kept, shown as text, and decides nothing."""

import pytest

from tests.faces.calls import failures, gated, job, store, tenure

#: Every byte there is, as a shell's printf writes it.
EVERY_BYTE = "printf '" + "".join(f"\\{byte:03o}" for byte in range(256)) + "'"


def output_of(repo, name="lint"):
    """What the job of the one run here printed, as it is kept."""
    (found,) = (store(repo) / "runs").glob(f"*/{name}.out")
    return found


def test_every_byte_a_job_prints_is_kept_and_shown_as_text(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", f"{EVERY_BYTE}; echo; echo end; exit 1"))
    ending = tenure(repo, "done")
    assert ending.code == 1, ending
    assert "    | end\n" in ending.out
    assert all(character.isprintable() or character == "\n" for character in ending.out)
    assert output_of(repo).read_bytes() == bytes(range(256)) + b"\nend\n"
    assert tenure(repo, "done", "--json").object["report"]["failures"][0]["tail"].endswith("end")


@pytest.mark.parametrize("before", [65_533, 65_534, 65_535])
def test_a_character_at_an_edge_is_not_torn(tmp_path, before):
    print_it = f"head -c {before} /dev/zero | tr '\\0' x; printf '\\360\\237\\247\\252'; exit 1"
    repo = gated(tmp_path / "repo", job("lint", print_it))
    tail = tenure(repo, "done", "--json").object["report"]["failures"][0]["tail"]
    assert tail.endswith("x🧪")


def test_colours_and_progress_bars_are_left_out_of_what_is_shown(tmp_path):
    draw = "printf '\\033[31mred\\033[0m\\n10%%\\r50%%\\r100%% done\\n\\033]0;title\\007'; exit 1"
    repo = gated(tmp_path / "repo", job("lint", draw))
    found = tenure(repo, "done", "--json").object["report"]["failures"][0]
    assert found["tail"].splitlines() == ["red", "100% done"]


def test_a_job_that_prints_nothing_has_no_output_to_show(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "exit 1"))
    ending = tenure(repo, "done")
    assert "lint: it exited with 1\n    reproduce: (cd " in ending.out


def test_two_hundred_megabytes_are_cut_to_what_one_can_keep(tmp_path):
    print_it = "echo begin; head -c 200M /dev/zero; echo; echo end; exit 1"
    repo = gated(tmp_path / "repo", job("lint", print_it))
    ending = tenure(repo, "done", "--json")
    assert ending.code == 1, ending
    assert failures(ending) == [("lint", "failed")]
    assert ending.object["report"]["failures"][0]["tail"].endswith("end")
    kept = output_of(repo)
    assert kept.stat().st_size < 3_000_000
    content = kept.read_bytes()
    assert content.startswith(b"begin\n")
    assert content.endswith(b"\nend\n")
    assert b" bytes are left out here]" in content


@pytest.mark.slow
def test_two_gigabytes_are_a_job_like_any_other(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "head -c 2G /dev/zero; echo; echo end"))
    ending = tenure(repo, "done", "--json")
    assert ending.object["outcome"] == "met"
    assert output_of(repo).stat().st_size < 3_000_000


def test_output_that_a_job_deletes_is_no_fault(tmp_path):
    repo = gated(tmp_path / "repo", job("lint", "rm .git/tenure/runs/*/lint.out; exit 1"))
    ending = tenure(repo, "done", "--json")
    assert failures(ending) == [("lint", "failed")]
    assert ending.object["report"]["failures"][0]["tail"] == ""
