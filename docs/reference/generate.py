"""Writes what the reference takes from the code, between its markers, and leaves the rest alone.

python -m docs.reference.generate            write
python -m docs.reference.generate --check    only say what is out of date, and exit with 1
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from docs.reference import runtime_tables
from docs.reference.tables import fields, table
from tenure.faces.cli.exits import MEANING
from tenure.faces.cli.grammar import make_parser
from tenure.faces.cli.verbs import VERBS
from tenure.gate import policy
from tenure.gate.disk import Usage
from tenure.gate.explanation import Difference, Explanation, Origin, Part
from tenure.gate.jobs import environment
from tenure.gate.measurement import Measurement
from tenure.gate.proof import Evidence, Proof
from tenure.gate.receipt import MetricLine, Output, Receipt
from tenure.gate.record import Cancel, RunRecord
from tenure.gate.report import Failure, Report
from tenure.gate.requirement import Objection
from tenure.gate.verification import Reason

HERE = Path(__file__).parent

_BEGIN = "<!-- generated: {} -->"
_END = "<!-- end of {} -->"


def verbs() -> str:
    """Every verb with its arguments."""
    return "\n\n".join(_verb(name, verb) for name, verb in _parsers().items())


def _verb(name: str, verb: argparse.ArgumentParser) -> str:
    own = [action for action in _actions(verb) if not _shared(action)]
    usage = " ".join([f"tenure {name}", *(_in_usage(action) for action in own)])
    parts = [
        f"## {name}",
        f"    {usage}",
        f"{verb.description} For example: `{VERBS[name].example}`",
    ]
    if own:
        rows = [(f"`{_spelled(action)}`", _sentence(action.help)) for action in own]
        parts.append(table(("argument", "what it does"), rows))
    return "\n\n".join(parts)


def shared_options() -> str:
    """The options that every verb has."""
    verb = next(iter(_parsers().values()))
    rows = [
        (f"`{_spelled(a)}`", _sentence(a.help))
        for a in _actions(verb)
        if _shared(a) and a.dest != "help"
    ]
    return table(("option", "what it does"), rows)


def _parsers() -> dict[str, argparse.ArgumentParser]:
    for action in _actions(make_parser()):
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001 - it has no other name
            return {name: action.choices[name] for name in VERBS}
    raise AssertionError("the grammar has verbs")


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return parser._actions  # noqa: SLF001 - argparse offers no other way to ask


def _shared(action: argparse.Action) -> bool:
    return action.dest in ("help", "json", "cwd")


def _spelled(action: argparse.Action) -> str:
    if not action.option_strings:
        return action.metavar if isinstance(action.metavar, str) else action.dest.upper()
    value = "" if action.nargs == 0 else f" {action.metavar or action.dest.upper()}"
    return action.option_strings[-1] + value


def _in_usage(action: argparse.Action) -> str:
    more = " ..." if action.nargs == "*" else ""
    told = f"{_spelled(action)}{more}"
    return told if action.required and action.nargs != "*" else f"[{told}]"


def _sentence(text: str | None) -> str:
    assert text, "every argument says what it does"
    return f"{text[0].upper()}{text[1:].rstrip('.')}."


def exit_codes() -> str:
    """Every exit code with its meaning."""
    rows = [(f"`{int(code)}`", meaning) for code, meaning in MEANING.items()]
    rows.append(("`128 + n`", "ended by its own signal n; 130 for an interrupt"))
    return table(("code", "meaning"), rows)


def policy_keys() -> str:
    """Every key of a policy, by table."""
    parts = []
    rows = policy.reference_rows()
    for name in dict.fromkeys(row.table for row in rows):
        parts.append(f"## {f'`[{name}]`' if name else 'At the top of the file'}")
        parts.append(
            table(
                ("key", "type", "default", "meaning"),
                [
                    (f"`{row.key}`", row.type, _default(row.default), row.meaning)
                    for row in rows
                    if row.table == name
                ],
            )
        )
    return "\n\n".join(parts)


def _default(text: str) -> str:
    return f"`{text}`" if text[0] in '"[{' or text in ("true", "false") else text


def later_keys() -> str:
    """Keys that are refused by name until a later version knows them."""
    return "\n".join(
        f"- {f'`[{name}]`' if name else 'at the top'}: {', '.join(f'`{k}`' for k in sorted(keys))}"
        for name, keys in policy.LATER.items()
    )


def passed_variables() -> str:
    """What every job gets from the caller."""
    names = [*sorted(environment.BASE), *(f"{prefix}*" for prefix in environment.BASE_PREFIXES)]
    return "\n".join(f"- `{name}`" for name in names)


def pinned_variables() -> str:
    """What every job gets, whatever the caller has."""
    return table(
        ("variable", "value"), [(f"`{n}`", f"`{v}`") for n, v in environment.PINNED.items()]
    )


def structs() -> str:
    """The records that appear in the JSON output, field by field."""
    return "\n\n".join(
        f"### {struct.__name__}\n\n{fields(struct)}"
        for struct in (
            Proof,
            Evidence,
            Measurement,
            Receipt,
            Output,
            MetricLine,
            Reason,
            Usage,
            Report,
            Failure,
            Objection,
            RunRecord,
            Explanation,
            Origin,
            Difference,
            Part,
            Cancel,
        )
    )


#: Each page, and what of it is made here.
PAGES: dict[str, dict[str, Callable[[], str]]] = {
    "cli.md": {"shared options": shared_options, "verbs": verbs},
    "policy.md": {"keys": policy_keys, "later keys": later_keys},
    "exit-codes.md": {"exit codes": exit_codes},
    "environment.md": {"passed": passed_variables, "pinned": pinned_variables},
    "json.md": {"records": structs},
    "runtime.md": {
        "names": runtime_tables.names,
        "calls": runtime_tables.calls,
        "events": runtime_tables.events,
        "errors": runtime_tables.errors,
        "kernel errors": runtime_tables.kernel,
        "records": runtime_tables.records,
    },
}


def rendered(page: str, text: str) -> str:
    """The text of a page with everything between its markers made anew."""
    for name, make in PAGES[page].items():
        begin, end = _BEGIN.format(name), _END.format(name)
        before, found, rest = text.partition(begin)
        _, ended, after = rest.partition(end)
        assert found, f"{page} has no place for {name}"
        assert ended, f"{page} has no end of {name}"
        text = f"{before}{begin}\n\n{make()}\n\n{end}{after}"
    return text


def main(arguments: Sequence[str]) -> int:
    """Write the pages, or say which are out of date."""
    stale = []
    for page in PAGES:
        path = HERE / page
        text = path.read_text(encoding="utf-8")
        anew = rendered(page, text)
        if anew != text:
            stale.append(page)
            if "--check" not in arguments:
                path.write_text(anew, encoding="utf-8")
    print(f"{'out of date' if '--check' in arguments else 'written'}: {', '.join(stale) or 'none'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
