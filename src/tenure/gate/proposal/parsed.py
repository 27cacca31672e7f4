"""Parsing what a repository has: a file that does not parse is said, and never the end of it."""

import msgspec

from tenure.gate.proposal.proposed import Files, Findings


def toml(files: Files, name: str, found: Findings) -> dict[str, object]:
    """The content of a TOML file, empty where there is none that parses."""
    if name not in files:
        return {}
    import tomllib

    try:
        return tomllib.loads(files[name])
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        found.unused.append(f"{name}: it does not parse ({_first_line(error)})")
        return {}


def json(files: Files, name: str, found: Findings) -> dict[str, object]:
    """The content of a JSON file. Comments of its own line are passed over, as their readers do."""
    if name not in files:
        return {}
    lines = [line for line in files[name].splitlines() if not line.lstrip().startswith("//")]
    try:
        content = msgspec.json.decode("\n".join(lines))
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        found.unused.append(f"{name}: it does not parse ({_first_line(error)})")
        return {}
    return content if isinstance(content, dict) else {}


def yaml(files: Files, name: str, found: Findings) -> dict[object, object] | None:
    """The content of a YAML file; None if that cannot be told."""
    if name not in files:
        return {}
    try:
        import yaml as reader
    except ImportError:
        told = "reading it takes PyYAML, `pip install 'tenure[init]'`, then `tenure init` again"
        found.unused.append(f"{name}: {told}")
        return None
    loader = getattr(reader, "CSafeLoader", reader.SafeLoader)
    try:
        content = reader.load(files[name], Loader=loader)
    except (reader.YAMLError, ValueError, RecursionError) as error:
        found.unused.append(f"{name}: it does not parse ({_first_line(error)})")
        return None
    return content if isinstance(content, dict) else {}


def _first_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:120] or type(error).__name__
