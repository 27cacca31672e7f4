"""Faults in what is carried away: the bundle of a Proof, and what verifying it asks."""

from tests.mutations.planted import Mutation

BUNDLE = "tests/gate/test_bundle.py"
VERIFICATION = "tests/gate/test_verification.py"
FACES = "tests/faces/test_bundles.py"

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
)
