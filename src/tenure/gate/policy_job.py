"""Reading `[jobs.NAME]`, and what has to fit between one job and another."""

from collections.abc import Iterable, Mapping

from tenure.gate.errors import UsageError
from tenure.gate.pattern import check_pattern, overlap, plain_path
from tenure.gate.policy import HEAVY, LATER, SETUP, STAGE_RANK, STAGES, Job, Slot, Stage, keys_of
from tenure.gate.policy_lines import Path
from tenure.gate.policy_table import Table, suggestion

#: A job's name is also the name of files.
_NAME_LENGTH = 80
_PLACES_MAX = 1024
_RETRIES_MAX = 10
_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_RESERVED = frozenset({"trunk", "policy", "setup"})

_VARIABLE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_")
_OPERATORS = frozenset({"&&", "||", "|", "|&", ";", "&", "<", ">", ">>", "2>", "2>&1", "&>"})


def read_job(name: str, jobs: Table, slots: Mapping[str, Slot]) -> Job | None:
    """The job that `name` declares, with one of the `slots`. What is wrong is noted, and read as if it were not there."""
    check_name(name, jobs, "job")
    table = jobs.table(name)
    if table is None:
        return None
    table.refuse_others(keys_of("jobs.NAME"), LATER.get("jobs.NAME", frozenset()))
    run = _run(table)
    stage = _stage(table)
    inputs = _inputs(table)
    set_env = _set_env(table)
    env = _variables(table, "env", {"set-env": set_env})
    pass_env = _variables(table, "pass-env", {"set-env": set_env, "env": env})
    return Job(
        name=name,
        run=run or (),
        stage=stage,
        inputs=inputs,
        outputs=_outputs(table),
        needs=table.texts("needs") or (),
        env=env,
        pass_env=pass_env,
        set_env=set_env,
        context=_context(table),
        timeout_seconds=table.seconds("timeout"),
        retries=_retries(table),
        reuse=table.flag("reuse", True),
        cwd=_cwd(table),
        slot=_slot(table, slots),
        holds=_holds(table),
    )


def _retries(table: Table) -> int:
    value = table.content.get("retries", 0)
    if type(value) is not int:
        table.mistyped(("retries",), "a number of retries", value)
        return 0
    if not 0 <= value <= _RETRIES_MAX:
        table.note("retries", f"{value} is no number of retries", f"use 0 to {_RETRIES_MAX}")
    return value


def read_slots(table: Table | None) -> dict[str, Slot]:
    """The slots of a policy, `heavy` among them."""
    found = {HEAVY: Slot(name=HEAVY)}
    for name, value in (table.content if table else {}).items():
        assert table is not None, "it has content"
        _check_plain(name, table, (name,), "a slot")
        size = None
        if type(value) is int:
            size = value
            if not 1 <= value <= _PLACES_MAX:
                table.note(name, f"{value} is no number of places", f"use 1 to {_PLACES_MAX}")
        elif value != "auto":
            table.mistyped((name,), 'a number of places or "auto"', value)
        found[name] = Slot(name=name, size=size)
    return found


def _slot(table: Table, slots: Mapping[str, Slot]) -> Slot | None:
    name = table.text("slot")
    if name is not None and name not in slots:
        after = f"{suggestion(name, slots)} If not, say its size under [slots]"
        table.note("slot", f"there is no slot {name!r}", after)
    return None if name is None else slots.get(name)


def _holds(table: Table) -> tuple[str, ...]:
    names = table.texts("holds") or ()
    for name in names:
        _check_plain(name, table, table.place("holds", name), "what a job holds")
    return names


def _check_plain(name: str, table: Table, place: Path, of: str) -> None:
    """Note a name that cannot be a file's."""
    if not name or name[0] in "._-" or not _NAME.issuperset(name) or len(name) > _NAME_LENGTH:
        after = "use letters, digits, `.`, `_`, `-`, a letter or digit first, not too many"
        table.note(place, f"{name!r} is no name of {of}", after)


def read_setup(top: Table) -> Job | None:
    """What `[setup]` declares: a job that is run in a checkout before all others."""
    table = top.table("setup")
    if table is None:
        return None
    table.refuse_others(keys_of("setup"), frozenset())
    set_env = _set_env(table)
    env = _variables(table, "env", {"set-env": set_env})
    return Job(
        name=SETUP,
        run=_run(table) or (),
        inputs=_inputs(table),
        env=env,
        pass_env=_variables(table, "pass-env", {"set-env": set_env, "env": env}),
        set_env=set_env,
        timeout_seconds=table.seconds("timeout"),
        cwd=_cwd(table),
    )


def check_needs(jobs: Table, read: Mapping[str, Job]) -> None:
    """Note needs that name no job, a job of a later stage, or each other in a circle."""
    for name, job in read.items():
        table = jobs.table(name)
        assert table is not None, "a job that was read has a table"
        for need in job.needs:
            place = table.place("needs", need)
            if need == name:
                table.note(place, "a job cannot need itself", "remove it")
            elif need not in jobs.content:
                others = [other for other in jobs.content if other != name]
                table.note(place, f"there is no job {need!r}", suggestion(need, others))
            elif need in read and STAGE_RANK[read[need].stage] > STAGE_RANK[job.stage]:
                what = f"{need!r} runs later: {read[need].stage} comes after {job.stage}"
                table.note(place, what, "need jobs of the same or an earlier stage")
    for circle in _circles(read):
        what = f"the jobs need each other in a circle: {' → '.join([*circle, circle[0]])}"
        jobs.note((circle[0], "needs"), what, "remove one of these needs")


def check_outputs(jobs: Table, read: Mapping[str, Job]) -> None:
    """Note outputs that two jobs would write, one inside the other included."""
    owners: dict[str, str] = {}
    for name, job in read.items():
        for output in job.outputs:
            for other, owner in owners.items():
                if overlap(output, other):
                    whose = "of this job" if owner == name else f"of {owner!r}"
                    what = f"{output!r} meets the output {other!r} {whose}"
                    jobs.note((name, "outputs"), what, "give every output a place of its own")
            owners.setdefault(output, name)


def _circles(read: Mapping[str, Job]) -> list[list[str]]:
    """Circles of needs, none sharing a job, each from its first job in file order."""
    left = {name: [n for n in job.needs if n in read and n != name] for name, job in read.items()}
    found = []
    while left:
        free = [name for name, needs in left.items() if not any(need in left for need in needs)]
        if not free:
            walk = [next(iter(left))]
            while walk[-1] not in walk[:-1]:
                walk.append(next(need for need in left[walk[-1]] if need in left))
            free = walk[walk.index(walk[-1]) : -1]
            first = free.index(min(free, key=list(read).index))
            found.append(free[first:] + free[:first])
        for name in free:
            del left[name]
    return found


def check_name(name: str, table: Table, of: str) -> None:
    """Note a name that cannot be one of a job or a standard, whichever this is a name `of`."""
    if name in _RESERVED:
        table.note(name, f"{name!r} is a reserved name", "choose another one")
    elif "@" in name:
        table.note(name, "`@` is reserved for definitions of the base", "choose a name without it")
    elif not name or name[0] in "._-" or not _NAME.issuperset(name):
        what = f"{name!r} is no name of a {of}"
        table.note(name, what, "use letters, digits, `.`, `_`, `-`, and a letter or digit first")
    elif len(name) > _NAME_LENGTH:
        table.note(name, f"the name is longer than {_NAME_LENGTH} characters", "shorten it")


def _stage(table: Table) -> Stage:
    text = table.text("stage")
    for stage in STAGES:
        if text == stage:
            return stage
    if text is not None:
        table.note("stage", f"there is no stage {text!r}", suggestion(text, STAGES))
    return "check"


def _run(table: Table) -> tuple[str, ...] | str | None:
    """`run` or `shell`: exactly one of them."""
    if "shell" in table.content:
        if "run" in table.content:
            table.note("shell", "`run` and `shell` exclude each other", "keep one of them")
        text = table.text("shell")
        if text is not None and not text.strip():
            table.note("shell", "it is empty", "write the command, or remove the job")
        return text
    if "run" not in table.content:
        table.note((), "there is neither `run` nor `shell`", "say what is to be run")
        return None
    return _command(table, ("run",), table.content["run"])


def _context(table: Table) -> tuple[tuple[str, ...], ...]:
    items = enumerate(table.items("context", "commands") or ())
    commands = [_command(table, ("context", index), item) for index, item in items]
    return tuple(command for command in commands if command is not None)


def _command(table: Table, below: Path, value: object) -> tuple[str, ...] | None:
    """A string split into words, or a list as it is."""
    if isinstance(value, str):
        words = table.checked(below, value, split_words)
    elif isinstance(value, list):
        words = tuple(item for item in value if isinstance(item, str))
        if len(words) < len(value):
            index = next(i for i, item in enumerate(value) if not isinstance(item, str))
            table.mistyped((*below, index), "a string", value[index])
            return None
    else:
        table.mistyped(below, "a string or a list of strings", value)
        return None
    if words is None:
        return None
    if not words or not words[0].strip():
        table.note(below, "the command is empty", "write what to run")
        return None
    if any("\0" in word for word in words):
        table.note(below, "a NUL character can be part of no command or path", "remove it")
        return None
    return words


def split_words(text: str) -> tuple[str, ...]:
    """The words of a command line, quotes undone. Nothing is expanded, and nothing can be piped.

    Raises:
        UsageError: a quote is not closed, or it reads like a shell's: an operator stands
            alone, or a variable is set in front.
    """
    if not text.isascii() or not text.isprintable() or set(text) & set("\"'\\"):
        words = _split_quoted(text)
    else:
        words = tuple(text.split())
    operators = _OPERATORS.intersection(words, text.split())
    if operators:
        raise UsageError(
            what=f"`{min(operators)}` would be an argument, there is no shell",
            next="write `shell = …` to run it in a shell, or a list if it is an argument",
        )
    name, equals, _ = words[0].partition("=") if words else ("", "", "")
    if equals and is_variable(name):
        raise UsageError(
            what=f"{words[0]!r} would be the name of the program, there is no shell",
            next="set variables with `set-env`",
        )
    return words


def _split_quoted(text: str) -> tuple[str, ...]:
    import shlex

    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        trouble = (
            "the quotes are unbalanced" if "quotation" in str(error) else "it ends in a backslash"
        )
        raise UsageError(what=f"{trouble} in {text!r}", next="close the quote") from error


def _inputs(table: Table) -> tuple[str, ...] | None:
    patterns = table.texts("inputs")
    if patterns is None:
        return None
    if not patterns and not table.content["inputs"]:
        table.note(
            "inputs", "one pass would count for every tree", "leave it out for the whole tree"
        )
    for pattern in patterns:
        table.checked(table.place("inputs", pattern), pattern, check_pattern)
    return patterns


def _outputs(table: Table) -> tuple[str, ...]:
    found = []
    for output in table.texts("outputs") or ():
        place = table.place("outputs", output)
        path = table.checked(place, output, plain_path)
        if path == ".":
            table.note(place, "the whole tree cannot be an output", "name what the job writes")
        elif path is not None:
            found.append(path)
    return tuple(found)


def _cwd(table: Table) -> str:
    text = table.text("cwd")
    path = None if text is None else table.checked(("cwd",), text, plain_path)
    return path or "."


def _set_env(table: Table) -> dict[str, str]:
    entry = table.table("set-env")
    if entry is None:
        return {}
    values = {name: entry.text(name) for name in entry.content}
    for name in values:
        _check_variable(entry, (name,), name)
    return {name: value for name, value in values.items() if value is not None}


def _variables(table: Table, key: str, taken: Mapping[str, Iterable[str]]) -> tuple[str, ...]:
    """Names of variables; `taken` has those of other keys."""
    names = table.texts(key) or ()
    for name in names:
        place = table.place(key, name)
        _check_variable(table, place, name)
        for other, theirs in taken.items():
            if name in theirs:
                table.note(place, f"{name!r} is in {other} too", "keep one of them")
    return names


def is_variable(name: str) -> bool:
    """Whether a name can be an environment variable's."""
    return bool(name) and _VARIABLE.issuperset(name) and not name[0].isdigit()


def _check_variable(table: Table, below: Path, name: str) -> None:
    if not is_variable(name):
        table.note(below, f"{name!r} is no name of a variable", "use letters, digits and `_`")
    elif name.startswith(("GIT_", "TENURE_")):
        what = f"{name!r} never reaches a job from here"
        table.note(below, what, "GIT_* would redirect git, and TENURE_* is ours")
