"""One frame of the progress display: from a board and a moment to a few lines, nothing else."""

from collections.abc import Callable

from tenure.faces.cli.board import Board, Task
from tenure.faces.cli.cells import FEWEST, fit, harmless, padded, width

#: Text and its tone: "", or a key of `TONES`.
Piece = tuple[str, str]

#: What a tone looks like, where there are colours.
TONES = {"good": "32", "bad": "31", "doubt": "33", "busy": "36", "quiet": "2"}

#: No more lines than this, however tall the window is: the frame accompanies what is said.
MOST_LINES = 12
_NAME_CELLS = 28
_BAR_CELLS = 20
_ROOM_FOR_BAR = 64

_SPIN = "⠋⠙⠹⠸⠼⠴⠦⠧"
_SPIN_NS = 250_000_000

#: The last line that a job wrote, by its name.
Said = Callable[[str], str]


class Moment:
    """When and where a frame is drawn: wall time, the window, and how many jobs run at once."""

    def __init__(self, wall_ns: int, columns: int, rows: int, workers: int) -> None:
        self.wall_ns = wall_ns
        self.columns = columns
        self.rows = rows
        self.workers = workers

    def since(self, wall_ns: int) -> float:
        """Seconds since `wall_ns`; none if a clock was set back meanwhile."""
        return max(0.0, (self.wall_ns - wall_ns) / 1e9) if wall_ns else 0.0


def frame(board: Board, moment: Moment, said: Said) -> list[list[Piece]]:
    """The lines that stand below what was said so far, each narrower than the window.

    One line is left for the cursor. A window with no room for that gets no frame.
    """
    room = min(moment.rows - 1, MOST_LINES)
    cells = moment.columns - 1  # a full line would leave the cursor in doubt
    if room < 1 or cells < FEWEST:
        return []
    rows = _rows(board, moment, said, room - 1)
    return [_fitted(row, cells) for row in [*rows, _summary(board, moment)]]


def painted(line: list[Piece], colours: bool) -> str:
    """A line as it is written to a terminal."""
    if not colours:
        return "".join(text for text, _ in line)
    return "".join(
        f"\x1b[{TONES[tone]}m{text}\x1b[0m" if tone and text else text for text, tone in line
    )


def part(line: list[Piece], begin: int, end: int) -> list[Piece]:
    """What a line has between two positions in its text."""
    found, at = list[Piece](), 0
    for text, tone in line:
        found.append((text[max(0, begin - at) : max(0, end - at)], tone))
        at += len(text)
    return found


def elapsed(value: float) -> str:
    """A time that is still running, to the second."""
    whole = int(value)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def remaining(board: Board, moment: Moment) -> float | None:
    """About how many seconds the rest takes by what its jobs took last time, None if unknown."""
    left = []
    for task in board.tasks.values():
        if task.state == "ended":
            continue
        if task.estimate is None:
            return None
        run = moment.since(task.since_wall_ns) if task.state == "running" else 0.0
        left.append(max(0.0, task.estimate - run))
    return max(*left, sum(left) / moment.workers) if left else None


def _rows(board: Board, moment: Moment, said: Said, room: int) -> list[list[Piece]]:
    """A line for whom we follow, and one for each job that runs or waits, as far as they fit."""
    tasks = [*board.of_state("running"), *board.of_state("waiting")]
    name_cells = min(_NAME_CELLS, max((width(task.name) for task in tasks), default=0))
    rows = [_row(task, moment, name_cells, said) for task in tasks]
    if board.followed:
        followed = f"  following run {board.run} in {harmless(board.worktree)}"
        rows.insert(0, [(followed, "quiet")])
    if len(rows) <= room:
        return rows
    kept = rows[: max(0, room - 1)]
    more = [[(f"    and {len(rows) - len(kept)} more", "quiet")]]
    return kept + more if room > 0 else []


def _row(task: Task, moment: Moment, name_cells: int, said: Said) -> list[Piece]:
    name = padded(task.name, name_cells)
    if task.state == "waiting":
        waits = f"  {elapsed(moment.since(task.since_wall_ns))}  waits for {task.waits_for}"
        return [("  · ", "doubt"), (name, ""), (harmless(waits), "quiet")]
    time = elapsed(moment.since(task.since_wall_ns))
    if task.estimate is not None and task.estimate >= 1:
        time += f" of {elapsed(task.estimate)}"
    return [
        (f"  {_spin(moment)} ", "busy"),
        (name, ""),
        (f"  {task.stage:<5}" if task.stage else "", "quiet"),
        (f"  {time:<14}", ""),
        (f"  {harmless(said(task.name))}", "quiet"),
    ]


def _summary(board: Board, moment: Moment) -> list[Piece]:
    """How far the run is, in one line; what matters most comes first."""
    if not board.tasks:
        doing = f"waiting: {harmless(board.waits_for)}" if board.waits_for else "reading"
        told = [(f"  {_spin(moment)} ", "busy"), (doing, "")]
        if board.began_wall_ns:
            told.append((f"  {elapsed(moment.since(board.began_wall_ns))}", "quiet"))
        return told
    ended, failed = board.of_state("ended"), board.failed
    told = _bar(len(ended), len(failed), len(board.tasks)) if moment.columns > _ROOM_FOR_BAR else []
    told.append((f"  {len(ended)} of {len(board.tasks)}", ""))
    if failed:
        told.append((f", {len(failed)} not passed", "bad"))
    told.append((f"  {elapsed(moment.since(board.began_wall_ns))}", ""))
    left = remaining(board, moment)
    if left is not None:
        told.append((f", about {elapsed(left)} left", ""))
    if board.reused:
        told.append((f"  {len(board.reused)} reused", "good"))
    coming = [task.name for task in board.of_state("to come")]
    if coming:
        told.append((f"  to come: {', '.join(coming)}", "quiet"))
    return told


def _bar(ended: int, failed: int, all_of_them: int) -> list[Piece]:
    full = _BAR_CELLS * ended // all_of_them
    bad = min(full, max(1, _BAR_CELLS * failed // all_of_them)) if failed else 0
    return [
        ("  ", ""),
        ("━" * (full - bad), "good"),
        ("━" * bad, "bad"),
        ("─" * (_BAR_CELLS - full), "quiet"),
    ]


def _spin(moment: Moment) -> str:
    return _SPIN[moment.wall_ns // _SPIN_NS % len(_SPIN)]


def _fitted(line: list[Piece], cells: int) -> list[Piece]:
    """The line, cut where the window ends."""
    kept, left = [], cells
    for text, tone in line:
        if width(text) > left:
            kept.append((fit(text, left), tone))
            break
        kept.append((text, tone))
        left -= width(text)
    return kept
