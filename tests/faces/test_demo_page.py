"""The demo's page fits the window of whoever looks."""

import pytest

from demo.page import Page


@pytest.mark.parametrize(("window", "width"), [(80, 80), (120, 100), (20, 40)])
def test_no_line_is_wider_than_the_window_and_no_word_broken(monkeypatch, capsys, window, width):
    monkeypatch.setenv("COLUMNS", str(window))
    page, words = Page("/demo/"), " ".join(f"word-{at}" for at in range(60))
    page.text(words)
    page.line(f"  {words}")
    with page.step(words):
        pass
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) < width
    told = " ".join(lines).replace("…", "").split()
    assert told[:60] == told[60:120] == told[120:180] == words.split()


def test_a_path_that_is_too_long_stays_whole(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    path = "/home/ada/" + "a-folder/" * 8
    Page("/demo/").line(f"log: {path}")
    assert capsys.readouterr().out.split() == ["log:", path]
