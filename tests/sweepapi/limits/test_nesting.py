"""Brackets are counted outside strings only, with escapes or without."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweepapi.limits.nesting import is_nested_deeper


def depth_of(text: str) -> int:
    """Return how deep the brackets outside strings are nested, one character at a time."""
    depth = deepest = 0
    in_string = is_escaped = False
    for character in text:
        if in_string:
            in_string = is_escaped or character != '"'
            is_escaped = character == "\\" and not is_escaped
        elif character == '"':
            in_string = True
        elif character in "[]{}":
            depth += 1 if character in "[{" else -1
            deepest = max(deepest, depth)
    return deepest


@given(st.text(alphabet='[]{}"a\\é,', max_size=40) | st.text(alphabet='[]{}"a\ud800,', max_size=40))
def test_any_text_is_measured_as_one_character_at_a_time(text: str) -> None:
    deepest = depth_of(text)
    assert not is_nested_deeper(text, than=deepest)
    assert deepest == 0 or is_nested_deeper(text, than=deepest - 1)


@pytest.mark.parametrize("text", ['"[[["', '"\\"[[["', '"a\\\\"', '"[[['])
def test_brackets_inside_strings_do_not_count(text: str) -> None:
    assert not is_nested_deeper(f"[{text}", than=1)


def test_the_depth_of_json_is_that_of_its_values() -> None:
    value = {"a": [{"b": "]}[{", "é": [1, [2]]}]}
    assert not is_nested_deeper(json.dumps(value), than=5)
    assert is_nested_deeper(json.dumps(value, ensure_ascii=False), than=4)
