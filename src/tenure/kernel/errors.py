"""What the kernel refuses, and what it cannot know.

    TenureError
    ├── Refused                 the record says no; nothing was changed
    │   ├── HoldLost            proven loss: stop touching it, report who took over
    │   ├── HoldEnded           this hold was released or settled by its own holder: return that outcome
    │   ├── FenceMismatch       the fence names a hold this record never gave: report a bug
    │   ├── NotLicensed         a takeover without a lapse or proof of death: wait, then read again
    │   ├── LaneBusy            somebody else holds the lane: wait until it expires or is released
    │   ├── StaleAcquire        a late duplicate of an earlier acquisition: drop it
    │   ├── LaneDeleted         the id was used and deleted: use another id
    │   ├── ClaimSuperseded     the work was claimed again, handed back or cancelled: drop the result
    │   └── GenerationRegressed the store answered with an older generation: stop, restore the store
    ├── Doubt                   unknown: the hold stands, ask again
    │   ├── StoreBusy           another writer is inside: retry after a jittered pause
    │   ├── RevisionConflict    the record moved since it was read: read again
    │   ├── RecordMissing       no such record: read again, then check which store this is
    │   ├── RecordUnreadable    a stored row does not parse: keep the file, report a bug
    │   ├── StoreUnavailable    the store cannot be opened, read or written: fix what the message names
    │   ├── StoreNewer          written by a newer version: upgrade
    │   ├── ReplyLost           the call may or may not have happened: repeat it, it is idempotent
    │   └── SettlementUnknown   no definite answer within one ttl: read the record before anything else
    └── ConfigurationError      a value that can never work: fix configuration

Refusals and doubts are different answers: only a refusal proves anything. Fields are
keyword-only data; the constructor writes the sentence; every error survives pickling.
"""

from typing import Any, ClassVar


class TenureError(Exception):
    """The root of everything Tenure raises on purpose."""

    #: The sentence, with the fields it needs in braces.
    template: ClassVar[str] = ""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields
        super().__init__(self.sentence())

    def sentence(self) -> str:
        """What happened, to what, and what to do next."""
        return self.template.format_map(self.fields)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.fields))

    def __getattr__(self, name: str) -> Any:
        if name != "fields" and name in self.fields:
            return self.fields[name]
        raise AttributeError(name)


def _rebuild(kind: type[TenureError], fields: dict[str, Any]) -> TenureError:
    return kind(**fields)


class Refused(TenureError):
    """The record says no. Nothing was changed."""


class HoldLost(Refused):
    """Somebody else ended this hold. `by`, `evidence` and `record` say who, why and which."""

    template = "{record} was taken over by {by} ({evidence}); nothing done under it has effect now"


class HoldEnded(Refused):
    """The holder itself released or settled this hold earlier; `outcome` is what it recorded."""

    template = "{record} was already ended by its own holder as {outcome}; use that outcome"


class FenceMismatch(Refused):
    """The fence was never given by this record."""

    template = "{record} never gave this fence; use the fence that its acquisition returned"


class NotLicensed(Refused):
    """A takeover needs a lapsed lease or an owner proven gone, and has neither."""

    template = (
        "{record} is held by {holder}, who is neither lapsed nor proven gone; wait and read again"
    )


class LaneBusy(Refused):
    """The lane is held by somebody else; the row is unchanged."""

    template = (
        "lane {lane!r} is held by {holder} for at least {expires_in:.1f} s more; wait and ask again"
    )


class StaleAcquire(Refused):
    """A late duplicate of an acquisition this executor has since replaced."""

    template = "acquisition {n} of lane {lane!r} is older than this executor's {last_n}; drop it"


class LaneDeleted(Refused):
    """The lane was deleted; ids are used once."""

    template = "lane {lane!r} was deleted and its id is not used again; choose another id"


class ClaimSuperseded(Refused):
    """At least one row no longer carries this claim."""

    template = "claim {claim} no longer covers {rows}; drop the result, nothing was changed"


class GenerationRegressed(Refused):
    """The store showed a lower generation than it showed before."""

    template = (
        "lane {lane!r} was at generation {seen} and now says {now}; "
        "stop, this store went back in time"
    )


class Doubt(TenureError):
    """Unknown. A holder keeps its hold and asks again."""


class StoreBusy(Doubt):
    """Another writer is inside the store: process `writer`, `stopped` or not, where it is known."""

    template = "{store} is busy with another writer; try again"

    def sentence(self) -> str:
        """What happened, to what, and what to do next."""
        writer = self.fields.get("writer")
        if writer is None:
            return super().sentence()
        if self.fields.get("stopped"):
            return (
                f"{self.fields['store']} is busy with process {writer}, which is stopped; "
                f"let it go on (kill -CONT {writer}) or end it, then try again"
            )
        return f"{self.fields['store']} is busy with process {writer}; try again"


class RevisionConflict(Doubt):
    """The record moved between the read and the write."""

    template = "{record} is no longer at revision {expected}; read it again"


class RecordMissing(Doubt):
    """The store has no such record, which proves nothing about a hold."""

    template = "the store has no record {record}; check that it is the store you meant"


class RecordUnreadable(Doubt):
    """A stored row is there and does not parse. It is left as it is."""

    template = "{record} is stored but unreadable ({reason}); keep the file and report it"


class StoreUnavailable(Doubt):
    """The store cannot be opened, read or written."""

    template = "{store}: {reason}; {hint}"


class StoreNewer(Doubt):
    """A newer version wrote this store. It is left untouched."""

    template = "{store} has {line} format {found} and this version knows {known}; upgrade tenure"


class ReplyLost(Doubt):
    """The call may have happened and its answer is lost; repeating it is safe."""

    template = "the answer to {call} was lost; repeat it"


class SettlementUnknown(Doubt):
    """The settlement may or may not be recorded; the store did not say within one ttl."""

    template = "the settlement of {record} is unknown ({last}); ask the store again"


class ConfigurationError(TenureError):
    """A value that can never work."""

    template = "{what}"
