"""Which paths a pattern takes, written down by hand, and which patterns are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.errors import UsageError
from tenure.gate.pattern import (
    check_pattern,
    compile_patterns,
    overlap,
    plain_path,
    without_match,
)

TABLE = [
    # pattern, paths that match, paths that do not
    ("README.md", "README.md", "readme.md docs/README.md README.mdx README_md"),
    ("src", "src src/a.py src/a/b.py src/.hidden", "srcs src.py lib/src xsrc/a"),
    ("src/", "src/a.py src/a/b.py", "src srcs/a"),
    ("./src", "src/a.py", "a"),
    ("src/.", "src/a.py", "a"),
    (".", "a a/b .hidden/x", ""),
    ("**", "a a/b .hidden .a/.b/c", ""),
    ("**/", "a a/b", ""),
    ("*", "a .hidden a.py", "a/b a/"),
    ("*/", "a/b a/b/c .github/w.yml", "a"),
    ("*.py", "a.py .py x.y.py", "a/b.py a.pyc apy"),
    ("**/*.py", "a.py src/a.py src/deep/er/a.py .x/a.py", "a.pyi src/a.py/b"),
    ("src/**", "src/a src/a/b src/.x/y", "src srcs/a a/src/b"),
    ("src/**/", "src/a src/a/b", "src"),
    ("src/**/*.py", "src/a.py src/b/a.py src/b/c/a.py", "src.py src/a.txt lib/src/a.py"),
    ("src/*.py", "src/a.py", "src/b/a.py a.py"),
    ("src/*", "src/a src/.b", "src/a/b src"),
    ("a/**/b", "a/b a/x/b a/x/y/b a/b/c", "ab a/xb a/b2 x/a/b"),
    ("a/**/**/b", "a/b a/x/b a/x/y/b", "ab"),
    ("**/tests", "tests/a x/tests/b tests x/y/tests", "mytests/a tests2"),
    ("packages/*/src", "packages/a/src/m.py packages/a/src", "packages/src packages/a/b/src/m.py"),
    ("a?c", "abc a.c a\u00e9c", "ac abbc a/c"),
    ("[ab].txt", "a.txt b.txt", "c.txt ab.txt"),
    ("[!ab].txt", "c.txt ..txt", "a.txt b.txt /.txt"),
    ("[^ab].txt", "c.txt", "a.txt"),
    ("[a-c]x", "ax bx cx", "dx -x"),
    ("[a-]x", "ax -x", "bx"),
    ("[]a]x", "]x ax", "[x x"),
    ("[!]]x", "ax", "]x"),
    ("[*]", "*", "a"),
    ("[[]", "[", "a ]"),
    ("[{]a[}]", "{a}", "a"),
    ("a[.-0]b", "a.b a0b", "a/b"),
    ("[-&&~~||]", "& ~ | -", "a"),
    ("[\\^a]", "\\ ^ a", "b"),
    ("a+b(c).$x^|", "a+b(c).$x^|", "aab(c).$x^|"),
    ("d\u00e9j\u00e0/*", "d\u00e9j\u00e0/vu", "deja/vu"),
    ("-x", "-x", "x"),
    ("#a", "#a #a/b", "a"),
    ("~", "~ ~/x", "x"),
    (".github", ".github/workflows/ci.yml", "github/x"),
    (".gitignore", ".gitignore", "gitignore"),
]


@pytest.mark.parametrize(("pattern", "matching", "others"), TABLE, ids=[row[0] for row in TABLE])
def test_a_pattern_takes_exactly_these_paths(pattern, matching, others):
    matches = compile_patterns([pattern])
    assert [path for path in matching.split() if not matches(path.encode())] == []
    assert [path for path in others.split() if matches(path.encode())] == []


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.txt", b"\xff\xfe.txt", True),
        ("??.txt", b"\xff\xfe.txt", True),
        ("?.txt", b"\xff\xfe.txt", False),
        ("??", b"\xe2\x82", True),
        ("\ufffd", b"\xff", False),
        ("src", b"src/\x80\x81/f", True),
        ("src/**", b"src/\xc3", True),
        ("[!a]", b"\xff", True),
        ("*", b"two\nlines", True),
        ("**", b"dir/two\nlines", True),
        ("a", b"a\n", False),
        ("a b", b"a b/c d", True),
    ],
)
def test_any_bytes_can_be_part_of_a_path(pattern, path, expected):
    assert compile_patterns([pattern])(path) is expected


def test_several_patterns_take_what_any_of_them_takes():
    matches = compile_patterns(["src/**", "*.toml"])
    assert matches(b"src/a.py")
    assert matches(b"pyproject.toml")
    assert not matches(b"docs/a.md")


def test_no_pattern_takes_nothing():
    assert not compile_patterns([])(b"a")
    assert not compile_patterns([])(b"")


def test_patterns_that_match_nothing_are_named_in_their_order():
    paths = [b"src/a.py", b"pyproject.toml", b"\xff.bin"]
    patterns = ["source/**", "*.toml", "src", "tests/**", "*.bin"]
    assert without_match(patterns, paths) == ("source/**", "tests/**")
    assert without_match(patterns, []) == tuple(patterns)


REFUSED = [
    ("", "empty"),
    ("/src", "absolute"),
    ("/", "absolute"),
    ("../other", "leave the tree"),
    ("src/../..", "leave the tree"),
    ("src//a", "empty segment"),
    ("src//", "empty segment"),
    (".git", "git directory"),
    (".git/hooks/*", "git directory"),
    ("sub/.GIT/x", "git directory"),
    ("a\0b", "NUL"),
    ("!docs", "only include"),
    ("src/**.py", "part of the segment"),
    ("src**/a", "part of the segment"),
    ("***", "part of the segment"),
    ("*.{js,ts}", "braces"),
    ("a}", "braces"),
    ("src\\a", "backslash"),
    ("a[bc", "never closed"),
    ("a[]", "never closed"),
    ("a[!]", "never closed"),
    ("a[b/c]", "never closed"),
    ("[z-a]", "range"),
]


@pytest.mark.parametrize(("pattern", "why"), REFUSED, ids=[repr(row[0]) for row in REFUSED])
def test_a_pattern_that_cannot_mean_what_it_says_is_refused(pattern, why):
    with pytest.raises(UsageError, match=why):
        compile_patterns(["src", pattern])
    with pytest.raises(UsageError, match=why):
        check_pattern(pattern)


@given(st.text(max_size=8) | st.text("ab[]!^-*?/.{}\\", max_size=8), st.binary(max_size=8))
def test_any_pattern_compiles_or_is_refused(pattern, path):
    try:
        matches = compile_patterns([pattern])
    except UsageError:
        return
    assert matches(path) in (True, False)


@given(st.lists(st.sampled_from(["a", "b", ".c", "d.py"]), min_size=1, max_size=4))
def test_a_path_written_out_takes_itself_and_everything_beneath(parts):
    path = "/".join(parts)
    matches = compile_patterns([path])
    assert matches(path.encode())
    assert matches(f"{path}/x/y".encode())
    assert not matches(f"{path}x".encode())
    assert not matches(f"x/{path}".encode())


@pytest.mark.parametrize(
    ("text", "path"),
    [("a", "a"), ("a/", "a"), ("./a/./b", "a/b"), (".", "."), ("./", "."), (".venv/x", ".venv/x")],
)
def test_a_plain_path_has_nothing_superfluous(text, path):
    assert plain_path(text) == path


@pytest.mark.parametrize(
    "text", ["*.xml", "a?", "[a]", "/a", "../a", "a/../b", ".git/x", "", "a//b"]
)
def test_a_plain_path_stays_in_the_tree_and_has_no_wildcards(text):
    with pytest.raises(UsageError):
        plain_path(text)


def test_paths_overlap_when_one_is_the_other_or_inside_it():
    assert overlap("a", "a")
    assert overlap("a/b", "a")
    assert overlap("a", "a/b/c")
    assert not overlap("a", "ab")
    assert not overlap("a/b", "a/c")
