"""Three real packages under the gate, and an agent that is killed. Every claim in it is checked.

`make demo` runs it. It needs Python, git and, the first time, the package index that pip is
configured for. Everything happens in `.demo/`; only the downloads survive from one run to the next.
"""

import sys
import time
from pathlib import Path

from demo.gated import Gated
from demo.package import PACKAGES, clear, fetch, fetched, make_tools, unpack
from demo.page import Page, StoryBroken
from demo.session import SessionStory

HOME = Path(__file__).resolve().parents[1] / ".demo"

TESTS_AT_LEAST = 200


class Story:
    """The chapters, in order, and what the table at the end shows of them."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._gated = [
            Gated(package, HOME / package.name, HOME / "venv", page) for package in PACKAGES
        ]
        self._rows = {gated.package.name: [gated.package.name] for gated in self._gated}

    def tell(self) -> None:
        """All of it."""
        self.set_up()
        self.at_once()
        self.again()
        self.edits()
        self.cheats()
        SessionStory(self._page, HOME / "session").tell()
        self.end()

    def cancel(self) -> None:
        """Leave nothing running."""
        for gated in self._gated:
            gated.cancelled()

    def set_up(self) -> None:
        """Fetch the packages and make repositories of them."""
        page, downloads = self._page, HOME / "downloads"
        page.chapter(
            "1  Three packages, with the tests they ship",
            "Everything below is real: commands as typed, output as printed, paths below .demo/. It "
            "takes three to seven minutes, most of it the test suite of packaging.",
        )
        for gated in self._gated:
            clear(gated.one.parent)
        wanted = [p for p in PACKAGES if not fetched(p, downloads)]
        names = ", ".join(f"{p.name} {p.version}" for p in wanted)
        if wanted:
            with page.step(f"fetching the sources of {names} through pip"):
                fetch(tuple(wanted), downloads)
        else:
            page.line("sources of all three are here from last time, hashes as pinned")
        with page.step("a virtual environment with pytest and ruff"):
            make_tools(HOME / "venv")
        with page.step("each a git repository with two worktrees, one/ and two/"):
            for gated in self._gated:
                unpack(gated.package, downloads, gated.one)
                gated.found()
        page.line()
        page.command("click/one", "cat tenure.toml")
        for line in PACKAGES[0].policy.splitlines():
            page.line(line)

    def at_once(self) -> None:
        """Both worktrees ask at the same moment."""
        page = self._page
        page.chapter(
            "2  Two worktrees ask at once: one runs, the other joins",
            "`tenure done` is started in one/ and in two/ at the same moment. Both are at the same "
            "commit, so they ask the same question, and it is worked on once.",
        )
        for gated in self._gated:
            name = gated.package.name
            page.line()
            page.command(name, "(cd one; tenure done) & (cd two; tenure done)")
            began = time.monotonic()
            ended = gated.both_done()
            wall = time.monotonic() - began
            suite = gated.suite()
            said = "\n".join(one.text for one in ended.values())
            page.holds("both were told: met", all(one.code == 0 for one in ended.values()), said)
            same = gated.proof(gated.one)["id"] == gated.proof(gated.two)["id"]
            page.holds("by one and the same Proof", same)
            ran = gated.suite_executions()
            page.holds("the suite was executed once", ran == 1, f"It was executed {ran} times.")
            page.holds(
                f"{suite.tests} tests in {suite.seconds:.1f} s; both answered after {wall:.1f} s",
                suite.tests >= TESTS_AT_LEAST and suite.failed == 0,
                f"{suite.failed} failed.",
            )
            self._rows[name] += [str(suite.tests), f"{suite.seconds:.1f} s", f"{wall:.1f} s"]

    def again(self) -> None:
        """The answer exists."""
        page = self._page
        page.chapter(
            "3  Asked again, the Proof answers",
            "Nothing is executed. The times are medians of 9 calls, each beside a `python -c pass`.",
        )
        page.line()
        for gated in self._gated:
            before = gated.suite_executions()
            ended = gated.done(gated.two, told=True)
            ours, floor = gated.milliseconds(9)
            page.holds(
                f"{ours:.0f} ms, where `python -c pass` takes {floor:.0f} ms",
                ended.code == 0 and gated.suite_executions() == before,
                ended.text,
            )
            self._rows[gated.package.name].append(f"{ours:.0f} ms ({ours / floor:.1f} ×)")

    def edits(self) -> None:
        """What an edit runs again, and that it does not need whoever asked."""
        self._page.chapter(
            "4  An edit runs again what depends on it, and says why",
            "The policy says what each job reads: lint all of **/*.py, test the code and its tests. "
            "So a README touches neither, docs/conf.py the lint alone, and a source file both.",
        )
        for number, gated in enumerate(self._gated):
            gated.git("switch", "--quiet", "--create", "topic", where=gated.two)
            self._edit(gated, gated.package.readme, [], told=number == 0)
            self._edit(gated, "docs/conf.py", ["lint"], told=number == 0)
            if number == 0:
                self._edit_and_kill(gated)

    def _edit(self, gated: Gated, file: str, runs: list[str], *, told: bool) -> None:
        page, two = self._page, gated.two
        page.line()
        self._append(gated, file)
        ended = gated.done(two, told=told)
        executed = gated.executed(two) if ended.code == 0 else None
        page.holds(
            f"{gated.package.name}: an edit of {file} runs {' and '.join(runs) or 'nothing'} again",
            executed == runs,
            ended.text,
        )

    def _append(self, gated: Gated, file: str) -> None:
        mark = "#" if file.endswith(".py") else ""
        with (gated.two / file).open("a") as text:
            text.write(f"\n{mark} One more line.\n")
        self._page.command(
            gated.name_of(gated.two), f"echo … >> {file}; git commit --quiet --all --message …"
        )
        gated.commit(gated.two, f"Add a line to {file}")

    def _edit_and_kill(self, gated: Gated) -> None:
        """The source file, and whoever asked is killed while the suite runs."""
        page, file = self._page, gated.package.breaking.file
        page.line()
        self._append(gated, file)
        before = gated.suite_executions()
        status = gated.done_and_killed(gated.two)
        page.line("kill -9: whoever asked is dead, the suite has just begun. Somebody asks again:")
        ended = gated.done(gated.two, told=True)
        page.holds(
            f"{gated.package.name}: an edit of {file} runs lint and test again",
            ended.code == 0 and gated.executed(gated.two) == ["lint", "test"],
            ended.text,
        )
        ran = gated.suite_executions() - before
        page.holds(
            "the asker was killed, its run went on, and the suite ran once for both",
            status == -9 and ran == 1,
            f"It ended with {status}; the suite ran {ran} times.",
        )

    def cheats(self) -> None:
        """A branch that breaks the code and shortens its test command."""
        self._page.chapter(
            "5  A branch cannot grade itself",
            'A branch breaks the code and sets run = "true", so that its own test job passes. The '
            "policy at its merge base judges it too: what it changed has to pass old and new.",
        )
        for number, gated in enumerate(self._gated):
            self._cheat(gated, told=number == 0)
        self._remove(self._gated[0])

    def _cheat(self, gated: Gated, *, told: bool) -> None:
        page, two, package = self._page, gated.two, gated.package
        gated.git("switch", "--quiet", "--create", "cheat", "main", where=two)
        path = two / package.breaking.file
        text = path.read_text()
        assert text.count(package.breaking.old) == 1, f"{package.breaking.old} is not in {path}"
        path.write_text(text.replace(package.breaking.old, package.breaking.new))
        (two / "tenure.toml").write_text(package.faked)
        gated.commit(two, "Speed up the tests")
        page.line()
        page.command(gated.name_of(two), "git diff main")
        for line in gated.git("diff", "--unified=0", "main", where=two).splitlines():
            if line[:1] in "+-" and line[:3] not in ("+++", "---"):
                page.line(f"  {line}")
        ended = gated.done(two, told=told)
        failures = [one["requirement"] for one in gated.last_report()["failures"]]
        page.holds(
            f"{package.name}: not met, because of test@base, the job as the base defines it",
            ended.code == 1 and failures == ["test@base"],
            ended.text,
        )
        passed = "ok      test  passed" in ended.text
        page.holds("although the branch's own test job passed", passed, ended.text)
        self._rows[package.name].append("not met")

    def _remove(self, gated: Gated) -> None:
        """The same branch, without any test job at all."""
        page, two = self._page, gated.two
        (two / "tenure.toml").write_text(gated.package.policy.partition("[jobs.test]")[0])
        gated.commit(two, "Remove the tests")
        page.line()
        page.line("And without any test job:")
        ended = gated.done(two, told=True)
        page.holds(
            "a job that was removed is not met, by name, and nothing had to run",
            ended.code == 1 and "test: " in ended.text,
            ended.text,
        )

    def end(self) -> None:
        """The table."""
        page = self._page
        page.chapter("In short")
        page.line()
        head = ("", "tests", "suite", "two worktrees", "asked again", "the cheat")
        page.table(head, list(self._rows.values()))


def main() -> int:
    """Tell the story; 1 if it does not hold."""
    page = Page(f"{HOME}/")
    began = time.monotonic()
    story = Story(page)
    try:
        story.tell()
    except KeyboardInterrupt:
        story.cancel()
        page.line("interrupted; what was running has been asked to end")
        return 130
    except StoryBroken as broken:
        page.line()
        print(f"✗ {broken}")
        return 1
    page.line()
    page.line(f"All of it held, in {time.monotonic() - began:.0f} s. To look around:")
    page.line("cd .demo/click/two && ../../../.venv/bin/tenure runs")
    return 0


if __name__ == "__main__":
    sys.exit(main())
