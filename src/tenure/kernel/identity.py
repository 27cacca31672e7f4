"""Who is asking: a worker's name, its incarnation, and the secrets it mints.

A name proves nothing and is for people. A hold is proven by its token, and a token is
minted by the caller before the call, so that a call whose reply is lost can be repeated.
"""

import os

import msgspec


class LeaseOwnerIdentity(msgspec.Struct, frozen=True, kw_only=True):
    """The name of a worker (`owner_id`) and one id per boot of it (`incarnation_id`)."""

    owner_id: str
    incarnation_id: str

    def __str__(self) -> str:
        return f"{self.owner_id}#{self.incarnation_id[:8]}"


class Executor(msgspec.Struct, frozen=True, kw_only=True):
    """One open handle inside an owner. It has at most one open hold on each lane."""

    owner: LeaseOwnerIdentity
    executor_id: str

    def __str__(self) -> str:
        return f"{self.owner}/{self.executor_id[:8]}"


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """The secret of one acquisition; `n` counts this executor's acquisitions, from 1."""

    n: int
    secret: str


_incarnations: dict[int, LeaseOwnerIdentity] = {}


def new_id() -> str:
    """An id nobody else has: 128 random bits in hexadecimal."""
    return os.urandom(16).hex()


def new_id_at(wall_ns: int) -> str:
    """An id nobody else has, beside those of its time: 48 bits of milliseconds, 80 random ones.

    Rows by such ids are written to the same pages of an index, and not one page each. The
    time in it means nothing.
    """
    return f"{wall_ns // 1_000_000 & 0xFFFF_FFFF_FFFF:012x}{os.urandom(10).hex()}"


def mint_token(n: int = 1) -> Token:
    """A fresh token for this executor's `n`-th acquisition."""
    return Token(n=n, secret=new_id())


def this_process() -> LeaseOwnerIdentity:
    """This process's identity: host and pid by name, and an incarnation minted after any fork."""
    pid = os.getpid()
    known = _incarnations.get(pid)
    if known is None:
        known = LeaseOwnerIdentity(owner_id=f"{os.uname().nodename}:{pid}", incarnation_id=new_id())
        _incarnations.clear()
        _incarnations[pid] = known
    return known
