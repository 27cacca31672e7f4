"""What a holder presents with every write."""

import msgspec

from tenure.kernel.identity import Token


class Fence(msgspec.Struct, frozen=True, kw_only=True):
    """Names one hold exactly: which record, which change of holder, which acquisition."""

    record: str
    generation: int
    token: Token
