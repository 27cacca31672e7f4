"""Bytes, as people say them."""

from tenure.gate.disk import Usage


def told_size(count: int) -> str:
    """A number of bytes, as people say it."""
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1e3:.1f} kB" if count < 1e6 else f"{count / 1e6:.1f} MB"


def told_usage(found: Usage) -> str:
    """What a store takes on disk, and for what."""
    kinds = {name: getattr(found, name) for name in found.__struct_fields__}
    told = ", ".join(f"{name} {told_size(count)}" for name, count in kinds.items() if count)
    return f"{told_size(found.total)}" + (f" ({told})" if told else "")
