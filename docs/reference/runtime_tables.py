"""What the reference of the runtime takes from the code."""

import inspect
import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import msgspec

import tenure
from docs.reference.tables import fields, table
from tenure.kernel import errors as kernel_errors
from tenure.runtime import errors as runtime_errors
from tenure.runtime.model import event
from tenure.runtime.model.session import SessionRecord
from tenure.runtime.model.usage import Usage
from tenure.runtime.sessions import DrainStatus

_LEAF = re.compile(r"^[\s│├└─]*[├└]── (\w+) +([^:]+): (.+)$")

#: A host's own calls, in the order in which it meets them.
CALLABLE = (tenure.Runtime, tenure.Session)

RECORDS: tuple[type[msgspec.Struct], ...] = (
    tenure.TurnResult,
    Usage,
    tenure.TurnBudget,
    tenure.CommitBudget,
    tenure.LeaseTimings,
    tenure.RetryPolicy,
    tenure.Attachment,
    tenure.ParkedSession,
    event.Observed,
    SessionRecord,
    DrainStatus,
)


def names() -> str:
    """Every name of the front door."""
    rows = [(f"`{name}`", _first(name, getattr(tenure, name))) for name in tenure.__all__]
    return table(("name", "what it is"), sorted(rows))


def _first(name: str, found: object) -> str:
    if name == "Event":
        return "Any of the events: what `Session.stream` yields."
    text = inspect.getdoc(found) or ""
    assert text, f"{name} says what it is"
    return sentence(text)


def sentence(text: str) -> str:
    """The first paragraph of a docstring, on one line."""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def calls() -> str:
    """Runtime and Session, call by call."""
    return "\n\n".join(
        f"### {kind.__name__}\n\n"
        + table(
            ("call", "what it does"), [(f"`{spelled}`", said) for spelled, said in _calls(kind)]
        )
        for kind in CALLABLE
    )


def _calls(kind: type[Any]) -> Iterator[tuple[str, str]]:
    if kind is tenure.Runtime:
        yield f"Runtime{_signature(kind.__init__)}", sentence(inspect.getdoc(kind) or "")
    for name, found in public_methods(kind).items():
        if isinstance(found, property):
            yield name, sentence(inspect.getdoc(found) or "")
        else:
            yield (
                f"{_awaited(found)}{name}{_signature(found)}",
                sentence(inspect.getdoc(found) or ""),
            )


def public_methods(kind: type[Any]) -> dict[str, Any]:
    """Methods and properties that a host may use, those of the base classes first."""
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        found.update({name: v for name, v in vars(base).items() if _offered(name, v)})
    for inner in ("handles_of", "forget", "load"):  # between a runtime and its own handles
        found.pop(inner, None)
    return found


def _offered(name: str, value: object) -> bool:
    return not name.startswith("_") and (callable(value) or isinstance(value, property))


def _awaited(function: Callable[..., Any]) -> str:
    return "await " if inspect.iscoroutinefunction(function) else ""


def _signature(function: Callable[..., Any]) -> str:
    """Parameters with their defaults; the types are in the code, where an editor reads them."""
    shown: list[str] = []
    keyword_only = False
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        if parameter.kind is parameter.KEYWORD_ONLY and not keyword_only:
            shown.append("*")
            keyword_only = True
        stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
        shown.append(f"{stars}{parameter.name}{_default(parameter)}")
    return f"({', '.join(shown)})"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return ""
    return "=…" if callable(parameter.default) else f"={parameter.default!r}"


def events() -> str:
    """What a stream shows."""
    rows = []
    for kind in event.Event.__args__:
        own = [f"`{field.name}`" for field in msgspec.structs.fields(kind)]
        rows.append((f"`{kind.__name__}`", ", ".join(own), sentence(kind.__doc__ or "")))
    return table(("event", "fields", "what it says"), rows)


def records() -> str:
    """What calls take and return, field by field."""
    return "\n\n".join(
        f"### {kind.__name__}\n\n{sentence(kind.__doc__ or '')}\n\n{fields(kind)}"
        for kind in RECORDS
    )


def errors() -> str:
    """The runtime's own tree."""
    return _errors(runtime_errors)


def kernel() -> str:
    """What comes from below."""
    return _errors(kernel_errors)


def _errors(module: ModuleType) -> str:
    rows = []
    for line in (module.__doc__ or "").splitlines():
        leaf = _LEAF.match(line)
        if leaf:
            name, what, then = leaf.groups()
            kind = getattr(module, name)
            parent = kind.__mro__[1].__name__
            rows.append((f"`{name}`", f"`{parent}`", f"{what.strip()}", then.strip()))
    return table(("error", "is a", "what happened", "what to do"), rows)
