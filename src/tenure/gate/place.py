"""The paths of one repository's records: under its common git directory, or elsewhere."""

import os

_HOLD = "hold."
CRASH = "crash"  #: in a run's directory: whatever went wrong in our own code


class Place:
    """The paths of one store, at `root` or under the git directory. Nothing is made before `prepare`."""

    def __init__(self, common_dir: str, root: str | None = None) -> None:
        self.root = root or os.path.join(common_dir, "tenure")
        self._common_dir = common_dir
        self._elsewhere = root is not None and not root.startswith(os.path.join(common_dir, ""))
        self.database = os.path.join(self.root, "tenure.db")
        self.outputs = os.path.join(self.root, "outputs")
        self.runs = os.path.join(self.root, "runs")
        self.locks = os.path.join(self.root, "locks")

    def prepare(self) -> None:
        """Make the directories.

        Raises:
            RepositoryError: the place cannot be written; it names the path that has to be.
            PlatformError: it is on a file system where locks prove nothing.
        """
        from tenure.gate.filesystem import require_local

        if os.path.isdir(self.locks) and os.path.isdir(self.runs):
            require_local(self.root)  # it may have been made elsewhere, and be mounted here
            self._require_own()
            return
        self.require_usable()
        for directory in (self.root, self.runs, self.locks):
            try:
                os.makedirs(directory, mode=0o755, exist_ok=True)
            except OSError as error:
                raise _unmade(directory, error) from error
        self._require_own()

    def _require_own(self) -> None:
        """Say in a place elsewhere whose it is, or pass if it says that it is ours."""
        if not self._elsewhere:
            return
        path = os.path.join(self.root, "repository")
        ours = os.path.realpath(os.fsencode(self._common_dir)) + b"\n"
        try:
            with open(path, "xb") as file:
                file.write(ours)
        except FileExistsError:
            with open(path, "rb") as file:
                said = file.read()
            if said not in (ours, b""):  # empty: somebody is about to write the same
                raise _others(
                    self.root, said.removesuffix(b"\n"), ours.removesuffix(b"\n")
                ) from None
        except OSError as error:
            raise _unmade(path, error) from error

    def require_usable(self) -> None:
        """Pass if records can be kept here.

        Raises:
            RepositoryError, PlatformError: as `prepare` does.
        """
        from tenure.gate.filesystem import require_local, require_writable

        require_writable(self.root)
        require_local(self.root)

    def run(self, run: str) -> str:
        """The directory of one run: its log and the outputs of its jobs."""
        return os.path.join(self.runs, run)

    def job_log(self, run: str, requirement: str) -> str:
        """What the job of one requirement wrote."""
        return os.path.join(self.run(run), f"{requirement}.out")

    def earlier_log(self, run: str, requirement: str, number: int) -> str:
        """What a try of a job printed that was followed by another, from 1."""
        return os.path.join(self.run(run), f"{requirement}@{number}.out")

    def crash(self, run: str) -> str:
        """The file in which a fault of our own is told, empty if there was none."""
        return os.path.join(self.run(run), CRASH)

    def make_run(self, run: str) -> str:
        """Make the directory of a run that starts.

        Raises:
            RepositoryError: it cannot be made.
        """
        directory = self.run(run)
        try:
            os.mkdir(directory, 0o755)
        except OSError as error:
            raise _unmade(directory, error) from error
        return directory

    def holder(self, checkout: str) -> str:
        """Where the run that has a checkout's lock says who it is."""
        return os.path.join(self.root, f"checkout-{checkout}")

    def forget(self, checkout: str) -> None:
        """Drop what is kept about a checkout that is deleted."""
        try:
            os.unlink(self.holder(checkout))
        except OSError:
            pass  # nothing ran there

    def lock(self, attempt: str) -> str:
        """The run lock of one attempt."""
        return os.path.join(self.locks, attempt)

    def hold(self, name: str) -> str:
        """The slot of what only one job of the repository may have at a time."""
        return os.path.join(self.locks, f"{_HOLD}{name}")

    def holds(self) -> dict[str, str]:
        """Every hold that any job ever had, by name."""
        try:
            names = sorted(os.listdir(self.locks))
        except (FileNotFoundError, NotADirectoryError):
            return {}
        held = [name.removeprefix(_HOLD) for name in names if name.startswith(_HOLD)]
        return {name: self.hold(name) for name in held}

    def remove_lock(self, attempt: str) -> None:
        """Remove the run lock of a finished attempt. One that is gone already is fine."""
        try:
            os.unlink(self.lock(attempt))
        except OSError:
            pass


def _unmade(directory: str, error: OSError) -> Exception:
    from tenure.gate.errors import RepositoryError

    return RepositoryError(
        what=f"the directory {directory} cannot be made: {error.strerror}",
        next="free space there, or make it writable for this process",
    )


def _others(root: str, said: bytes, ours: bytes) -> Exception:
    from tenure.gate.errors import RepositoryError

    theirs, mine = (path.decode("utf-8", "backslashreplace") for path in (said, ours))
    return RepositoryError(
        what=f"the records in {root} are of the repository {theirs}, and not of {mine}",
        next="move that directory away, or name another store",
    )
