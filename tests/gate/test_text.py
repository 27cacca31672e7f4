"""Whatever bytes a path is made of, what is shown and stored of it is text."""

import json
import os

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from tenure.gate.text import readable
from tenure.gate.wire import encoded


class Named(msgspec.Struct, tag="named"):
    name: str
    more: dict[str, tuple[str, ...]] = {}


def test_an_undecodable_byte_is_shown_as_its_number():
    assert readable(os.fsdecode(b"/caf\xe9/\xc3\xa9")) == "/caf\\xe9/é"


def test_half_a_character_is_shown_too():
    assert readable("a\ud800é") == "a\\ud800é"


@given(st.text())
def test_text_is_left_as_it_is(text):
    assert readable(text) == text


@given(st.binary())
def test_any_bytes_can_be_stored_and_printed(raw):
    path = os.fsdecode(raw)
    value = Named(name=path, more={path: (path, "x")})
    found = json.loads(encoded(value).decode())
    assert found == {
        "type": "named",
        "name": readable(path),
        "more": {readable(path): [readable(path), "x"]},
    }
