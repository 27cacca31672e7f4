"""One git process, run so that it can neither change the repository nor hang its caller.

Every git that Tenure runs starts here: without a terminal, without locks, without a file
system monitor, and blind to every `GIT_*` variable that names a repository, because hooks set
those and they may name another one. The repository is always found from a directory.

This module is on the path that answers in milliseconds: it imports `os` and `select` and
starts processes with `posix_spawn`.
"""

import os
import select

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

#: A directory to run git in.
Place = str | bytes | os.PathLike[str]

#: The oldest git that answers the questions asked here (`rev-parse --path-format`).
OLDEST = "2.31"

#: A git that neither writes nor ends for this long is killed. `status` on a cold disk is silent too.
QUIET_MS = 120_000

# Files are compared in full whatever the repository says: a relaxed comparison hides edits.
_OPTIONS = (
    b"--no-optional-locks",
    b"--no-replace-objects",
    b"-c",
    b"core.fsmonitor=false",
    b"-c",
    b"core.quotepath=false",
    b"-c",
    b"core.checkStat=default",
    b"-c",
    b"core.trustctime=true",
    b"-c",
    b"core.fileMode=true",
    b"-c",
    b"core.symlinks=true",
)

# None of these names a repository, an index or an object; containers and CI rely on them.
_HARMLESS = frozenset(
    {
        b"GIT_CEILING_DIRECTORIES",
        b"GIT_CONFIG_GLOBAL",
        b"GIT_CONFIG_NOSYSTEM",
        b"GIT_CONFIG_SYSTEM",
        b"GIT_DISCOVERY_ACROSS_FILESYSTEM",
    }
)

_KILL = 9  # signal.SIGKILL; importing `signal` costs more than the whole spawn
_CHUNK = 1 << 16
_PIPE_READS = 17  # more than a pipe of the largest unprivileged size can hold
_BLIND_MS = 20  # how often to ask after a child where there are no pidfds


def environment() -> dict[bytes, bytes]:
    """The environment git runs in: the caller's, without what could redirect or prompt it."""
    env = {
        name: value
        for name, value in os.environb.items()
        if not name.startswith(b"GIT_") or name in _HARMLESS
    }
    env[b"GIT_OPTIONAL_LOCKS"] = b"0"
    env[b"GIT_TERMINAL_PROMPT"] = b"0"
    env[b"LC_ALL"] = b"C"
    return env


class Git:
    """A started git. After `collect` its `code`, `output` and `errors` are there."""

    __slots__ = ("_in", "_pidfd", "_pipes", "_request", "_said", "args", "code", "pid")

    def __init__(
        self,
        cwd: Place,
        *args: str | bytes,
        stdin: bytes = b"",
        index: str | None = None,
        objects: "tuple[str, str] | None" = None,
    ) -> None:
        """Start `git -C cwd args…` and return at once.

        `index` is a file to use instead of the repository's own index. `objects` is a
        directory for new objects, and the one with the repository's own, which is only read.

        Raises: RepositoryError when there is no git to start.
        """
        self.args = args
        self.code: int | None = None
        self._said = (bytearray(), bytearray())
        self._pipes: dict[int, bytearray] = {}
        self._request = stdin
        self._in = self._pidfd = -1
        theirs: list[int] = []
        try:
            self.pid = self._spawn(cwd, _files(index, objects), theirs)
        except BaseException as error:
            self._close()
            if isinstance(error, FileNotFoundError | PermissionError):
                raise _no_git() from error
            raise
        finally:
            for fd in theirs:
                os.close(fd)
        self._pidfd = _watch(self.pid)

    @property
    def output(self) -> bytes:
        """What it wrote to stdout."""
        return bytes(self._said[0])

    @property
    def errors(self) -> bytes:
        """What it wrote to stderr."""
        return bytes(self._said[1])

    @property
    def blind(self) -> bool:
        """Whether nothing will announce its end, so that it has to be asked for."""
        return self.code is None and self._pidfd < 0

    def interests(self) -> "Iterator[tuple[int, int]]":
        """The descriptors to poll, with the events each waits for."""
        if self._in >= 0:
            yield self._in, select.POLLOUT
        for fd in self._pipes:
            yield fd, select.POLLIN
        if self._pidfd >= 0:
            yield self._pidfd, select.POLLIN

    def step(self, fd: int) -> None:
        """Do what `fd` is ready for; a descriptor closed meanwhile is nothing."""
        if fd in self._pipes:
            self._read(fd)
        elif fd == self._in:
            self._write()
        elif fd == self._pidfd:
            self.reap()

    def reap(self) -> None:
        """Take the exit code if there is one yet, and what the pipes still hold.

        A process that git left behind may keep the pipes open for ever, so the end is the end
        of git itself; what git wrote before that is already in the pipe.
        """
        try:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
        except ChildProcessError as error:  # SIGCHLD is ignored: nobody will ever know the code
            self.code = -1
            raise _lost_code(self.args) from error
        if pid == 0:
            return
        self.code = os.waitstatus_to_exitcode(status)
        for fd in tuple(self._pipes):
            for _ in range(_PIPE_READS):
                if not self._read(fd):
                    break
        self._close()

    def discard(self) -> None:
        """Kill the process if it still runs, and forget what is left of its output."""
        if self.code is None:
            try:
                os.kill(self.pid, _KILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            self.code = -_KILL
        self._close()

    def _spawn(self, cwd: Place, files: dict[bytes, bytes], theirs: list[int]) -> int:
        argv = [b"git", b"-C", os.fsencode(cwd), *_OPTIONS, *map(os.fsencode, self.args)]
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = []
        # A caller with closed standard descriptors gets them for these pipes. That is safe in this
        # order: an end that has to be moved is never numbered below the place it moves to.
        if self._request:
            read_end, self._in = os.pipe()
            theirs.append(read_end)
            os.set_blocking(self._in, False)
            actions.append((os.POSIX_SPAWN_DUP2, read_end, 0))
        else:
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        for number, said in enumerate(self._said, start=1):
            read_end, write_end = os.pipe()
            theirs.append(write_end)
            self._pipes[read_end] = said
            os.set_blocking(read_end, False)
            actions.append((os.POSIX_SPAWN_DUP2, write_end, number))
        env = environment() | files
        return os.posix_spawnp("git", argv, env, file_actions=actions, setsigmask=())

    def _read(self, fd: int) -> bool:
        """Move one piece; answer whether there may be more now."""
        try:
            piece = os.read(fd, _CHUNK)
        except BlockingIOError:
            return False
        if piece:
            self._pipes[fd] += piece
            return True
        del self._pipes[fd]
        os.close(fd)
        return False

    def _write(self) -> None:
        try:
            written = os.write(self._in, self._request[:_CHUNK])
        except BlockingIOError:
            return
        except BrokenPipeError:  # git stopped reading; its exit code and words say why
            written = len(self._request)
        self._request = self._request[written:]
        if not self._request:
            os.close(self._in)
            self._in = -1

    def _close(self) -> None:
        for fd in (self._in, self._pidfd, *self._pipes):
            if fd >= 0:
                os.close(fd)
        self._in = self._pidfd = -1
        self._pipes.clear()


def collect(*gits: Git, quiet_ms: int = QUIET_MS) -> None:
    """Read every git to its end, all at once, so that none waits for another's full pipe.

    On any exception, a silent git included, all of them are killed and reaped.

    Raises: RepositoryError when no git writes or ends for `quiet_ms`.
    """
    quiet = 0
    try:
        while running := [git for git in gits if git.code is None]:
            asking = select.poll()
            owners: dict[int, Git] = {}
            for git in running:
                for fd, events in git.interests():
                    asking.register(fd, events)
                    owners[fd] = git
            limit = _BLIND_MS if any(git.blind for git in running) else quiet_ms
            ready = asking.poll(limit)
            quiet = 0 if ready else quiet + limit
            if quiet >= quiet_ms:
                raise _silent(running[0].args, quiet_ms)
            for fd, _ in ready:
                owners[fd].step(fd)
            for git in running:
                if git.blind:
                    git.reap()
    except BaseException:
        for git in gits:
            git.discard()
        raise


def ask(
    cwd: Place,
    *args: str | bytes,
    stdin: bytes = b"",
    index: str | None = None,
    objects: "tuple[str, str] | None" = None,
) -> Git:
    """Run one git to its end. A failing git is an answer too: look at `code`."""
    git = Git(cwd, *args, stdin=stdin, index=index, objects=objects)
    collect(git)
    return git


def demand(cwd: Place, *args: str | bytes, stdin: bytes = b"", index: str | None = None) -> bytes:
    """The output of a git that has to succeed.

    Raises: RepositoryError with git's own words when it does not.
    """
    git = ask(cwd, *args, stdin=stdin, index=index)
    if git.code != 0:
        raise failed(git)
    return git.output


def failed(git: Git) -> Exception:
    """The error for a git that failed for a reason nobody has a better sentence for."""
    from tenure.gate.errors import RepositoryError

    said = git.errors.decode("utf-8", "replace").strip().splitlines()
    said.sort(key=lambda line: not line.startswith(("fatal:", "error:")))
    words = said[0] if said else f"it ended with code {git.code} and said nothing"
    return RepositoryError(
        what=f"git {_named(git.args)} failed: {words}",
        next="run `git fsck` and `git status` here and mend what they report",
    )


def _files(index: str | None, objects: tuple[str, str] | None) -> dict[bytes, bytes]:
    """The variables that put a file of ours in the place of one of the repository's."""
    files = {}
    if index is not None:
        files[b"GIT_INDEX_FILE"] = os.fsencode(index)
    if objects is not None:
        new, known = map(os.fsencode, objects)
        files[b"GIT_OBJECT_DIRECTORY"] = new
        for plain in (b"\\", b'"'):  # quoted, since a colon would divide it
            known = known.replace(plain, b"\\" + plain)
        quoted = known.replace(b"\n", b"\\n")
        files[b"GIT_ALTERNATE_OBJECT_DIRECTORIES"] = b'"%s"' % quoted
    return files


def _watch(pid: int) -> int:
    """A descriptor that becomes readable when `pid` ends, or -1 where there is no such thing."""
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):  # macOS, or a sandbox that forbids the call
        return -1


def _named(args: tuple[str | bytes, ...]) -> str:
    return os.fsdecode(args[0]) if args else ""


def _no_git() -> Exception:
    from tenure.gate.errors import RepositoryError

    return RepositoryError(what="there is no git on PATH", next=f"install git {OLDEST} or newer")


def _silent(args: tuple[str | bytes, ...], quiet_ms: int) -> Exception:
    from tenure.gate.errors import RepositoryError

    return RepositoryError(
        what=f"git {_named(args)} neither answered nor ended for {quiet_ms / 1000:g} s and was killed",
        next="run it by hand in this directory to see what it waits for",
    )


def _lost_code(args: tuple[str | bytes, ...]) -> Exception:
    from tenure.gate.errors import RepositoryError

    return RepositoryError(
        what=f"the exit code of git {_named(args)} was lost, because this process ignores SIGCHLD",
        next="start it from a shell or supervisor that leaves SIGCHLD at its default",
    )
