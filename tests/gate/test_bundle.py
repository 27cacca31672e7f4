"""A bundle is the bytes that were written and no others, and says what the specification says."""

import json

import google.protobuf.json_format as protobuf
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_toto_attestation.predicates.test_result.v0.test_result_pb2 import TestResult as ResultPb
from in_toto_attestation.v1.resource_descriptor import ResourceDescriptor
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementPb

from tenure.gate.attestation import attested
from tenure.gate.bundle import MOST_BYTES, opened
from tenure.gate.errors import BundleChanged, CannotTell
from tenure.gate.receipt import Try
from tests.gate.bundles import (
    RECEIPTS,
    TREE,
    bundle,
    compact,
    evidence,
    forged,
    lines_of,
    proof,
    receipt,
    resealed,
    with_another,
    without,
)

WHOLE = bundle()


def changed(data: bytes) -> str:
    """What a bundle that is refused says was changed."""
    with pytest.raises(BundleChanged) as refused:
        opened(data)
    told = str(refused.value)
    assert told.startswith(("this is no bundle", f"the bundle was changed: {refused.value.part}"))
    return str(refused.value.part)


# ── What is in it ────────────────────────────────────────────────────────────────────────


def test_it_says_what_the_proof_says():
    found = opened(WHOLE)
    about = found.summary.about
    assert (found.summary.tree, found.summary.policy) == (TREE, "b" * 64)
    assert (about.proof, about.commit, about.base) == (proof().id, "c" * 40, "a" * 40)
    assert found.summary.predicate.created == "2026-12-01T15:05:30Z"
    assert found.summary.predicate.properties == (
        "TENURE_POLICY_MET",
        "TENURE_JUDGED_BY_BASE",
        "TENURE_NO_POLICY_CHANGE_ACCEPTED",
    )
    assert [result.requirement for result in found.results] == ["lint", "test@base"]
    ran = found.results[0].ran
    assert (ran.receipt, ran.source, ran.milliseconds) == (RECEIPTS[0].id, "reused", 1234)
    assert ran.executed == "2026-12-01T15:05:29Z"
    assert [(each.standard, each.value) for each in about.standards] == [("coverage", "87.5")]


def test_an_accepted_change_is_said_in_its_properties():
    summary = opened(bundle(accepted=("test",))).summary
    assert summary.about.accepted == ("test",)
    assert "TENURE_NO_POLICY_CHANGE_ACCEPTED" not in summary.predicate.properties


def test_a_pass_that_took_a_retry_is_one_with_a_warning():
    once = Try(outcome="failed", code=1, seconds=1.0, log="runs/x/test@1.out")
    flaky = receipt("lint", 1, earlier=(once,))
    data = attested(proof(evidence=(evidence(flaky),)), {flaky.id: flaky})
    (result,) = opened(data).results
    assert (result.passed, result.flaky) == (True, True)
    said = result.predicate
    assert (said.result, said.passed, said.warned) == ("WARNED", (), ("lint",))
    read = protobuf.ParseDict(json.loads(lines_of(data)[2])["predicate"], ResultPb())
    assert list(read.warned_tests) == ["lint"]


def test_the_same_proof_is_always_the_same_bytes():
    assert bundle() == WHOLE


def test_every_line_is_json_in_the_one_form_that_others_write_too():
    for line in WHOLE.split(b"\n")[:-1]:
        assert compact(json.loads(line)) == line


def test_nothing_leaves_the_machine_that_is_its_own():
    for word in (b"secret", b"/home", b"ada", b"keyed", b"TOKEN", b"runs/", b"refs/heads"):
        assert word not in WHOLE


def test_every_statement_is_one_to_the_official_library():
    header, *statements = lines_of(WHOLE)
    assert json.loads(header) == {"format": "tenure proof bundle", "version": 1}
    kinds = []
    for line in statements:
        statement = Statement.copy_from_pb(protobuf.Parse(line, StatementPb()))
        statement.validate()
        assert [dict(each.digest) for each in statement.pb.subject] == [{"gitTree": TREE}]
        kinds.append(statement.pb.predicate_type)
    assert kinds == [
        "https://in-toto.io/attestation/svr/v0.2",
        "https://in-toto.io/attestation/test-result/v0.1",
        "https://in-toto.io/attestation/test-result/v0.1",
    ]


def test_every_predicate_has_what_its_specification_demands():
    summary, *results = [json.loads(line)["predicate"] for line in lines_of(WHOLE)[1:]]
    assert summary["verifier"]["id"].startswith("pkg:")
    assert summary["properties"]
    (policy,) = summary["verifier"]["policies"]
    ResourceDescriptor(**{key: policy[key] for key in ("name", "digest")}).validate()
    for name, result in zip(("lint", "test@base"), results, strict=True):
        read = protobuf.ParseDict(result, ResultPb())  # which takes no field it does not know
        assert (read.result, list(read.passed_tests)) == ("PASSED", [name])
        for configuration in read.configuration:
            ResourceDescriptor.copy_from_pb(configuration).validate()


def test_a_proof_of_more_than_anybody_reads_is_not_written():
    many = [receipt("x" * 80, number) for number in range(6_000)]
    with pytest.raises(CannotTell, match="are the most"):
        attested(proof(evidence=tuple(map(evidence, many))), {each.id: each for each in many})


# ── No bit of it changes unseen ──────────────────────────────────────────────────────────


def test_every_flipped_bit_is_refused_and_the_line_it_is_in_is_named():
    parts = ["the header", "the summary", "result 1", "result 2", "the seal"]
    where = [
        part
        for part, line in zip(parts, WHOLE.split(b"\n")[:-1], strict=True)
        for _ in range(len(line) + 1)
    ]
    for at in range(len(WHOLE)):
        for bit in range(8):
            flipped = bytearray(WHOLE)
            flipped[at] ^= 1 << bit
            named = changed(bytes(flipped)).split(" (")[0]
            expected = {where[at]}
            if 10 in (WHOLE[at], flipped[at]):  # a line's end came or went
                expected |= {*parts[parts.index(where[at]) :]}
            assert named in expected, (at, bit)


@given(st.data())
def test_whatever_is_cut_out_put_in_or_swapped_is_refused(data: st.DataObject):
    start = data.draw(st.integers(0, len(WHOLE)), label="start")
    end = data.draw(st.integers(start, len(WHOLE)), label="end")
    put = data.draw(st.binary(max_size=20), label="put in")
    other = WHOLE[:start] + put + WHOLE[end:]
    if other != WHOLE:
        changed(other)


@given(st.binary(max_size=300))
def test_what_is_no_bundle_is_refused(data: bytes):
    changed(data)


def test_lines_in_another_order_are_refused():
    header, summary, one, two = lines_of(WHOLE)
    assert changed(resealed([header, summary, two, one])) == "the summary"
    assert changed(resealed([summary, header, one, two])) == "the header"


# ── Sealed again by somebody who made it up ──────────────────────────────────────────────


def test_a_result_that_was_changed_and_not_listed_anew_is_named():
    lines = lines_of(WHOLE)
    lines[3] = lines[3].replace(b"run-2", b"run-9")
    assert changed(resealed(lines)) == "result 2 (line 4) of test@base"


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it["predicate"]["tenure"].update(candidate="0" * 64),
        lambda it: it["subject"][0]["digest"].update(gitTree="8" * 40),
        lambda it: it["predicate"]["verifier"]["policies"][0]["digest"].update(
            tenurePolicy="0" * 64
        ),
        lambda it: it["predicate"]["tenure"]["results"].reverse(),
        lambda it: it["predicate"]["tenure"]["results"].pop(),
    ],
)
def test_a_summary_that_contradicts_itself_is_refused(change):
    assert changed(forged(WHOLE, 1, change)).startswith(("the summary", "result"))


def test_a_result_about_another_tree_is_refused():
    data = forged(WHOLE, 2, lambda it: it["subject"][0]["digest"].update(gitTree="8" * 40))
    assert changed(data) == "result 1 (line 3) of lint"


def test_the_same_result_twice_is_refused():
    assert changed(with_another(WHOLE, 2, "lint")) == "the summary"
    assert opened(with_another(WHOLE, 2, "other")).results[-1].requirement == "other"
    assert len(opened(without(WHOLE, 2)).results) == 1


HOSTILE = {
    "nested deeply": b"[" * 200_000,
    "nested deeply in an object": b'{"_type":' * 100_000,
    "a key twice": b'{"format":"x","format":"tenure proof bundle","version":1}',
    "a huge number": b'{"format":"tenure proof bundle","version":' + b"9" * 5_000 + b"}",
    "an infinite number": b'{"format":"tenure proof bundle","version":1e999}',
    "a fraction": b'{"format":"tenure proof bundle","version":1.0}',
    "true": b'{"format":"tenure proof bundle","version":true}',
    "no number": b'{"format":"tenure proof bundle","version":"1"}',
    "white space": b'{"format": "tenure proof bundle","version":1}',
    "an unknown key": b'{"format":"tenure proof bundle","other":1,"version":1}',
    "a key short": b'{"version":1}',
    "a list": b"[]",
    "null": b"null",
    "nothing": b"",
    "half a character": b'{"format":"\\ud800","version":1}',
    "no UTF-8": b'{"format":"\xff","version":1}',
    "a mark of byte order": b'\xef\xbb\xbf{"format":"tenure proof bundle","version":1}',
    "another format": b'{"format":"a bundle","version":1}',
    "an older version": b'{"format":"tenure proof bundle","version":0}',
    "a negative version": b'{"format":"tenure proof bundle","version":-1}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_line_is_refused(name):
    lines = lines_of(WHOLE)
    assert changed(resealed([HOSTILE[name], *lines[1:]])) == "the header"
    assert changed(resealed([lines[0], HOSTILE[name], *lines[2:]])) == "the summary"
    last = resealed([*lines[:3], HOSTILE[name]])
    assert changed(last).startswith(("result 2", "the summary"))


@pytest.mark.parametrize(
    "change",
    [
        lambda it: it["predicate"]["tenure"].update(proof="a\x1b[2Jb"),
        lambda it: it["predicate"]["tenure"].update(proof="a\n"),
        lambda it: it["predicate"]["tenure"].update(proof="\u202eabc"),
        lambda it: it["predicate"]["tenure"].update(proof="x" * 301),
        lambda it: it["predicate"]["tenure"].update(commit="C" * 40),
        lambda it: it["predicate"]["tenure"]["standards"][0].update(value="1e9999999"),
        lambda it: it["predicate"]["tenure"]["standards"][0].update(value="NaN"),
        lambda it: it["predicate"].update(timeCreated="yesterday"),
        lambda it: it["predicate"]["verifier"].update(policies=[]),
        lambda it: it["predicate"]["verifier"].update(id="pkg:pypi/other"),
        lambda it: it.update(predicateType="https://in-toto.io/attestation/svr/v0.1"),
        lambda it: it.update(subject=[]),
        lambda it: it["subject"][0]["digest"].update(sha256="0" * 64),
    ],
)
def test_a_value_that_none_can_be_is_refused(change):
    assert changed(forged(WHOLE, 1, change)) == "the summary"


def test_a_newer_format_is_refused_as_newer_and_not_as_changed():
    newer = forged(WHOLE, 0, lambda it: it.update(version=2))
    with pytest.raises(CannotTell, match="format 2, and 1 is the newest"):
        opened(newer)


def test_a_file_that_is_too_long_is_not_read():
    assert changed(WHOLE + b" " * MOST_BYTES) == "the file"


@pytest.mark.parametrize(
    "data", [b"", b"{}\n", b"hello\n", b"PK\x03\x04\n\n", b'{"a":1}\n{"b":2}\n']
)
def test_a_file_that_never_was_a_bundle_is_not_called_a_changed_one(data):
    with pytest.raises(BundleChanged) as raised:
        opened(data)
    assert str(raised.value) == "this is no bundle that `tenure proof export` wrote"
