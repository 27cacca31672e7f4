"""Faults in what is carried away: the bundle of a Proof, and what verifying it asks."""

from tests.mutations.planted import Mutation

BUNDLE = "tests/gate/test_bundle.py"
VERIFICATION = "tests/gate/test_verification.py"
FACES = "tests/faces/test_bundles.py"

CLEARING = "tests/gate/test_clearing.py"
DISK = "tests/gate/test_disk.py"
LAWS = "tests/conformance/test_memory.py::TestClearing"
STORED = "tests/conformance/test_sqlite.py::TestClearing"

EVIDENCE = (
    Mutation(
        "the lines of a bundle are not compared with its seal",
        "gate/bundle.py",
        "    _check_lines(data, lines, seal)\n",
        "",
        (BUNDLE,),
    ),
    Mutation(
        "a bundle's line may be written in any way",
        "gate/bundle.py",
        "        if _encoder.encode(value) == line:\n            return value\n",
        "        return value\n",
        (BUNDLE,),
    ),
    Mutation(
        "a result need not be the one that the summary lists",
        "gate/bundle.py",
        "if sha256(line) != listed[result.requirement]:",
        "if result.requirement not in listed:",
        (BUNDLE,),
    ),
    Mutation(
        "a newer bundle is read as if it were ours",
        "gate/bundle.py",
        "if header.version > VERSION:",
        "if header.version > VERSION + 1:",
        (BUNDLE,),
    ),
    Mutation(
        "a line of a bundle is named by its neighbour",
        "gate/bundle.py",
        'raise _changed(_called(at), "its digest',
        'raise _changed(_called(at + 1), "its digest',
        (BUNDLE,),
    ),
    Mutation(
        "a path leaves the machine in a bundle",
        "gate/attestation.py",
        "run=receipt.run,",
        "run=receipt.log,",
        (BUNDLE,),
    ),
    Mutation(
        "a word of a bundle may move the cursor of a terminal",
        "gate/statement.py",
        "x00-\\x1f\\x7f-\\x9f\\u2028",
        "x00\\x7f-\\x9f\\u2028",
        (BUNDLE,),
    ),
    Mutation(
        "a verified bundle may lack a requirement",
        "gate/verification.py",
        """            yield Reason(kind="missing", name=requirement.name, detail=detail)
""",
        """            yield from ()
""",
        (VERIFICATION,),
    ),
    Mutation(
        "a verified bundle may be about another policy",
        "gate/verification.py",
        "if bundle.summary.policy != policy:",
        "if bundle.summary.policy != policy and not judged.base:",
        (VERIFICATION,),
    ),
    Mutation(
        "a verified result may be of another definition",
        "gate/verification.py",
        "if result.definition != definition_digest(requirement.job):",
        "if not result.definition:",
        (VERIFICATION,),
    ),
    Mutation(
        "an accepted policy change is verified unasked",
        "gate/verification.py",
        "        if name not in told\n",
        "        if name not in told and name in judged.taken\n",
        (VERIFICATION,),
    ),
    Mutation(
        "a number in a bundle is believed instead of judged",
        "gate/verification.py",
        "if not required.standard.keeps(item.value):",
        "if not required.standard.keeps(item.limit) and not item.value:",
        (VERIFICATION,),
    ),
    Mutation(
        "a merge is tried out among the user's own objects",
        "gate/merging.py",
        '            objects=(place, os.path.join(repo.common_dir, "objects")),\n',
        "",
        (VERIFICATION,),
    ),
    Mutation(
        "a void Proof is exported",
        "gate/store.py",
        "            if not _stands(rows, proof):\n                return None\n            found = [",
        "            found = [",
        (FACES,),
    ),
    Mutation(
        "half a bundle is left behind where it cannot be put in place",
        "faces/cli/files.py",
        "            os.unlink(partial)\n",
        "",
        (FACES,),
    ),
    Mutation(
        "clearing takes the failure that makes a kept Proof void",
        "gate/clearing.py",
        "return needed.union(deciding.values())",
        "return needed",
        (LAWS,),
    ),
    Mutation(
        "clearing takes what a run at work may reuse",
        "gate/clearing.py",
        "needed = _receipts(clearing, kept, receipts, busy=bool(at_work))",
        "needed = _receipts(clearing, kept, receipts, busy=False)",
        (LAWS,),
    ),
    Mutation(
        "clearing takes a retired run that has not noticed",
        "gate/clearing.py",
        "at_work = {run.id for run in runs if run.report is None or run.id in unfinished}",
        "at_work = {run.id for run in runs if run.id in unfinished}",
        (LAWS,),
    ),
    Mutation(
        "clearing takes the log of a kept receipt",
        "gate/clearing.py",
        "    runs_needed |= {receipt.run for receipt in receipts if receipt.id in needed}\n",
        "",
        (CLEARING,),
    ),
    Mutation(
        "clearing a Proof leaves the memo that leads to it",
        "gate/stores/sqlite/rows.py",
        '        self._remove_memos(self._rows("list_memos_of_proof", {"proof": proof}))\n',
        "",
        ("tests/faces/test_gc.py",),
    ),
    Mutation(
        "clearing forgets how many attempts there were",
        "kernel/stores/sqlite/queries/remove_finished_attempts.sql",
        "AND sequence < (",
        "AND sequence <= (",
        (STORED,),
    ),
    Mutation(
        "an output goes whose receipt is yet to be recorded",
        "gate/disk.py",
        "before_ns = min(before_ns, named.since_ns)",
        "before_ns = max(before_ns, named.since_ns)",
        (DISK,),
    ),
    Mutation(
        "an output goes that was captured again a moment before",
        "gate/disk.py",
        "        if name in named.outputs or not _older(aside, before_ns):\n",
        "        if name in named.outputs:\n",
        (DISK,),
    ),
    Mutation(
        "a run lock goes that somebody holds",
        "gate/disk.py",
        "        and _free(entry.path)\n",
        "",
        (DISK,),
    ),
)
