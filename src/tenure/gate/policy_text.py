"""From the text of a policy file to a `Policy`, or to an error that says where and what next.

Nothing is ignored: a key that is unknown, of the wrong type, or of a later version is an
error, and all errors of a file are reported together.
"""

from collections.abc import Mapping
from typing import NoReturn

from tenure.gate.courts import POLICY_FILES
from tenure.gate.errors import NoPolicy, PolicyError
from tenure.gate.location import unfit
from tenure.gate.policy import (
    DEFAULT_LEASE,
    LATER,
    Job,
    Policy,
    keys_of,
)
from tenure.gate.policy_job import check_needs, check_outputs, read_job, read_setup, read_slots
from tenure.gate.policy_table import Float, Problems, Table
from tenure.gate.standard import Standard
from tenure.kernel.errors import ConfigurationError
from tenure.kernel.lease import LeaseTimings


def choose(files: Mapping[str, bytes | None]) -> tuple[str, bytes]:
    """The one policy file among the contents found at the root (None or missing = no such file).

    `pyproject.toml` counts only if it has a `[tool.tenure]` table.

    Raises:
        NoPolicy: there is none.
        PolicyError: there are two, or `pyproject.toml` mentions tenure and does not parse.
    """
    own, project = (files.get(name) for name in POLICY_FILES)
    holds = project is not None and b"tenure" in project and _section(project) is not None
    if own is not None and holds:
        raise PolicyError(
            file=POLICY_FILES[0],
            what=f"there are two policies: [tool.tenure] in {POLICY_FILES[1]} is another one",
            next="keep one of them",
        )
    if own is not None:
        return POLICY_FILES[0], own
    if project is not None and holds:
        return POLICY_FILES[1], project
    raise NoPolicy(
        file=POLICY_FILES[0],
        what=f"there is no policy: no such file, and no [tool.tenure] in {POLICY_FILES[1]}",
        next="run `tenure init`",
    )


def parse(file_name: str, data: bytes) -> Policy:
    """The policy in `data`, which is `tenure.toml`, or a `pyproject.toml` with `[tool.tenure]`.

    Raises:
        PolicyError: anything is wrong with it. Its `problems` has one error for each thing.
    """
    text = _decoded(file_name, data)
    document = _toml(file_name, text)
    root: tuple[str, ...] = ()
    content: object = document
    if file_name.endswith(POLICY_FILES[1]):
        root = ("tool", "tenure")
        content = _below(document, *root)
    if not isinstance(content, dict):
        what = "there is no [tool.tenure] table" if content is None else "it is no table"
        _refuse(file_name, None, what, "run `tenure init`", key="tool.tenure")
    problems = Problems(file_name, text, root)
    policy = _policy(file_name, Table(content, (), problems))
    if policy is None or problems:
        problems.raise_all()
    return policy


def _section(data: bytes) -> object:
    """What `pyproject.toml` has at `[tool.tenure]`, or None."""
    name = POLICY_FILES[1]
    return _below(_toml(name, _decoded(name, data)), "tool", "tenure")


def _below(document: dict[str, object], *keys: str) -> object:
    found: object = document
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found


def _decoded(file: str, data: bytes) -> str:
    if data.startswith(b"\xef\xbb\xbf"):
        _refuse(file, 1, "it starts with a byte order mark", "save it as UTF-8 without one")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        _refuse(file, line, f"byte {data[error.start]:#04x} is not UTF-8", "save the file as UTF-8")


def _toml(file: str, text: str) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(text, parse_float=Float)
    except RecursionError:
        _refuse(file, None, "its values are nested too deeply", "flatten them")
    except ValueError as error:  # TOMLDecodeError, or a number that Python refuses to read
        what, _, where = str(error).rpartition(" (at ")
        if not what:
            _refuse(file, None, f"it does not parse as TOML: {error}", "correct the syntax")
        digits = where.partition("line ")[2].partition(",")[0]
        line = int(digits) if digits.isdecimal() else max(1, len(text.rstrip().split("\n")))
        _refuse(file, line, f"it does not parse as TOML: {what}", "correct the syntax")


def _refuse(file: str, line: int | None, what: str, after: str, key: str = "") -> NoReturn:
    """One problem that ends the reading of the file."""
    error = PolicyError(file=file, line=line, key=key, what=what, next=after)
    raise PolicyError(**error.fields, problems=(error,))


def _policy(file: str, top: Table) -> Policy | None:
    top.refuse_others([*keys_of(""), "gate", "jobs", "setup", "slots", "standards"], LATER[""])
    trunk = top.text("trunk")
    if trunk is not None and (not trunk.strip() or trunk.startswith("-")):
        top.note("trunk", f"{trunk!r} is no name of a branch", 'write it as "main"')
    lease = _lease(top.table("gate"))
    table = top.table("jobs")
    if table is None or not table.content:
        if "jobs" not in top.content or table is not None:
            top.note("jobs", "a policy without requirements proves nothing", "declare a job")
        return None
    setup = read_setup(top)
    slots = read_slots(top.table("slots"))
    read = {name: read_job(name, table, slots) for name in table.content}
    jobs = {name: job for name, job in read.items() if job is not None}
    check_needs(table, jobs)
    check_outputs(table, jobs)
    standards = _standards(top, table, jobs)
    return Policy(file=file, trunk=trunk, jobs=jobs, standards=standards, setup=setup, lease=lease)


def _standards(top: Table, jobs: Table, read: Mapping[str, Job]) -> dict[str, Standard]:
    table = top.table("standards")
    if table is None:
        return {}
    from tenure.gate.policy_standard import read_standard

    found = {name: read_standard(name, table, jobs, read) for name in table.content}
    return {name: standard for name, standard in found.items() if standard is not None}


def _lease(gate: Table | None) -> LeaseTimings:
    if gate is None:
        return DEFAULT_LEASE
    gate.refuse_others(keys_of("gate"), LATER["gate"])
    store = gate.text("store")
    wrong = None if store is None else unfit(store)
    if wrong:
        gate.note("store", f"it is {store!r}, {wrong[0]}", wrong[1])
    ttl, interval = gate.seconds("lease_ttl"), gate.seconds("renew_interval")
    try:
        return LeaseTimings(
            ttl=ttl or DEFAULT_LEASE.ttl, renew_interval=interval or DEFAULT_LEASE.renew_interval
        )
    except ConfigurationError as error:
        key = "lease_ttl" if "lease_ttl" in gate.content else "renew_interval"
        gate.note(key, error.fields["what"], "lengthen lease_ttl or shorten renew_interval")
        return DEFAULT_LEASE
