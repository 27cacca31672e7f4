"""Time that passed while the caller was running."""


class AwakeTime:
    """Adds up the time between readings, each counted up to `step`.

    Somebody may stop a whole run, jobs and all, and continue it an hour later. By any
    clock an hour went by; for the run it was a moment, and nothing may have timed out in
    it. A caller that reads at least once in `step` seconds loses nothing.
    """

    def __init__(self, now: float, step: float) -> None:
        self._step = step
        self._seen = now
        self._total = 0.0

    def at(self, now: float) -> float:
        """Awake seconds up to `now`, which is the caller's clock."""
        self._total += min(max(0.0, now - self._seen), self._step)
        self._seen = now
        return self._total
