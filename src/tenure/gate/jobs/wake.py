"""One descriptor that stands for the ends of several processes."""

import select


class Wake:
    """Readable when a watched process has ended, and once for each.

    A pidfd stays readable after its process ended, so a loop that waits on one spins until
    the process is reaped. A loop waits on this instead, from the first tick of a job to
    its result, and is woken as well by the ends of processes that outlive the job.
    """

    def __init__(self) -> None:
        self._epoll = select.epoll()

    def fileno(self) -> int:
        """The descriptor to wait on."""
        return self._epoll.fileno()

    def watch(self, pidfd: int) -> None:
        """Wake once when the process of `pidfd` ends, at once if it has."""
        self._epoll.register(pidfd, select.EPOLLIN | select.EPOLLONESHOT)

    def drain(self) -> None:
        """Forget what woke us."""
        self._epoll.poll(0)

    def close(self) -> None:
        """Give the descriptor back; repeated, nothing."""
        self._epoll.close()
