"""Durations as people write them: `90s`, `10m`, `1h30m`."""

from tenure.gate.errors import UsageError

_SECONDS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}

#: Longer is a mistake, or a wish for no limit at all.
LONGEST_SECONDS = 30 * 86_400.0


def parse_duration(text: str, longest: float = LONGEST_SECONDS) -> float:
    """The seconds in `text`: numbers with the units d, h, m, s, ms, the largest first, each once.

    Raises:
        UsageError: it does not read so, is zero, or is longer than `longest`, thirty days.
    """
    import re

    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)(ms|[dhms])", text, re.ASCII)
    units = [unit for _, unit in parts]
    if (
        not parts
        or "".join(number + unit for number, unit in parts) != text
        or units != [unit for unit in _SECONDS if unit in units]
    ):
        hint = (
            f'write "{text}s" for seconds'
            if text.isascii() and text.isdigit()
            else 'write it as "90s" or "1h30m"'
        )
        raise UsageError(what=f"{text!r} is not a duration", next=hint)
    seconds = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if seconds <= 0:
        raise UsageError(what=f"{text!r} is no time at all", next="say at least 1s")
    if seconds > longest:
        days = "thirty" if longest == LONGEST_SECONDS else f"{longest / 86_400:.0f}"
        raise UsageError(what=f"{text!r} is too long", next=f"say at most {days} days")
    return seconds
