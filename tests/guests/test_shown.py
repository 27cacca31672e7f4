"""What the how-to pages of guests show is in the examples, which the type checker reads."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

#: Page and example. The frameworks' types take a checker a minute to read, once for all.
SHOWN = {
    "keep-langgraph-checkpoints.md": "langgraph_checkpoints.py",
    "keep-openai-agents-sessions.md": "openai_agents_sessions.py",
}


@pytest.mark.parametrize("page", SHOWN)
def test_what_a_page_shows_is_in_its_example(page: str):
    text = (ROOT / "docs" / "how-to" / page).read_text(encoding="utf-8")
    example = (ROOT / "examples" / SHOWN[page]).read_text(encoding="utf-8")
    blocks = re.findall(r"^```py\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        assert block in example
