"""Kinds of run, and everything in which they differ.

Whatever is not said here is the same for all of them: the checkout's lock, supervision and
recovery, bind, receipts and settlement, following and cancelling.
"""

from typing import Literal

import msgspec

#: What a run is called.
RunKind = Literal["done", "standards", "check", "fix"]
#: What an attempt is at.
AttemptKind = Literal["done", "standards", "check"]


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of run does otherwise than another.

    `committed`: it judges a commit and demands a clean tree. Without it, it judges the files as
    they are, as if everything that is not ignored were added.
    `proves`: a Proof answers the question before any run, objections end it, and a run that
    passes settles with a Proof. Without it a pass is its receipts.
    `measures`: it is about standards alone, and runs the jobs that these are measured from; what
    loosens one ends it.
    `joins`: two that ask the same of the same candidate are one run.
    `repairs`: it may change the tree, and does so again and again until nothing changes.
    """

    name: RunKind
    attempt: AttemptKind
    committed: bool
    proves: bool
    joins: bool
    repairs: bool = False
    measures: bool = False


DONE = Kind(name="done", attempt="done", committed=True, proves=True, joins=True)
CHECK = Kind(name="check", attempt="check", committed=False, proves=False, joins=False)
FIX = Kind(name="fix", attempt="check", committed=False, proves=False, joins=False, repairs=True)
STANDARDS = Kind(
    name="standards", attempt="standards", committed=True, proves=False, joins=True, measures=True
)
#: The same of files as they are, which is no measurement of a commit.
UNCOMMITTED = Kind(
    name="standards", attempt="check", committed=False, proves=False, joins=False, measures=True
)
