"""Bounds how deep JSON is nested before anything parses it.

Python's json recurses in C and is stopped only by the interpreter's recursion limit, which libraries raise (py_ecc
does, on import); 90 kB of brackets would then end the process.
"""

import re

# A string without end runs to the end of the text. Possessive quantifiers keep the search linear for any input.
_STRING_OR_BRACKET = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)


def is_nested_deeper(text: str, *, than: int) -> bool:
    """Return whether the brackets outside strings are nested more than this many levels deep."""
    depth = 0
    for token in _STRING_OR_BRACKET.finditer(text):
        match token[0]:
            case "[" | "{":
                depth += 1
            case "]" | "}":
                depth -= 1
        if depth > than:
            return True
    return False
