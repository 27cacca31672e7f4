"""Ending a process by steps: asked, told, killed."""

from signal import Signals

from tenure.gate.jobs.outcome import Graces

Step = tuple[Signals, float]


class Ladder:
    """Which signal is due, each once and in order, in awake seconds from `begin`.

    A step is a signal and the seconds until the next; after those of the last step the
    ladder is `spent`, and whoever is still there cannot be killed.
    """

    def __init__(self, steps: tuple[Step, ...], begin: float) -> None:
        self._steps = steps
        self._sent = 0
        self.next_at = begin  #: when `due` has something new to say

    @classmethod
    def of_a_job(cls, graces: Graces, begin: float) -> "Ladder":
        """One INT, then TERM, then KILL."""
        steps = (
            (Signals.SIGINT, graces.interrupt),
            (Signals.SIGTERM, graces.terminate),
            (Signals.SIGKILL, graces.unkillable),
        )
        return cls(steps, begin)

    @classmethod
    def of_what_is_left(cls, graces: Graces, begin: float) -> "Ladder":
        """The short form, for what outlived its job or hangs: TERM, then KILL."""
        steps = (
            (Signals.SIGTERM, graces.survivors),
            (Signals.SIGKILL, graces.unkillable),
        )
        return cls(steps, begin)

    def due(self, awake: float) -> Signals | None:
        """The signal to send now, None if there is none. Each is returned once."""
        if self._sent == len(self._steps) or awake < self.next_at:
            return None
        signal, grace = self._steps[self._sent]
        self._sent += 1
        self.next_at = awake + grace
        return signal

    @property
    def killing(self) -> bool:
        """Whether the last signal was given out."""
        return self._sent == len(self._steps)

    def spent(self, awake: float) -> bool:
        """Whether the grace after the last signal is over too."""
        return self.killing and awake >= self.next_at
