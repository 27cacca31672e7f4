"""What CI runs: steps of GitHub Actions, scripts of GitLab."""

import re
from collections.abc import Iterator
from itertools import islice

from tenure.gate.proposal.parsed import yaml
from tenure.gate.proposal.proposed import Files, Findings, Proposed, text, texts
from tenure.gate.proposal.tools import recognised, words_of

GITHUB = ".github/workflows/"
GITLAB = ".gitlab-ci.yml"

READ = (GITLAB,)

#: Events after which CI judges a commit.
_JUDGING = {"push", "pull_request", "pull_request_target", "merge_group", "workflow_call"}

#: What prepares a machine, and judges nothing.
_PREPARING = (
    "apt", "apt-get", "sudo", "pip", "pip3", "uv", "uvx", "poetry", "pdm", "npm", "pnpm", "yarn",
    "bun", "corepack", "git", "echo", "printf", "cd", "mkdir", "cp", "mv", "rm", "chmod", "export",
    "set", "source", ".", "curl", "wget", "tar", "rustup", "brew", "docker", "which", "ls", "cat",
    "python", "python3", "node", "go", "cargo", "codecov", "coverage", "tenure", "true", "sleep",
)  # fmt: skip

#: A script of these is more than commands one after the other.
_CONTROL = re.compile(r"^\s*(if|for|while|case|until|function|\{|\()\b|<<|\bdone\b|\bfi\b", re.M)

#: No workflow has more steps; a file that repeats itself by reference might seem to.
_MOST = 500


def find(files: Files, found: Findings) -> None:
    """Propose what CI runs and nothing else here does, where the command is a known one."""
    for name in sorted(name for name in files if name.startswith(GITHUB)):
        for script, cwd in islice(_github(yaml(files, name, found)), _MOST):
            _add(script, cwd, name, found)
    for script, cwd in islice(_gitlab(yaml(files, GITLAB, found)), _MOST):
        _add(script, cwd, GITLAB, found)


def _github(content: object) -> Iterator[tuple[str, str]]:
    """The script and the directory of every step of a workflow that judges commits."""
    if not isinstance(content, dict):
        return
    events = content.get("on", content.get(True))  # YAML 1.1 takes `on` for true
    named = (
        {text(event) for event in events} if isinstance(events, (dict, list)) else {text(events)}
    )
    jobs = content.get("jobs")
    if not _JUDGING & named or not isinstance(jobs, dict):
        return
    for job in jobs.values():
        steps = job.get("steps") if isinstance(job, dict) else None
        for step in steps if isinstance(steps, list) else ():
            if isinstance(step, dict) and text(step.get("run")):
                yield step["run"], text(step.get("working-directory")) or "."


def _gitlab(content: object) -> Iterator[tuple[str, str]]:
    for name, job in content.items() if isinstance(content, dict) else ():
        if isinstance(job, dict) and not text(name).startswith("."):
            for script in texts(job.get("script")):
                yield script, "."


def _add(script: str, cwd: str, source: str, found: Findings) -> None:
    if _CONTROL.search(script):
        if any(recognised(part) for part in re.split(r"[;\n]|&&|\b(?:do|then)\b", script)):
            found.unused.append(f"{source}: a script that is more than a list of commands")
        return
    for line in _lines(script):
        for part in re.split(r"\s*(?:&&|;)\s*", line):
            words = words_of(part)
            if words[:1] == ["cd"] and len(words) == 2:
                cwd = words[1] if cwd == "." else f"{cwd}/{words[1]}"
                continue
            tool = recognised(part)
            if tool is None or "${{" in part:
                if words and (tool or words[0].rpartition("/")[2] not in _PREPARING):
                    found.unused.append(f"{source}: {part.strip()}")
                continue
            job = Proposed(
                name=tool.name,
                stage=tool.stage,
                command=part.strip(),
                source=source,
                tools=frozenset({tool.key}),
                cwd=cwd.removeprefix("./").rstrip("/") or ".",
            )
            found.jobs.append(job)


def _lines(script: str) -> list[str]:
    """The lines of a script without comments, continued ones as one."""
    joined = script.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and line.strip()[0] != "#"]
