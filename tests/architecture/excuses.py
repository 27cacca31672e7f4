"""A ratchet: excuses for what breaks a rule today, each of which must still be needed."""

from collections.abc import Iterable, Mapping


def ratchet(found: Mapping[str, str], excused: Iterable[str], rule: str) -> None:
    """Fail on what breaks `rule` without an excuse, and on an excuse nothing needs.

    `found` maps what breaks the rule to how it does.
    """
    excuses = set(excused)
    broken = [f"  {what}: {how}" for what, how in sorted(found.items()) if what not in excuses]
    idle = [f"  {what}" for what in sorted(excuses - set(found))]
    assert not broken, "\n".join([f"{rule}:", *broken])
    assert not idle, "\n".join(["excuses that are no longer needed, delete them:", *idle])
