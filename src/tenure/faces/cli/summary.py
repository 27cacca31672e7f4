"""What became of `tenure done`, as a page of Markdown for whoever looks at a CI job."""

import os
from collections.abc import Mapping

from tenure.faces.cli.board import Board
from tenure.faces.cli.markdown import block, code, table, text
from tenure.faces.cli.words import blamed, branch_name, seconds
from tenure.gate.inquiry import Answer
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Evidence
from tenure.gate.report import Failure

#: GitHub names the file in which a step leaves its summary, and refuses one of more than 1 MiB.
VARIABLE = "GITHUB_STEP_SUMMARY"
MOST_BYTES = 900_000

#: The most annotations of one kind that GitHub shows for a step.
_MOST_ANNOTATIONS = 10

_MOST_REASONS = 3
_TAIL_CHARACTERS = 8_000


def targets(asked: str | None, environ: Mapping[str, str]) -> list[str]:
    """The files that get the summary: the one that was asked for, and the one CI names."""
    return list(dict.fromkeys(path for path in (asked, environ.get(VARIABLE)) if path))


def append(path: str, page: str) -> str | None:
    """Append a page to a file in one write; what went wrong, if anything did."""
    data = page.encode()
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NONBLOCK | os.O_CLOEXEC
        descriptor = os.open(path, flags, 0o644)
        try:
            written = os.write(descriptor, data)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        return getattr(error, "strerror", None) or str(error)
    return None if written == len(data) else "there is no room for all of it"


def page_of(answer: Answer, board: Board) -> str:
    """The whole page. It stays below what GitHub takes, and says so if that meant to cut it."""
    asked = answer.situation.candidate
    where = f" on {code(branch_name(asked.branch))}" if asked.branch else ""
    parts = [f"### Tenure: {text(answer.outcome)}", f"Commit {code(asked.commit[:12])}{where}"]
    parts[1] += _told(answer)
    rows = _rows(answer, board)
    if rows:
        heads = ("requirement", "outcome", "how", "time:", "why it was not reused")
        parts.append(table(heads, rows))
    standards = _standards(answer)
    if standards:
        parts.append(table(("standard", "verdict", "value:", "limit:"), standards))
    objections = answer.situation.required.objections
    parts += [f"**{text(item.name)}**: {text(item.detail)}" for item in objections]
    failures = () if answer.report is None else answer.report.failures
    parts += map(_failure, failures)
    return _bounded(parts)


def page_of_error(sentence: str) -> str:
    """The page where there is no answer."""
    return f"### Tenure: could not tell\n\n{text(sentence)}\n\n"


def annotations(answer: Answer) -> list[str]:
    """A workflow command of GitHub's for each of the first failures, shown beside the log."""
    failures = () if answer.report is None else answer.report.failures
    told = [(blamed(failure), _annotated(failure)) for failure in failures]
    told += [(item.name, item.detail) for item in answer.situation.required.objections]
    return [
        f"::error title={_property(f'tenure: {name}')}::{_data(message)}"
        for name, message in told[:_MOST_ANNOTATIONS]
    ]


def _annotated(failure: Failure) -> str:
    return "\n".join([failure.detail, *failure.failing_tests])


def _data(value: str) -> str:
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")


def _told(answer: Answer) -> str:
    """The rest of the sentence that begins with the commit."""
    proof, report = answer.proof, answer.report
    if proof is None:
        reason = f": {text(report.reason)}" if report is not None and report.reason else ""
        ran = f" Run {code(answer.run)} in {code(answer.worktree or '')}." if answer.run else ""
        return f" is {text(answer.outcome)}{reason}.{ran}"
    accepted = f" Accepted policy changes: {', '.join(map(code, proof.accepted))}."
    before = "" if answer.run else " It was proven before, and nothing ran."
    return f" has Proof {code(proof.id)}.{before}" + (accepted if proof.accepted else "")


def _rows(answer: Answer, board: Board) -> list[tuple[str, ...]]:
    """A row for each requirement that is known of, as the Proof or the plan orders them."""
    if answer.proof is not None:
        return [_proven(item, board) for item in answer.proof.evidence]
    rows: list[tuple[str, ...]] = [
        (code(name), "passed", f"reused from run {code(run)}", "", "")
        for name, run in board.reused.items()
    ]
    for task in board.tasks.values():
        how = f"executed by run {code(board.run)}" if task.outcome not in ("", "unrun") else ""
        time = seconds(task.seconds) if how else ""
        outcome = text(task.outcome.replace("_", " ") or "not finished")
        rows.append((code(task.name), outcome, how, time, _why(task.reasons)))
    return rows


def _proven(item: Evidence, board: Board) -> tuple[str, ...]:
    task = board.tasks.get(item.requirement)
    how = f"{item.source} {'by' if item.source == 'executed' else 'from'} run {code(item.run)}"
    if item.source == "reused":
        how += f" in {code(item.worktree)}"
    why = _why(task.reasons) if task is not None else ""
    return code(item.requirement), "passed", how, seconds(item.seconds), why


def _why(reasons: tuple[str, ...]) -> str:
    more = len(reasons) - _MOST_REASONS
    told = list(map(text, reasons[:_MOST_REASONS]))
    return "; ".join([*told, f"{more} more"] if more > 0 else told)


def _standards(answer: Answer) -> list[tuple[str, ...]]:
    found: tuple[Measurement, ...] = ()
    if answer.proof is not None:
        found = answer.proof.standards
    elif answer.report is not None:
        found = answer.report.standards
    return [
        (code(item.standard), text(item.verdict), text(item.value or ""), text(item.limit))
        for item in found
    ]


def _failure(failure: Failure) -> str:
    parts = [f"**{text(blamed(failure))}**: {text(failure.detail)}"]
    tests = [f"- {code(name)}" for name in failure.failing_tests]
    more = failure.failing_count - len(failure.failing_tests)
    if tests:
        parts.append("\n".join([*tests, f"- and {more} more"] if more > 0 else tests))
    if failure.tail:
        shown = block(failure.tail[-_TAIL_CHARACTERS:])
        parts.append(f"<details><summary>its last lines</summary>\n\n{shown}\n\n</details>")
    if failure.reproduce:
        parts.append(f"To reproduce: {code(failure.reproduce)}")
    return "\n\n".join(parts)


def _bounded(parts: list[str]) -> str:
    page, left = "", MOST_BYTES
    for number, part in enumerate(parts):
        piece = f"{part}\n\n"
        left -= len(piece.encode())
        if left < 0:
            return (
                f"{page}{len(parts) - number} parts of this page are left out: it is too long.\n\n"
            )
        page += piece
    return page
