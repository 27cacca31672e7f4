"""Kinds of run, and everything in which they differ.

Whatever is not said here is the same for all of them: the checkout's lock, supervision and
recovery, bind, receipts and settlement, following and cancelling.
"""

from typing import Literal

import msgspec

#: What a run is called.
RunKind = Literal["done", "standards"]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of run does otherwise than another.

    `proves`: a Proof answers the question before any run, objections end it, and a run that
    passes settles with a Proof. Without it a pass is its receipts.
    """

    name: RunKind
    proves: bool


DONE = Kind(name="done", proves=True)
STANDARDS = Kind(name="standards", proves=False)
