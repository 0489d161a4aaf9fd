"""Mutation operators that slither-mutate lacks.

It does not change modifiers, numbers or assembly, and changes at most one of several conditions in a statement.
"""

import re
from collections.abc import Iterator

from lab.mutation.mutants import Mutant

# mutator, pattern, replacement
_SWAPS = (
    ("comparison", r" == ", " != "),
    ("comparison", r" != ", " == "),
    ("comparison", r" < ", " >= "),
    ("comparison", r" > ", " <= "),
    ("boundary", r" < ", " <= "),
    ("boundary", r" > ", " >= "),
    ("logic", r" && ", " || "),
    ("logic", r" \|\| ", " && "),
    ("modifier", r"(?<=[ \n])(nonReentrant|restricted|whenNotPaused)(?=[ \n])", ""),
    ("assembly", r"\badd(?=\()", "sub"),
    ("assembly", r"\bsub(?=\()", "add"),
    ("assembly", r"\band(?=\()", "or"),
)
_NUMBER = re.compile(r'(?<![\w."])(0x[0-9a-f]{1,4}|\d[\d_]*)(?![\w."])')
_NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\b(?:pragma|import) [^\n]*", re.DOTALL)


def changes(file: str, source: str) -> Iterator[Mutant]:
    """Yield every mutant of a source file, each with one change."""
    code = _NOT_CODE.sub(lambda found: " " * len(found[0]), source)
    for mutator, pattern, new in _SWAPS:
        for found in re.finditer(pattern, code):
            yield _mutant(file, source, mutator, found, new)
    for found in _NUMBER.finditer(code):
        value = int(found[0].replace("_", ""), base=0)
        yield _mutant(file, source, "number", found, str(value + 1))
        if value > 0:
            yield _mutant(file, source, "number", found, str(value - 1))


def _mutant(file: str, source: str, mutator: str, found: re.Match[str], new: str) -> Mutant:
    """Return a mutant that replaces the whole line, so that the report shows the change in context."""
    start = source.rfind("\n", 0, found.start()) + 1
    end = source.find("\n", found.end())
    return Mutant(
        file=file,
        mutator=mutator,
        line=source.count("\n", 0, start) + 1,
        start=len(source[:start].encode()),
        end=len(source[:end].encode()),
        old=source[start:end],
        new=source[start : found.start()] + new + source[found.end() : end],
    )
