"""What is known of a call whose answer did not come."""

#: Codes of ours in the place of an answer, where a transport knows that none will come. They are
#: outside of what JSON-RPC reserves.
NOT_SENT = 7001  #: the server never got the request
FORGOTTEN = 7002  #: nor did it take it, for it does not know our session any more
LOST = 7003  #: it may have taken it
TOO_LARGE = 7004  #: it took it, and answered more than is read


class Unanswered(Exception):
    """A call that came to nothing we know of. Caught where calls are made; no host sees it."""

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(why)


class NotSent(Unanswered):
    """The server did not get it."""


class Lost(Unanswered):
    """The server may have got it."""


class Closed(Unanswered):
    """The connections were closed by us."""
