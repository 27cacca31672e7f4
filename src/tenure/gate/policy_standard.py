"""Reading `[standards.NAME]`, and what has to fit between a standard and its job."""

from collections.abc import Callable, Mapping

from tenure.gate.measurement import Direction
from tenure.gate.metric import COBERTURA, JUNIT, check_regex, json_path
from tenure.gate.pattern import plain_path
from tenure.gate.policy import Job, keys_of
from tenure.gate.policy_job import check_name
from tenure.gate.policy_table import Table, suggestion
from tenure.gate.standard import DIRECTIONS, Metric, MetricKind, Standard

_KINDS: tuple[MetricKind, ...] = ("json", "regex", "junit", "cobertura", "line")
_KEYS = ("file", *_KINDS)


def read_standard(
    name: str, standards: Table, jobs: Table, read: Mapping[str, Job]
) -> Standard | None:
    """The standard that `name` declares, or None. What is wrong is noted."""
    check_name(name, standards, "standard")
    table = standards.table(name)
    if table is None:
        return None
    table.refuse_others(keys_of("standards.NAME"), frozenset())
    if name in jobs.content:
        table.note((), "a job has this name, and changes are accepted by name", "rename one")
    job = _job(table, jobs)
    metric = _metric(table, read.get(job or ""))
    direction = _direction(table)
    limit, margin = _required(table, "limit", table.number), table.number("margin")
    if margin is not None and margin.startswith("-"):
        table.note("margin", "it is negative", "write how much worse than the limit is still met")
    if job is None or metric is None or direction is None or limit is None:
        return None
    return Standard(
        name=name,
        job=job,
        metric=metric,
        direction=direction,
        limit=limit,
        margin=margin or "0",
    )


def _required(table: Table, key: str, read: Callable[[str], str | None]) -> str | None:
    if key not in table.content:
        table.note((), f"there is no `{key}`", f"write `{key} = …`")
        return None
    return read(key)


def _job(table: Table, jobs: Table) -> str | None:
    name = _required(table, "from", table.text)
    if name is None or name in jobs.content:
        return name
    table.note("from", f"there is no job {name!r}", suggestion(name, jobs.content))
    return None


def _direction(table: Table) -> Direction | None:
    text = _required(table, "direction", table.text)
    for direction in DIRECTIONS:
        if text == direction:
            return direction
    if text is not None:
        after = '"up" if a greater number is better, "down" if a smaller one is'
        table.note("direction", f"there is no direction {text!r}", after)
    return None


def _metric(standard: Table, job: Job | None) -> Metric | None:
    if "metric" not in standard.content:
        standard.note((), "there is no `metric`", "say where the number is")
        return None
    table = standard.table("metric")
    if table is None:
        return None
    table.refuse_others(_KEYS, frozenset())
    kinds = [kind for kind in _KINDS if kind in table.content]
    if len(kinds) != 1:
        what = (
            f"{' and '.join(kinds)} exclude each other" if kinds else "it does not say how to read"
        )
        table.note((), what, f"use one of {', '.join(_KINDS)}")
        return None
    kind = kinds[0]
    said, file = table.text(kind), _file(table, kind, job)
    if said is None or file is None or not _is_known(table, kind, said):
        return None
    return Metric(kind=kind, what=said, file=file)


def _file(table: Table, kind: MetricKind, job: Job | None) -> str | None:
    """The file that is read: one of the job's outputs, for nothing else is kept with its result."""
    if kind == "line":
        if "file" in table.content:
            table.note("file", "a line is read from what the job prints", "remove it")
        return ""
    text = _required(table, "file", table.text)
    path = None if text is None else table.checked(("file",), text, plain_path)
    outputs = () if job is None else job.outputs
    if path is None or any(path == out or path.startswith(f"{out}/") for out in outputs):
        return path
    if job is not None:
        what = f"{path!r} is no output of {job.name!r}, so it is not kept with its result"
        table.note("file", what, f"add it to jobs.{job.name}.outputs")
    return None


def _is_known(table: Table, kind: MetricKind, what: str) -> bool:
    """Whether `what` can be read as this kind; what cannot is noted."""
    known = {"junit": JUNIT, "cobertura": tuple(COBERTURA)}.get(kind)
    if known is not None and what not in known:
        table.note(kind, f"there is no {what!r} to read", suggestion(what, known))
    elif kind == "json":
        return table.checked((kind,), what, json_path) is not None
    elif kind == "regex":
        return table.checked((kind,), what, check_regex) is not None
    elif kind == "line" and (not what or what.split() != [what]):
        table.note(kind, f"{what!r} is no name", "use one word, as in TENURE_METRIC name 1")
    else:
        return True
    return False
