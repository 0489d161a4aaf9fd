"""Marks what strangers wrote into an answer, so that a model can tell it from what the service says.

Anyone can deploy a token with a name that reads like an instruction.
"""

import re
from typing import Any

# Of a token, where one word may already be an instruction.
NAMES = {"symbol", "name", "outputSymbol"}
# Ids, addresses, amounts, times, URLs and codes. Any other text may have words of strangers in it: a revert's reason is
# what a contract says, and messages quote symbols.
PLAIN = re.compile(r"[A-Za-z0-9_.:/+=\[\]-]*")
LONGEST_CHARACTERS = 200


def marked(value: Any, field: str = "") -> Any:  # noqa: ANN401 - JSON
    """Return a JSON value with each text of strangers as ``{"untrusted": text}``, printable and shortened."""
    if isinstance(value, dict):
        return {key: marked(item, key) for key, item in value.items()}
    if isinstance(value, list):
        return [marked(item, field) for item in value]
    if isinstance(value, str) and (field in NAMES or not PLAIN.fullmatch(value)):
        return {"untrusted": "".join(filter(str.isprintable, value))[:LONGEST_CHARACTERS]}
    return value
