"""Bounds how deep JSON is nested before anything parses it.

Python's json recurses in C and is stopped only by the interpreter's recursion limit, which libraries raise (py_ecc
does, on import); 90 kB of brackets would then end the process.
"""

import re

# A string without end runs to the end of the text. Possessive quantifiers keep the search linear for any input.
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)'
_BETWEEN_BRACKETS = re.compile(rf'(?:{_STRING}|[^"\[\]{{}}]++)++', re.DOTALL)
_PLAIN_STRING = re.compile(rb'"[^"]*+(?:"|\Z)')
_OTHER_BYTES = bytes(set(range(256)) - set(b'"[]{}'))


def is_nested_deeper(text: str, *, than: int) -> bool:
    """Return whether the brackets outside strings are nested more than this many levels deep."""
    depth = 0
    for bracket in _brackets(text):
        depth += 1 if bracket in "[{" else -1
        if depth > than:
            return True
    return False


def _brackets(text: str) -> str:
    if "\\" in text:
        return _BETWEEN_BRACKETS.sub("", text)
    # Without escapes, as in what nodes answer, quotes and brackets are all that counts. This takes a fifth of the time.
    kept = text.encode(errors="replace").translate(None, _OTHER_BYTES)
    return _PLAIN_STRING.sub(b"", kept).decode()
