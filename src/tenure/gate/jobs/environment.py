"""The environment a job is given: what is declared, what is pinned, and whose it is.

A job sees a small base set of the caller's variables, those its definition names, and
nothing else, so that two people who run the same definition run the same thing. Git's own
variables never pass: a hook exports `GIT_DIR`, and a job that inherits it writes into the
repository it was meant to judge.
"""

from collections.abc import Iterable, Mapping, Sequence

from tenure.kernel.errors import ConfigurationError

#: Passed from the caller whenever it has them.
BASE = frozenset(
    {
        "PATH",
        "HOME",
        "USER",
        "TMPDIR",
        "VIRTUAL_ENV",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "NODE_EXTRA_CA_CERTS",
    }
    | {
        spelled
        for name in ("http_proxy", "https_proxy", "ftp_proxy", "all_proxy", "no_proxy")
        for spelled in (name, name.upper())
    }
)
BASE_PREFIXES = ("XDG_",)

#: The same for every job, unless its definition sets them otherwise.
PINNED = {
    "CI": "1",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}

#: Passed from the caller whenever it has them: where its records and the machine's slots are.
#: A job that asks about a repository has to find the same.
OURS = ("TENURE_STORE", "TENURE_SLOTS")

RUN_MARKER = "TENURE_RUN"
JOB_MARKER = "TENURE_JOB"
CHECKOUT = "TENURE_CHECKOUT"

_RESERVED_PREFIXES = ("GIT_", "TENURE_")


def is_reserved(name: str) -> bool:
    """Whether no definition may pass or set `name`: git's variables, and our own."""
    return name.startswith(_RESERVED_PREFIXES)


def job_environment(
    outer: Mapping[str, str],
    *,
    env: Iterable[str] = (),
    pass_env: Iterable[str] = (),
    set_env: Mapping[str, str] | None = None,
    run_ids: Sequence[str],
    job: str,
    checkout_id: str,
) -> dict[str, str]:
    """The whole environment of one job, a function of the arguments alone.

    `outer` is the caller's environment. `env` and `pass_env` name variables to pass if the
    caller has them (an absent one stays absent, it does not become empty); `set_env` gives
    values, which win over passed and pinned ones. `run_ids` extends the list of runs that
    `outer` was marked with, and the last of them names the run this job belongs to.

    Raises:
        ConfigurationError: a definition names a variable of git or of Tenure, or a name or
            value that no environment can hold.
    """
    given = dict(set_env or {})
    named = [*env, *pass_env]
    for name in (*named, *given):
        _refuse(name)
    for name, value in given.items():
        if "\0" in value:
            raise ConfigurationError(what=f"the value of {name} contains a NUL byte; remove it")
    result = {
        name: value
        for name, value in outer.items()
        if name in BASE or name.startswith(BASE_PREFIXES)
    }
    result |= PINNED
    result |= {name: outer[name] for name in named if name in outer}
    result |= given
    result |= {name: outer[name] for name in OURS if name in outer}
    result["GIT_OPTIONAL_LOCKS"] = "0"
    result[CHECKOUT] = checkout_id
    result[RUN_MARKER] = _extended(marker_ids(outer), run_ids)
    result[JOB_MARKER] = _extended(_ids(outer, JOB_MARKER), [job_id(run_ids[-1], job)])
    return result


def marker_ids(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The runs that `environ` belongs to, outermost first; empty outside any run."""
    return _ids(environ, RUN_MARKER)


def job_id(run_id: str, job: str) -> str:
    """The id of one job of one run as it stands in its marker: any job name is safe in it."""
    return f"{run_id}/{job.replace('%', '%25').replace(':', '%3A')}"


def _ids(environ: Mapping[str, str], marker: str) -> tuple[str, ...]:
    return tuple(one for one in environ.get(marker, "").split(":") if one)


def _extended(inherited: Iterable[str], own: Iterable[str]) -> str:
    ids = list(dict.fromkeys([*inherited, *own]))
    assert all(one and ":" not in one and "\0" not in one for one in ids), ids
    return ":".join(ids)


def _refuse(name: str) -> None:
    if is_reserved(name):
        whose = "git's" if name.startswith("GIT_") else "set by tenure"
        raise ConfigurationError(
            what=f"{name} is {whose} and a job may neither be passed nor given it; remove it"
        )
    if not name or "=" in name or "\0" in name:
        raise ConfigurationError(what=f"{name!r} cannot name a variable; correct it")
