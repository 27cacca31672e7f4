"""A Proof and its bundle for tests, and bundles that somebody made up and sealed again."""

import json
from collections.abc import Sequence
from typing import Any

from tenure.gate.attestation import attested
from tenure.gate.bundle import sha256
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import Receipt
from tenure.gate.requirement import candidate_identity

TREE = "7" * 40
POLICY, REQUIREMENTS = "b" * 64, "d" * 64


def receipt(name: str, number: int, **differs: Any) -> Receipt:
    """A receipt as a store has it, paths, keyed digests and all."""
    fields: dict[str, Any] = {
        "id": f"{number:032x}",
        "repository": "local",
        "requirement": name,
        "identity": f"{number:064x}",
        "parts": {
            "definition": "de" * 32,
            "inputs": f"tree {TREE}",
            "platform": "Linux x86_64 glibc 2.36",
            "env:TOKEN": "keyed-digest-of-the-token",
        },
        "outcome": "passed",
        "attempt": "attempt",
        "run": f"run-{number}",
        "worktree": "/home/ada/secret-project",
        "started_wall_ns": 1_796_137_529_999_999_999,
        "seconds": 1.2345,
        "log": "runs/x/test.out",
    }
    return Receipt(**{**fields, **differs})


def evidence(receipt: Receipt) -> Evidence:
    """What a Proof says of a receipt."""
    return Evidence(
        requirement=receipt.requirement,
        identity=receipt.identity,
        receipt=receipt.id,
        source="reused",
        run=receipt.run,
        worktree=receipt.worktree,
        executed_wall_ns=receipt.started_wall_ns,
        seconds=receipt.seconds,
    )


RECEIPTS = (receipt("lint", 1), receipt("test@base", 2))


def proof(**differs: Any) -> Proof:
    """A Proof that rests on RECEIPTS, and keeps one standard."""
    standard = Measurement(
        standard="coverage",
        verdict="met",
        value="87.5",
        limit="87",
        margin="0",
        direction="up",
        job="test@base",
        source="coverage.json (json totals)",
        receipt=RECEIPTS[1].id,
    )
    fields: dict[str, Any] = {
        "id": "0123456789abcdef0123456789abcdef",
        "repository": "local",
        "candidate": candidate_identity(TREE, POLICY, REQUIREMENTS),
        "attempt": "attempt",
        "run": "run",
        "tree": TREE,
        "commit": "c" * 40,
        "branch": "refs/heads/secret-branch",
        "base": "a" * 40,
        "judged_by": "base",
        "policy": POLICY,
        "requirements": REQUIREMENTS,
        "accepted": (),
        "evidence": tuple(map(evidence, RECEIPTS)),
        "standards": (standard,),
        "worktree": "/home/ada/secret-project",
        "settled_wall_ns": 1_796_137_530_000_000_000,
        "store": "/home/ada/secret-project/.git/tenure",
    }
    return Proof(**{**fields, **differs})


def bundle(**differs: Any) -> bytes:
    """The bundle of `proof(**differs)`."""
    return attested(proof(**differs), {each.id: each for each in RECEIPTS})


def lines_of(data: bytes) -> list[bytes]:
    """The lines of a bundle but its seal."""
    return data.split(b"\n")[:-2]


def resealed(lines: Sequence[bytes]) -> bytes:
    """A bundle of these lines, as whoever can write a file can seal it."""
    body = b"".join(line + b"\n" for line in lines)
    seal = {"lines": [sha256(line) for line in lines], "sha256": sha256(body)}
    return body + compact(seal) + b"\n"


def forged(data: bytes, line: int, change: Any) -> bytes:
    """The bundle with one line changed by `change`, which gets its object; listed and sealed anew."""
    lines = lines_of(data)
    found = json.loads(lines[line])
    change(found)
    lines[line] = compact(found)
    if line > 1:
        lines[1] = _listing(lines)
    return resealed(lines)


def without(data: bytes, line: int) -> bytes:
    """The bundle without a result, the summary and the seal as if it had never been there."""
    lines = lines_of(data)
    del lines[line]
    lines[1] = _listing(lines)
    return resealed(lines)


def with_another(data: bytes, line: int, name: str) -> bytes:
    """The bundle with a result once more, under another name."""
    lines = lines_of(data)
    found = json.loads(lines[line])
    found["predicate"]["configuration"][0]["name"] = name
    found["predicate"]["passedTests"] = [name]
    lines.append(compact(found))
    lines[1] = _listing(lines)
    return resealed(lines)


def compact(value: object) -> bytes:
    """JSON in the one form that a line has, by the standard library's own writer."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _listing(lines: Sequence[bytes]) -> bytes:
    summary = json.loads(lines[1])
    summary["predicate"]["tenure"]["results"] = [
        {
            "name": json.loads(line)["predicate"]["configuration"][0]["name"],
            "digest": {"sha256": sha256(line)},
        }
        for line in lines[2:]
    ]
    return compact(summary)
