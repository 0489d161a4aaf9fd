"""The one spelling of JSON of which digests and signatures are made: ASCII, names in order, without spaces."""

import json


def canonical(value: object) -> bytes:
    """Return it; the value may hold integers, and no floats."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")
