"""A proposed policy as text, with the source of every line, and what was left out."""

import re
from collections.abc import Iterable

from tenure.gate.errors import PolicyError
from tenure.gate.policy_text import parse
from tenure.gate.proposal.chosen import Chosen
from tenure.gate.proposal.proposed import Proposed

#: As in a policy: what would ask for a shell.
_SHELL = re.compile(r"[|&;<>()$`*?\[\]#~!{}\\\n]|^\s*\w+=")

_HEAD = """\
# What has to pass before a commit counts as done. `tenure done` runs it.
# Every line is a guess from what is here: read it, change it, commit it.
"""

_MOST_COMMENTS = 20
_MOST_CHARACTERS = 160


def written(kept: Iterable[Chosen], unused: list[str], trunk: str, remark: str = "") -> str:
    """The policy of these jobs, each with its other sources. It always parses as one."""
    named = f"trunk = {quoted(trunk)}{f'  # {_comment(remark)}' if remark else ''}\n"
    parts = [_HEAD + (named if _refused(f'{named}[jobs.a]\nrun = "a"\n') is None else "")]
    for one in kept:
        job, text = one.job, _job(one.job, one.others)
        error = _refused(text)
        if error is None:
            parts.append(text)
        else:
            unused = [*unused, f"{job.source}: {job.command} ({error})"]
    if unused:
        told = [f"#   {_comment(line)}" for line in dict.fromkeys(unused)]
        more = len(told) - _MOST_COMMENTS
        rest = [f"#   and {more} more"] if more > 0 else []
        parts.append("\n".join(["# Seen and not proposed:", *told[:_MOST_COMMENTS], *rest, ""]))
    return "\n".join(parts)


def _job(job: Proposed, others: list[str]) -> str:
    source = f"{job.source}; see also {', '.join(others)}" if others else job.source
    key = "shell" if _SHELL.search(job.command) else "run"
    lines = [
        f"# {_comment(source)}",
        f"[jobs.{quoted(job.name) if '.' in job.name else job.name}]",
        f'stage = "{job.stage}"',
        f"{key} = {quoted(job.command)}",
    ]
    if job.set_env:
        pairs = ", ".join(f"{name} = {quoted(value)}" for name, value in job.set_env.items())
        lines.append(f"set-env = {{ {pairs} }}")
    if job.cwd != ".":
        lines.append(f"cwd = {quoted(job.cwd)}")
    lines.append(
        '# inputs = ["src/**"]: the files it reads; without it, any change runs this again'
    )
    if job.hint:
        lines.append(f"# {_comment(job.hint)}")
    return "\n".join(lines) + "\n"


def _refused(text: str) -> PolicyError | None:
    """Why this is no policy, None if it is one."""
    try:
        parse("tenure.toml", text.encode())
    except PolicyError as error:
        return error
    return None


def quoted(text: str) -> str:
    """A string of TOML."""
    told = text.encode("utf-8", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
    shown = (one if one.isprintable() or one == " " else f"\\U{ord(one):08X}" for one in told)
    return f'"{"".join(shown)}"'


def _comment(text: str) -> str:
    """One line that a comment can hold."""
    line = " ".join(
        "".join(
            one if one.isprintable() else " " for one in text.encode("utf-8", "replace").decode()
        ).split()
    )
    return line if len(line) <= _MOST_CHARACTERS else line[: _MOST_CHARACTERS - 1] + "…"
