"""The command line's grammar: verbs, their options, and the help they print."""

import argparse
from collections.abc import Callable, Sequence
from typing import NoReturn

from tenure.faces.cli.exits import IN_SHORT, PASSES, VERDICTS, Exit, meaning
from tenure.faces.cli.verbs import GROUPS, IN_A_FORM_OF_ITS_OWN, VERBS
from tenure.gate.errors import UsageError
from tenure.gate.policy_table import suggestion
from tenure.gate.text import readable

#: Whose hooks are answered.
TOOLS = ("claude-code", "codex", "pre-push")

#: Of what a terminal has: argparse keeps as much free on the right.
_MARGIN = 2


class _Parser(argparse.ArgumentParser):
    """A parser whose complaints are our errors, so that `--json` holds in every ending."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(what=message, next=f"see `{self.prog} --help`")

    def format_help(self) -> str:
        """The help, with the description as wide as the rest; only the examples stay as they are."""
        import shutil
        import textwrap

        cells = shutil.get_terminal_size().columns - _MARGIN
        self.description = textwrap.fill(self.description or "", cells)
        return super().format_help()


class _Overview(_Parser):
    """The parser of everything. Its help is one screen: the verbs, and where there is more."""

    def format_help(self) -> str:
        """A line for each verb, by what brings somebody here."""
        import textwrap

        lines = [self.format_usage()]
        for group, verbs in GROUPS.items():
            told = [(name, verb.brief) for name, verb in verbs.items() if verb.brief]
            lines += [
                f"{group if at == 0 else '':<10}{name:<11}{brief}"
                for at, (name, brief) in enumerate(told)
            ]
        codes = "; ".join(f"{code} {text}" for code, text in IN_SHORT.items())
        lines += [
            "",
            "First `tenure init`, then `tenure done`. More of each: `tenure VERB --help`.",
            textwrap.fill(f"Exit codes: {codes}; 128+n signal n.", 79),
            "",
        ]
        return "\n".join(lines)


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """What was typed.

    Raises:
        UsageError: it is no command line of ours.
        SystemExit: help or the version was asked for, and is printed.
    """
    chosen, unknown = make_parser().parse_known_args(_with_verb(arguments))
    if unknown:
        raise UsageError(
            what=f"unrecognized arguments: {readable(' '.join(unknown))}",
            next=f"see `tenure {chosen.verb} --help`",
        )
    for name, value in vars(chosen).items():
        if name != "cwd" and isinstance(value, str) and value != readable(value):
            raise UsageError(
                what=f"{readable(value)} is no text that {name} could be", next="type it as UTF-8"
            )
    return chosen


def _with_verb(arguments: Sequence[str]) -> list[str]:
    """The words with the verb as one of them, though it may be two: `proof export`.

    Raises:
        UsageError: there is no verb, and no option that needs none.
    """
    words = list(arguments)
    at = 0
    while at < len(words):
        word = words[at]
        if not word.startswith("-"):
            if word not in VERBS:
                raise UsageError(what=f"there is no verb {word!r}", next=suggestion(word, VERBS))
            if " ".join(words[at : at + 2]) in VERBS:
                words[at : at + 2] = [" ".join(words[at : at + 2])]
            else:
                _require_no_slip(words[at : at + 2])
            return words
        if word in ("-h", "--help", "--version"):
            return words
        at += 2 if word == "-C" else 1
    raise UsageError(
        what="there is no verb",
        next="`tenure init` proposes a policy, `tenure done` proves a commit, "
        "`tenure --help` lists the rest",
    )


def _require_no_slip(words: Sequence[str]) -> None:
    """Pass unless these are a verb of two words with the second one mistyped: `proof exprt`."""
    if len(words) < 2 or not set(words[1]) - set("0123456789abcdef"):
        return  # an id
    seconds = [verb.partition(" ")[2] for verb in VERBS if verb.startswith(f"{words[0]} ")]
    hint = suggestion(words[1], seconds)
    if hint.startswith("did you mean"):
        meant = hint.replace("'", f"'{words[0]} ", 1)
        raise UsageError(what=f"there is no verb {' '.join(words)!r}", next=meant)


def make_parser() -> argparse.ArgumentParser:
    """The whole grammar, which the reference in docs is made from as well."""
    parser = _Overview(prog="tenure", allow_abbrev=False)
    parser.add_argument("--version", action="version", version=f"tenure {_version()}")
    _everywhere(parser, json=False, cwd=None)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, parser_class=_Parser)
    for name, about in VERBS.items():
        verb = verbs.add_parser(
            name,
            description=f"{about.text[0].upper()}{about.text[1:]}.",
            epilog=_epilog(name),
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        hidden = name in IN_A_FORM_OF_ITS_OWN
        _everywhere(verb, json=argparse.SUPPRESS, cwd=argparse.SUPPRESS, hidden=hidden)
        if name in _OPTIONS:
            _OPTIONS[name](verb)
    return parser


def _epilog(name: str) -> str:
    """An example, and what the exit code says if that is more than whether it worked."""
    told = f"example: {VERBS[name].example}"
    if name in (*VERDICTS, *PASSES):
        met = meaning(Exit.MET, name)
        told += f"\nexit code: 0 {met}, 1 not {met}; the others are in `tenure --help`"
    return told


def _everywhere(
    parser: argparse.ArgumentParser, *, json: object, cwd: object, hidden: bool = False
) -> None:
    """What may stand before the verb as well as after it; what is said after it counts.

    A hidden `--json` is understood, so that it can be refused for what it is.
    """
    parser.add_argument(
        "--json",
        action="store_true",
        default=json,
        help=argparse.SUPPRESS if hidden else "print exactly one JSON object on standard output",
    )
    parser.add_argument(
        "-C", dest="cwd", metavar="DIR", default=cwd, help="act as if started in DIR"
    )


def _run_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--rerun", action="store_true", help="run every job, reuse nothing")
    verb.add_argument(
        "--accept-policy-change",
        metavar="NAME",
        action="append",
        default=[],
        help="accept that the branch changes or removes what the base requires under NAME; "
        "a Proof records it",
    )
    _waiting_options(verb)
    verb.add_argument(
        "--foreground", action="store_true", help="cancel the run if this command goes away"
    )


def _waiting_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--wait",
        metavar="TIME",
        help="stop waiting after TIME (90s, 10m) with exit code 75; the run goes on",
    )
    verb.add_argument(
        "--events",
        action="store_true",
        help="print what happens on standard error, as a JSON object a line",
    )


def _done_options(verb: argparse.ArgumentParser) -> None:
    _run_options(verb)
    verb.add_argument(
        "--ci",
        action="store_true",
        help="plain lines, and a summary in Markdown where the CI takes one; on GitHub, annotations too",
    )
    verb.add_argument(
        "--summary", metavar="FILE", help="append a summary of the answer, in Markdown, to FILE"
    )


def _check_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "jobs",
        nargs="*",
        metavar="JOB",
        help="run only these jobs and what they need; default: every job but those of stage fix",
    )
    _run_options(verb)


def _fix_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "jobs", nargs="*", metavar="JOB", help="run only these fix jobs; default: all of them"
    )
    _run_options(verb)


def _standards_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("names", metavar="NAME", nargs="*", help="the standards; default: all")
    verb.add_argument(
        "--pin",
        action="store_true",
        help="tighten the limits in the policy file to what was measured, one margin short of it",
    )
    verb.add_argument(
        "--onto",
        metavar="REF",
        help="measure this commit merged onto REF, judged by the limits of REF; "
        "cancelled if this command goes away",
    )
    _run_options(verb)


def _follow_options(verb: argparse.ArgumentParser) -> None:
    _run_argument(verb)
    _waiting_options(verb)


def _doctor_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--inputs",
        metavar="JOB",
        help="run JOB on a private copy that holds only its declared inputs, and say whether it passes",
    )


def _explain_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "jobs", nargs="*", metavar="JOB", help="explain these jobs; default: all that a check runs"
    )


def _run_argument(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "run", nargs="?", help="id of the run, or its first letters; default: the one here"
    )


def _cancel_options(verb: argparse.ArgumentParser) -> None:
    _run_argument(verb)
    verb.add_argument("--reason", default="asked by tenure cancel", help="recorded with the run")


def _proof_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "proof", nargs="?", help="id of the Proof, or its first letters; default: of this tree"
    )


def _proof_export_options(verb: argparse.ArgumentParser) -> None:
    _proof_options(verb)
    verb.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        default="-",
        help="where to write it, the whole file or none of it; default: - (standard output)",
    )


def _proof_verify_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("file", help="the bundle; - for standard input")
    verb.add_argument(
        "--commit", metavar="REV", help="the commit that has to be proven; default: HEAD"
    )
    verb.add_argument(
        "--onto",
        metavar="REF",
        help="refuse it as stale if the commit, merged with REF, would have another tree",
    )
    verb.add_argument(
        "--accept-policy-change",
        metavar="NAME",
        action="append",
        default=[],
        help="accept what was accepted under NAME when it was proven",
    )


def _proof_drop_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "receipt", help="id of the receipt, as `tenure explain` tells it, or its first letters"
    )
    verb.add_argument(
        "--reason", default="dropped by tenure proof drop", help="recorded with the receipt"
    )


def _gc_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--older-than",
        metavar="TIME",
        default="30d",
        help="remove nothing that is younger (default 30d)",
    )
    verb.add_argument(
        "--keep-proofs",
        metavar="N",
        type=int,
        default=100,
        help="keep the newest N Proofs however old they are (default 100); "
        "those of what is checked out anywhere stay too",
    )
    verb.add_argument("--dry-run", action="store_true", help="say what would go, remove nothing")


def _runs_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--limit", type=int, default=20, help="how many (default 20)")


def _init_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--print", action="store_true", help="show the proposal, write nothing")


def _hook_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("tool", choices=TOOLS, help="who calls: claude-code, codex or pre-push")
    verb.add_argument(
        "given",
        nargs="*",
        default=[],
        help="what the tool adds by itself: git its remote, Codex a notification",
    )
    verb.add_argument(
        "--wait",
        metavar="TIME",
        help="how long a run is waited for; it goes on (default for agents 5m, else to its end)",
    )
    verb.add_argument(
        "--blocks",
        type=int,
        metavar="N",
        default=3,
        help="let an agent go, loudly, after N blocks in a row in the same state (default 3)",
    )


def _sessions_options(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("action", choices=("ls", "show", "cancel"), help="ls, show or cancel")
    verb.add_argument("id", nargs="?", help="the session to show, or the turn to cancel")
    verb.add_argument(
        "--store", metavar="ADDRESS", required=True, help="address of the store: sqlite:///PATH"
    )
    verb.add_argument("--after", metavar="ID", default="", help="list sessions after this one")
    verb.add_argument("--limit", type=int, default=20, help="how many (default 20)")
    verb.add_argument("--reason", default="asked by tenure sessions", help="recorded with the turn")


_OPTIONS: dict[str, Callable[[argparse.ArgumentParser], None]] = {
    "done": _done_options,
    "check": _check_options,
    "fix": _fix_options,
    "standards": _standards_options,
    "doctor": _doctor_options,
    "explain": _explain_options,
    "follow": _follow_options,
    "cancel": _cancel_options,
    "proof": _proof_options,
    "proof export": _proof_export_options,
    "proof verify": _proof_verify_options,
    "proof drop": _proof_drop_options,
    "runs": _runs_options,
    "gc": _gc_options,
    "init": _init_options,
    "hook": _hook_options,
    "sessions": _sessions_options,
}


def _version() -> str:
    from importlib.metadata import version

    return version("tenure")
