"""A line of the log is JSON whatever strangers sent, and no line is lost."""

import json

import pytest

from config.json_lines import json_line


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("0xé", "0xé"),
        (2**256 - 1, 2**256 - 1),
        ("half \ud800 a pair", "half \ud800 a pair"),
        (ValueError("x"), "ValueError('x')"),
    ],
)
def test_a_line_is_json(value: object, shown: object) -> None:
    assert json.loads(json_line({"event": "told", "value": value})) == {"event": "told", "value": shown}
