"""What task runners can run: tox, nox, just, make."""

import ast
import re

from tenure.gate.proposal.parsed import toml
from tenure.gate.proposal.proposed import Files, Findings, Proposed, table, text, texts
from tenure.gate.proposal.python import sections
from tenure.gate.proposal.tools import purpose, recognised

_JUSTFILES = ("justfile", "Justfile", ".justfile")
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")

READ = ("tox.ini", "tox.toml", "pyproject.toml", "noxfile.py", *_JUSTFILES, *_MAKEFILES)

#: A longer line is no head of anything.
_MOST_CHARACTERS = 2000

_RECIPE = re.compile(r"@?([A-Za-z_][\w-]*)((?:\s+[^:\s]+)*)\s*:(?!=)([^#]*)(?:#.*)?")
_RULE = re.compile(r"([A-Za-z][\w./-]*)\s*:(?![=:])([^#]*)(?:#.*)?")


def target(
    runner: str, kind: str, called: str, commands: list[str], source: str, found: Findings
) -> None:
    """Propose a job for a target, if its name says what it is for.

    What it runs is known as far as its commands are; a command that is not known makes it more
    than the tools that are.
    """
    meant = purpose(called)
    if meant is None:
        return
    seen = [recognised(command) for command in commands]
    tools = {tool.key for tool in seen if tool is not None}
    fixes = any(tool is not None and tool.stage == "fix" for tool in seen)
    job = Proposed(
        name=meant[0],
        stage="fix" if fixes and meant[1] == "check" else meant[1],
        command=f"{runner} {called}",
        source=source,
        tools=frozenset(tools),
        called=f"{kind} {called}",
        whole=bool(seen) and None not in seen,
    )
    found.jobs.append(job)


def find_tox(files: Files, found: Findings) -> None:
    """Propose the environments of tox."""
    ini = sections(files, "tox.ini", found)
    name, envs = "tox.ini", {key: value.get("commands", "") for key, value in ini.items()}
    envs = {key.removeprefix("testenv:"): told for key, told in envs.items() if "testenv" in key}
    if "tox.toml" in files:
        name, content = "tox.toml", toml(files, "tox.toml", found)
    else:
        content = table(toml(files, "pyproject.toml", Findings()), "tool", "tox")
        name = "pyproject.toml" if content else name
    for env in table(content, "env"):
        envs[env] = "\n".join(_lines(table(content, "env", env).get("commands")))
    if content:
        envs["testenv"] = "\n".join(_lines(table(content, "env_run_base").get("commands")))
    for env, commands in envs.items():
        if env != "testenv":
            target("tox -e", "tox", env, commands.splitlines(), f"{name}: {env}", found)
    if "testenv" in envs:
        seen = [recognised(line) for line in envs["testenv"].splitlines() if line.strip()]
        tools = frozenset(tool.key for tool in seen if tool is not None)
        job = Proposed(
            name="test",
            stage="test",
            command="tox -q",
            source=name,
            tools=tools,
            called="tox test",
            whole=bool(seen) and None not in seen,
        )
        found.jobs.append(job)


def _lines(commands: object) -> list[str]:
    """The commands of tox in TOML, each of which is a list of words."""
    lists = commands if isinstance(commands, list) else []
    return [" ".join(texts(words)) for words in lists]


def find_nox(files: Files, found: Findings) -> None:
    """Propose the sessions of nox. The file is read, never run."""
    if "noxfile.py" not in files:
        return
    try:
        tree = ast.parse(files["noxfile.py"])
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        found.unused.append("noxfile.py: it does not parse as Python")
        return
    for node in tree.body:
        name = _session(node)
        if name is not None:
            runs = [call for call in ast.walk(node) if isinstance(call, ast.Call)]
            commands = [command for call in runs if (command := _ran(call))]
            target("nox -s", "nox", name, commands, f"noxfile.py: {name}", found)


def _session(node: ast.stmt) -> str | None:
    """The name of the session that a function is, if it is one."""
    if not isinstance(node, ast.FunctionDef):
        return None
    for decorator in node.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        decorated = call.func if call else decorator
        called = decorated.attr if isinstance(decorated, ast.Attribute) else decorated
        if called == "session" or (isinstance(called, ast.Name) and called.id == "session"):
            given = {each.arg: each.value for each in call.keywords} if call else {}
            name = given.get("name")
            named = text(name.value) if isinstance(name, ast.Constant) else ""
            return named or node.name
    return None


def _ran(call: ast.Call) -> str:
    """The words of `session.run("…")` that can be read."""
    if not (isinstance(call.func, ast.Attribute) and call.func.attr == "run"):
        return ""
    words = [arg.value for arg in call.args if isinstance(arg, ast.Constant)]
    return " ".join(word for word in words if isinstance(word, str))


def find_just(files: Files, found: Findings) -> None:
    """Propose the recipes of a justfile that can be called without arguments."""
    name = next((name for name in _JUSTFILES if name in files), None)
    if name is None:
        return
    for match, body in _blocks(files[name], _RECIPE):
        wants = [word for word in match[2].split() if "=" not in word and word[:1] != "*"]
        if not wants:
            commands = [line.strip().lstrip("@-") for line in body]
            target("just", "just", match[1], commands or [match[3]], f"{name}: {match[1]}", found)


def find_make(files: Files, found: Findings) -> None:
    """Propose the targets of a Makefile."""
    name = next((name for name in _MAKEFILES if name in files), None)
    if name is None:
        return
    for match, body in _blocks(files[name], _RULE):
        commands = [line.strip().lstrip("@-+") for line in body]
        target("make", "make", match[1], commands or [match[2]], f"{name}: {match[1]}", found)


def _blocks(content: str, head: re.Pattern[str]) -> list[tuple[re.Match[str], list[str]]]:
    """Each line that is a head, with the indented lines below it."""
    blocks: list[tuple[re.Match[str], list[str]]] = []
    body: list[str] = []
    for line in content.splitlines():
        if line[:1] in (" ", "\t"):
            body.append(line)
        elif line and line[0] != "#":
            body = []
            if len(line) <= _MOST_CHARACTERS and (match := head.fullmatch(line.rstrip())):
                blocks.append((match, body))
    return [(match, [line for line in body if line.strip()]) for match, body in blocks]
