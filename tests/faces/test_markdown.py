"""Whatever a job, a branch or a path is called, a page of Markdown shows it as text."""

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from tenure.faces.cli import markdown

NASTY = st.text(alphabet="ab |`*_[]()<>&\\~$@#!-\n\t\x1b{}%:/.é日") | st.text()
PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def shown(tokens: list[Token]) -> str:
    """The text of inline tokens, if they are nothing but text and the tags we write."""
    told = ""
    for token in tokens:
        assert token.type in ("text", "html_inline", "text_special"), token
        if token.type == "html_inline":
            assert token.content in ("<code>", "</code>")
        else:
            told += token.content
    return told


def one_line(value: str) -> str:
    return "".join(one if one.isprintable() else " " for one in value)


@given(NASTY)
def test_a_sentence_stays_a_sentence(value):
    (opened, inline, closed) = PARSER.parse(f"x {markdown.text(value)} x")
    assert (opened.type, closed.type) == ("paragraph_open", "paragraph_close")
    assert shown(inline.children or []) == f"x {one_line(value)} x"


@given(st.lists(NASTY, min_size=3, max_size=3))
def test_a_cell_stays_a_cell(values):
    rows: list[tuple[str, ...]] = [tuple(f"x{markdown.code(value)}x" for value in values)]
    tokens = PARSER.parse(markdown.table(("a", "b", "c:"), rows))
    cells = [token.children or [] for token in tokens if token.type == "inline"][3:]
    assert [shown(cell) for cell in cells] == [f"x{one_line(value)}x" for value in values]


@given(NASTY)
def test_a_block_ends_where_it_should(value):
    (fence,) = PARSER.parse(markdown.block(value))
    assert fence.type == "fence"
    assert fence.content == "\n".join(map(one_line, value.split("\n"))) + "\n"


def test_nobody_is_notified():
    assert "@" not in markdown.text("@ada") + markdown.code("a@ada.invalid")
