"""`--ci` and `--summary`: an answer that is also left where whoever looks at a CI job finds it."""

import os
from collections.abc import Callable
from typing import Any

from tenure.faces.cli.board import Board
from tenure.faces.cli.session import Session
from tenure.faces.cli.summary import annotations, append, page_of, page_of_error, targets
from tenure.gate.inquiry import Answer
from tenure.kernel.errors import TenureError


def summed_up(session: Session, chosen: Any, ask: Callable[[], Answer]) -> Answer:
    """Ask, and leave a summary of the answer, or of why there is none.

    A summary that cannot be written is told on standard error and changes nothing else.
    """
    paths = targets(chosen.summary, os.environ if chosen.ci else {})
    session.board = board = Board()
    try:
        answer = ask()
    except TenureError as error:
        _leave(session, paths, page_of_error(str(error)))
        raise
    _leave(session, paths, page_of(answer, board))
    if chosen.ci and os.environ.get("GITHUB_ACTIONS") == "true":
        for line in annotations(answer):
            session.say(line)
    return answer


def _leave(session: Session, paths: list[str], page: str) -> None:
    troubles = {path: append(path, page) for path in paths}
    session.result(summary=[path for path, trouble in troubles.items() if trouble is None])
    for path, trouble in troubles.items():
        if trouble is not None:
            session.warn(f"the summary is not in {path}: {trouble}; the verdict stands")
