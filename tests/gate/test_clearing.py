"""What clearing keeps, whatever a store has: all that a kept Proof needs, and all that decides."""

from collections.abc import Iterator

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.clearing import Clearing, Found, cleared
from tenure.gate.proof import Proof
from tenure.gate.receipt import Receipt
from tenure.gate.record import RunRecord
from tenure.gate.report import Report
from tenure.testing.conformance.gate_scene import run_record
from tests.gate import bundles

BEFORE = 100
ENDED = Report(outcome="failed", exit_code=1)


class Scene(msgspec.Struct):
    """A store: receipts and runs in order of age, Proofs that rest on some of the receipts."""

    receipts: list[Receipt]
    proofs: list[Proof]
    runs: list[RunRecord]


@st.composite
def scenes(draw: st.DrawFn) -> Scene:
    names = st.sampled_from("abc")
    moments = st.integers(BEFORE - 3, BEFORE + 2)
    runs = [
        msgspec.structs.replace(
            run_record("x"),
            id=f"run-{number}",
            started_wall_ns=draw(moments),
            ended_wall_ns=BEFORE - 1,
            report=draw(st.sampled_from([ENDED, ENDED, ENDED, None])),
        )
        for number in range(draw(st.integers(1, 4)))
    ]
    receipts = [
        bundles.receipt(
            draw(names),
            number,
            identity=draw(names),
            outcome=draw(st.sampled_from(["passed", "failed"])),
            dropped=draw(st.sampled_from(["", "", "wrong"])),
            run=draw(st.sampled_from(runs)).id,
            started_wall_ns=draw(moments),
            sequence=number,
        )
        for number in range(1, draw(st.integers(1, 8)))
    ]
    proofs = [
        bundles.proof(
            id=f"proof-{number}",
            tree=draw(names),
            run=draw(st.sampled_from(runs)).id,
            settled_wall_ns=draw(moments),
            evidence=tuple(
                bundles.evidence(each)
                for each in draw(st.lists(st.sampled_from(receipts), max_size=3))
            ),
        )
        for number in range(draw(st.integers(0, 4)) if receipts else 0)
    ]
    return Scene(receipts=receipts, proofs=proofs, runs=runs)


CLEARINGS = st.builds(
    Clearing,
    before_ns=st.just(BEFORE),
    keep_proofs=st.integers(0, 2),
    trees=st.sampled_from([frozenset[str](), frozenset("a")]),
)


def found_in(scene: Scene, clearing: Clearing) -> Found:
    return cleared(clearing, scene.proofs, scene.receipts, scene.runs, ())


def after(scene: Scene, found: Found) -> Scene:
    return Scene(
        receipts=[each for each in scene.receipts if each.id not in found.receipts],
        proofs=[each for each in scene.proofs if each.id not in found.proofs],
        runs=[each for each in scene.runs if each.id not in found.runs],
    )


def stands(scene: Scene, proof: Proof) -> bool:
    """Whether a Proof stands, as the store's own rule has it, written once more."""
    known = {each.id: each for each in scene.receipts}
    newest = {each.identity: each for each in scene.receipts}
    return all(
        item.receipt in known
        and known[item.receipt].passed
        and item.identity in newest
        and newest[item.identity].passed
        for item in proof.evidence
    )


@given(scenes(), CLEARINGS)
def test_a_kept_proof_stands_exactly_as_before(scene: Scene, clearing: Clearing) -> None:
    left = after(scene, found_in(scene, clearing))
    assert [stands(left, proof) for proof in left.proofs] == [
        stands(scene, proof) for proof in scene.proofs if proof in left.proofs
    ]


@given(scenes(), CLEARINGS)
def test_what_decides_an_identity_decides_it_as_long_as_it_has_receipts(
    scene: Scene, clearing: Clearing
) -> None:
    left = after(scene, found_in(scene, clearing))
    before = {each.identity: each.id for each in scene.receipts}
    for identity, deciding in {each.identity: each.id for each in left.receipts}.items():
        assert deciding == before[identity]


@given(scenes(), CLEARINGS)
def test_what_is_kept_has_its_log(scene: Scene, clearing: Clearing) -> None:
    left = after(scene, found_in(scene, clearing))
    runs = {run.id for run in left.runs}
    assert {receipt.run for receipt in left.receipts} <= runs
    assert {proof.run for proof in left.proofs} <= runs


@given(scenes(), CLEARINGS)
def test_nothing_young_goes_and_no_run_at_work(scene: Scene, clearing: Clearing) -> None:
    found = found_in(scene, clearing)
    for gone in _gone(scene, found):
        assert gone < BEFORE
    for run in scene.runs:
        assert run.report is not None or run.id not in found.runs


def _gone(scene: Scene, found: Found) -> Iterator[int]:
    yield from (each.started_wall_ns for each in scene.receipts if each.id in found.receipts)
    yield from (each.settled_wall_ns for each in scene.proofs if each.id in found.proofs)
    yield from (each.started_wall_ns for each in scene.runs if each.id in found.runs)


@given(scenes(), CLEARINGS)
def test_the_newest_proofs_and_those_of_chosen_trees_stay(scene: Scene, clearing: Clearing) -> None:
    found = found_in(scene, clearing)
    kept = scene.proofs[: clearing.keep_proofs]
    kept += [proof for proof in scene.proofs if proof.tree in clearing.trees]
    assert not {proof.id for proof in kept} & set(found.proofs)


@given(scenes(), CLEARINGS)
def test_once_cleared_there_is_nothing_left_to_clear(scene: Scene, clearing: Clearing) -> None:
    assert found_in(after(scene, found_in(scene, clearing)), clearing) == Found()


@given(scenes(), CLEARINGS, st.integers(1, 5))
def test_piece_by_piece_it_comes_to_the_same(scene: Scene, clearing: Clearing, most: int) -> None:
    whole = after(scene, found_in(scene, clearing))
    while (found := found_in(scene, clearing).first(most)).count:
        assert found.count <= most
        scene = after(scene, found)
    assert scene == whole
