"""Time that tests hold in their hands."""

from tenure.kernel.clock import Instant

_SECOND = 1_000_000_000
_WALL_START = 1_700_000_000 * _SECOND


class VirtualClock:
    """Implements `tenure.kernel.clock.Clock`. It stands still until somebody moves it."""

    def __init__(self) -> None:
        self._boots = 1
        self._boot_ns = 1_000 * _SECOND
        self._awake_ns = 900 * _SECOND
        self._wall_ns = _WALL_START

    def now(self) -> Instant:
        """The present moment."""
        return Instant(
            boot=f"boot-{self._boots}",
            boot_ns=self._boot_ns,
            awake_ns=self._awake_ns,
            wall_ns=self._wall_ns,
        )

    def monotonic(self) -> float:
        """Seconds awake, since nothing in particular."""
        return self._awake_ns / _SECOND

    def advance(self, seconds: float) -> None:
        """Let time go by while the machine is awake."""
        self._awake_ns += round(seconds * _SECOND)
        self.suspend(seconds)

    def suspend(self, seconds: float) -> None:
        """Let time go by while the machine sleeps."""
        self._boot_ns += round(seconds * _SECOND)
        self._wall_ns += round(seconds * _SECOND)

    def step_wall(self, seconds: float) -> None:
        """Set the wall clock forward or back, as an operator or a time server does."""
        self._wall_ns += round(seconds * _SECOND)

    def reboot(self, seconds_after: float = 30.0) -> None:
        """Boot again: another boot id, its clocks at `seconds_after`, the wall clock goes on."""
        self._boots += 1
        self._boot_ns = self._awake_ns = round(seconds_after * _SECOND)
        self._wall_ns += 60 * _SECOND
