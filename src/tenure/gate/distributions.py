"""Which Python distributions an interpreter or a virtual environment offers, by name and version."""

import os
import re

from tenure.gate.fingerprint import Stat, stat_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_PYTHON = re.compile(r"(?:python|pypy)(\d+(?:\.\d+)?)?t?$")
_METADATA = (".dist-info", ".egg-info", ".egg-link")


class Environment:
    """Directories that hold distributions, and everything that decided which they are.

    `watched` maps a path to what it looked like; absent ones are in it, so that a directory
    that appears later is noticed.
    """

    __slots__ = ("sites", "watched")

    def __init__(self) -> None:
        self.sites: list[str] = []
        self.watched: dict[str, Stat] = {}

    def watch(self, path: str) -> Stat:
        """What `path` looks like, remembered from before anything in it is read."""
        if path not in self.watched:
            self.watched[path] = stat_of(path)
        return self.watched[path]

    def add(self, site: str) -> None:
        """Count `site` in if it exists; watch it either way."""
        if self.watch(site) is not None and site not in self.sites:
            self.sites.append(site)


def is_python(path: str) -> bool:
    """Whether a program of this name is a Python interpreter."""
    return _PYTHON.match(os.path.basename(path)) is not None


def of_interpreter(path: str, env: "Mapping[str, str]") -> Environment:
    """What the interpreter at `path` imports from, started under that very name."""
    found = Environment()
    prefix = os.path.dirname(os.path.dirname(path))
    if found.watch(f"{prefix}/pyvenv.cfg") is not None:
        _add_virtual(found, prefix, env)
    else:
        _add_base(found, os.path.realpath(path), env)
    return found


def of_virtual(prefix: str, env: "Mapping[str, str]") -> Environment:
    """What the virtual environment at `prefix` offers; nothing if there is none."""
    found = Environment()
    if found.watch(f"{prefix}/pyvenv.cfg") is not None:
        _add_virtual(found, prefix, env)
    return found


def names_and_versions(sites: "Iterable[str]") -> list[str]:
    """`name==version` of everything installed in `sites`, sorted, each once, without paths."""
    found: set[str] = set()
    for site in sites:
        try:
            entries = os.listdir(site)
        except OSError:
            continue
        for entry in entries:
            stem, suffix = os.path.splitext(entry)
            if suffix in _METADATA:
                found.add(_identity(os.path.join(site, entry), stem))
    return sorted(found)


def _add_virtual(found: Environment, prefix: str, env: "Mapping[str, str]") -> None:
    for lib in ("lib", "lib64"):
        if lib == "lib64" and os.path.islink(f"{prefix}/lib64"):
            continue
        for python in _versions(f"{prefix}/{lib}", None):
            found.add(f"{prefix}/{lib}/{python}/site-packages")
    settings = _settings(f"{prefix}/pyvenv.cfg")
    if settings.get("include-system-site-packages", "").lower() == "true" and "home" in settings:
        for name in ("python3", "python"):
            base = os.path.join(settings["home"], name)
            if found.watch(base) is not None:
                _add_base(found, os.path.realpath(base), env)
                break


def _add_base(found: Environment, real: str, env: "Mapping[str, str]") -> None:
    prefix = os.path.dirname(os.path.dirname(real))
    match = _PYTHON.match(os.path.basename(real))
    version = match.group(1) if match else None
    wanted = version if version and "." in version else None
    prefixes = [prefix, "/usr/local"] if prefix == "/usr" else [prefix]
    if env.get("HOME") and "PYTHONNOUSERSITE" not in env:
        prefixes.append(env.get("PYTHONUSERBASE") or os.path.join(env["HOME"], ".local"))
    for place in prefixes:
        for lib in ("lib", "lib64"):
            if os.path.islink(f"{place}/{lib}") and lib == "lib64":
                continue
            if wanted:
                found.watch(f"{place}/{lib}/python{wanted}/site-packages")
            for python in _versions(f"{place}/{lib}", wanted):
                found.add(f"{place}/{lib}/{python}/site-packages")
                found.add(f"{place}/{lib}/{python}/dist-packages")


def _versions(lib: str, wanted: str | None) -> list[str]:
    """The directories of Python versions in `lib`; `python3` is Debian's, for all of them."""
    try:
        names = sorted(os.listdir(lib))
    except OSError:
        return []
    pythons = [name for name in names if _PYTHON.match(name)]
    return (
        pythons
        if wanted is None
        else [name for name in pythons if name in ("python3", f"python{wanted}")]
    )


def _settings(path: str) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            pairs = (line.partition("=") for line in file)
            return {key.strip().lower(): value.strip() for key, _, value in pairs}
    except OSError:
        return {}


def _identity(path: str, stem: str) -> str:
    name, dash, version = stem.partition("-")
    if not dash:
        version = _version_inside(path)
    elif version.rpartition("-py")[0]:  # eggs name the Python version too
        version = version.rpartition("-py")[0]
    return f"{re.sub(r'[-_.]+', '-', name).lower()}=={version}"


def _version_inside(path: str) -> str:
    for name in ("METADATA", "PKG-INFO", ""):
        try:
            with open(os.path.join(path, name) if name else path, "rb") as file:
                for line in file.read(65536).split(b"\n"):
                    if line.lower().startswith(b"version:"):
                        return line[8:].strip().decode("utf-8", "replace")
        except OSError:
            continue
    return ""
