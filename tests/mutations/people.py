"""Faults in what people are shown."""

from tests.mutations.planted import Mutation

FRAME = "tests/faces/test_frame.py"
JUNIT = "tests/gate/test_junit.py"
MARKDOWN = "tests/faces/test_markdown.py"
CI = "tests/faces/test_ci.py"
PROPOSAL = "tests/gate/test_proposal.py"
LINES = "tests/faces/test_lines.py"
DISPLAY = "tests/faces/test_display.py"

SHOWN = (
    Mutation(
        "frames pile up before a terminal that is not read",
        "faces/cli/display.py",
        "if self.pending or not _in_foreground(self.descriptor):",
        "if not _in_foreground(self.descriptor):",
        (f"{DISPLAY}::test_a_terminal_that_is_not_read_misses_frames_and_no_line",),
    ),
    Mutation(
        "a narrower window is cleared as if nothing had wrapped",
        "faces/cli/display.py",
        "rows = sum(max(1, -(-taken // cells)) for taken in self._drawn)",
        "rows = len(self._drawn)",
        (f"{DISPLAY}::test_a_window_that_became_narrower_is_cleared_of_its_wrapped_lines",),
    ),
    Mutation(
        "a frame after a stop is drawn over what the shell wrote",
        "faces/cli/display.py",
        "        def continued(*_: object) -> None:\n            self._drawn = []\n",
        "        def continued(*_: object) -> None:\n",
        (f"{DISPLAY}::test_whoever_goes_on_after_a_stop_draws_below_what_was_written_meanwhile",),
    ),
    Mutation(
        "a line that stays is written over the frame",
        "faces/cli/display.py",
        "super().write(self._erasing() + text)",
        "super().write(text)",
        (f"{DISPLAY}::test_what_was_said_stays_above_and_the_frame_is_drawn_over_itself",),
    ),
    Mutation(
        "a CI that has a terminal is drawn on",
        "faces/cli/lines.py",
        'if environ.get("CI") not in (None, "", "0", "false"):',
        "if False:",
        (f"{DISPLAY}::test_a_display_is_for_terminals_that_can_and_people_who_look",),
    ),
    Mutation(
        "a line in a pipe is broken like one on a terminal",
        "faces/cli/lines.py",
        "return 0\n",
        "return 80\n",
        (f"{LINES}::test_in_a_pipe_a_line_is_a_line",),
    ),
    Mutation(
        "a long line ends where the window does, in the middle of a word",
        "faces/cli/display.py",
        'rows = folded("".join(text for text, _ in line), self.columns())',
        'rows = folded("".join(text for text, _ in line), 0)',
        (f"{DISPLAY}::test_a_long_line_is_broken_at_words_above_the_frame_that_follows",),
    ),
    Mutation(
        "a command that people copy is broken into rows",
        "faces/cli/lines.py",
        "if isinstance(line, Whole) or not columns:",
        "if not columns:",
        (f"{LINES}::test_what_is_copied_is_left_to_the_terminal",),
    ),
    Mutation(
        "the shortcut's line is broken in the middle of a word",
        "faces/cli/process.py",
        "if len(line) <= columns:",
        "if True:",
        (f"{LINES}::test_the_shortcut_lays_out_its_line_as_well",),
    ),
    Mutation(
        "a wide character counts for one cell",
        "faces/cli/cells.py",
        'return 2 if unicodedata.east_asian_width(character) in "WF" else 1',
        "return 1",
        (f"{FRAME}::test_wide_characters_count_for_what_they_take",),
    ),
    Mutation(
        "what a job writes reaches the terminal as it is",
        "faces/cli/cells.py",
        'return "".join(one if one.isprintable() else " " for one in text)',
        "return text",
        (f"{FRAME}::test_nothing_is_shown_that_a_terminal_would_obey",),
    ),
    Mutation(
        "an estimate leaves out what is not known",
        "faces/cli/frame.py",
        "        if task.estimate is None:\n            return None\n",
        "        if task.estimate is None:\n            continue\n",
        (f"{FRAME}::test_the_rest_is_estimated_only_where_everything_is_known",),
    ),
)

TOLD = (
    Mutation(
        "a report of an earlier run names its failures",
        "gate/junit.py",
        "if not stat.S_ISREG(seen.st_mode) or seen.st_mtime_ns < since_wall_ns:",
        "if not stat.S_ISREG(seen.st_mode):",
        (f"{JUNIT}::test_a_report_of_an_earlier_run_names_nobody",),
    ),
    Mutation(
        "every failing test is named, however many",
        "gate/junit.py",
        "            if len(found) < MOST_NAMES:\n",
        "            if True:\n",
        (
            f"{JUNIT}::test_names_are_bounded_in_number_and_length_and_hold_nothing_a_terminal_obeys",
        ),
    ),
)

SUMMED_UP = (
    Mutation(
        "a cell of a summary ends where a test's name says so",
        "faces/cli/markdown.py",
        'ord("|"): "&#124;"',
        'ord("|"): "|"',
        (f"{MARKDOWN}::test_a_cell_stays_a_cell",),
    ),
    Mutation(
        "a job's output ends its own block",
        "faces/cli/markdown.py",
        'fence = "`" * max(3, longest + 1)',
        'fence = "```"',
        (f"{MARKDOWN}::test_a_block_ends_where_it_should",),
    ),
    Mutation(
        "a summary that cannot be written is a failure",
        "faces/cli/summary.py",
        "    except (OSError, ValueError) as error:\n        return getattr(",
        "    except ZeroDivisionError as error:\n        return getattr(",
        (f"{CI}::test_a_summary_that_cannot_be_written_is_told_and_changes_nothing",),
    ),
    Mutation(
        "a summary takes the place of what others left",
        "faces/cli/summary.py",
        "os.O_CREAT | os.O_APPEND | os.O_NONBLOCK",
        "os.O_CREAT | os.O_TRUNC | os.O_NONBLOCK",
        (f"{CI}::test_summaries_are_appended_and_asked_for_by_name_too",),
    ),
)

PROPOSED = (
    Mutation(
        "a tool that is a job of its own runs as a hook too",
        "gate/proposal/hooks.py",
        "if tool in covered or hook in _OF_THE_MOMENT]",
        "if hook in _OF_THE_MOMENT]",
        (f"{PROPOSAL}::test_a_tool_that_is_configured_here_and_hooked_there_runs_once",),
    ),
    Mutation(
        "a target that runs what is there already is another job",
        "gate/proposal/chosen.py",
        "    if not job.tools or not job.tools <= does:\n",
        "    if True:\n",
        (f"{PROPOSAL}::test_a_target_that_runs_what_is_there_already_is_only_named",),
    ),
    Mutation(
        "a release is proposed as if it judged commits",
        "gate/proposal/workflows.py",
        "if not _JUDGING & named or not isinstance(jobs, dict):",
        "if not isinstance(jobs, dict):",
        (f"{PROPOSAL}::test_a_workflow_that_judges_no_commit_is_passed_over",),
    ),
    Mutation(
        "what no policy allows is proposed",
        "gate/proposal/text.py",
        "        if error is None:\n",
        "        if True:\n",
        (f"{PROPOSAL}::test_what_is_malformed_is_said_or_passed_over_and_stops_nothing",),
    ),
    Mutation(
        "a file that does not parse ends the proposal",
        "gate/proposal/parsed.py",
        "except (tomllib.TOMLDecodeError, RecursionError) as error:",
        "except ZeroDivisionError as error:",
        (f"{PROPOSAL}::test_what_does_not_parse_is_named_with_its_reason",),
    ),
    Mutation(
        "a command of the shell is given to nobody",
        "gate/proposal/text.py",
        'key = "shell" if _SHELL.search(job.command) else "run"',
        'key = "run"',
        (f"{PROPOSAL}::test_a_command_of_the_shell_is_given_to_one_and_others_are_not",),
    ),
)

PEOPLE = (*SHOWN, *TOLD, *SUMMED_UP, *PROPOSED)
