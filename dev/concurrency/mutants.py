"""The mutants: each removes one lock, compare-and-set, unique key or commit hook from the service's code.

They are found in the syntax tree, and in the SQL within it, so a new safeguard needs no entry in a list. A unique key
is dropped from the database of the tests instead, since migrations create it and not the models.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

APPS = ("config", "indexer", "ledger", "partners", "sweepapi", "sweeps")
# A filter by these says which row is meant, and not in which state it has to be.
_WHICH_ROW = {"id", "pk", "id__in", "pk__in", "sweep_id", "sweep_id__in", "network"}
_LOCK = re.compile(r"\s+FOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?")
_SKIPPING = re.compile(r"\s+SKIP LOCKED")
_ADVISORY = re.compile(r"pg_(?P<tries>try_)?advisory_(?:xact_)?lock\((?P<key>hashtextextended\(.+?\))\)")
_STATE = re.compile(r"\s+AND (?:\w+\.)?(?:version|lease_token) (?:=|IS NOT DISTINCT FROM) [\w.%()]+")
_CONFLICT = re.compile(r"\s+ON CONFLICT (?:\([^)]*\) )?DO NOTHING")


@dataclass(frozen=True)
class Mutant:
    """One safeguard that is missing: a piece of a file replaced, or a unique key dropped."""

    kind: str
    file: str  # relative to the project
    line: int
    old: str
    new: str
    start: int = 0  # of the old text in the file; not used for a unique key
    key: str = ""  # the name of the unique key in the database, blank unless it is one

    def apply(self, source: str) -> str:
        """Return the file without the safeguard."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} [{self.kind}] {' '.join(self.old.split())} => {self.new or '(nothing)'}"


def mutants_of(root: Path) -> list[Mutant]:
    """Return all mutants of the service, by file and line."""
    files = [file for app in APPS for file in sorted((root / app).rglob("*.py")) if "migrations" not in file.parts]
    return [mutant for file in files for mutant in mutants_in(str(file.relative_to(root)), file.read_text())]


def mutants_in(file: str, source: str) -> Iterator[Mutant]:
    """Yield the mutants of one file."""
    text = _Text(file, source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute | ast.Name):
            yield from _of_call(text, node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _of_sql(text, node)


@dataclass(frozen=True)
class _Text:
    """A file, with the places of the nodes of its syntax tree."""

    file: str
    source: str

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        lines = self.source.splitlines(keepends=True)
        starts = [sum(len(line) for line in lines[: number - 1]) for number in (node.lineno, node.end_lineno or 0)]
        columns = zip(starts, (node.lineno, node.end_lineno or 0), (node.col_offset, node.end_col_offset), strict=True)
        first, last = (
            start + len(lines[number - 1].encode()[: column or 0].decode()) for start, number, column in columns
        )
        return first, last

    def replaced(self, kind: str, start: int, end: int, new: str) -> Mutant:
        line = self.source.count("\n", 0, start) + 1
        return Mutant(kind, self.file, line, self.source[start:end], new, start)


def _of_call(text: _Text, call: ast.Call) -> Iterator[Mutant]:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    start, end = text.span(call)
    if name == "select_for_update" and isinstance(call.func, ast.Attribute):
        _, before = text.span(call.func.value)
        yield text.replaced("lock", before, end, ".all()")
    if name == "on_commit":
        (hook,) = call.args
        yield text.replaced("commit hook", start, end, f"({ast.unparse(hook)})()")
    if name == "update" and isinstance(call.func, ast.Attribute):
        yield from _of_condition(text, call.func.value)
    if name == "UniqueConstraint":
        (key,) = (ast.literal_eval(keyword.value) for keyword in call.keywords if keyword.arg == "name")
        yield Mutant("unique key", text.file, call.lineno, key, "", key=key)
    for keyword in call.keywords:
        if keyword.arg in ("skip_locked", "ignore_conflicts"):
            yield text.replaced(keyword.arg, *text.span(keyword.value), "False")


def _of_condition(text: _Text, rows: ast.expr) -> Iterator[Mutant]:
    """Yield an update without each condition on the state of its rows, of which ``rows`` is the query."""
    while isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute):
        if rows.func.attr == "filter":
            for keyword in rows.keywords:
                if keyword.arg is not None and keyword.arg not in _WHICH_ROW:
                    yield _without(text, rows, keyword)
        rows = rows.func.value


def _without(text: _Text, call: ast.Call, dropped: ast.keyword) -> Mutant:
    start, end = text.span(dropped)
    rest = text.source[end : text.span(call)[1]]
    separator = re.match(r"\s*,\s*", rest)
    return text.replaced("compare-and-set", start, end + (separator.end() if separator else 0), "")


def _of_sql(text: _Text, constant: ast.Constant) -> Iterator[Mutant]:
    start, end = text.span(constant)
    literal = text.source[start:end]
    changes: Iterable[tuple[str, re.Pattern[str]]] = (
        ("lock", _LOCK),
        ("skip_locked", _SKIPPING),
        ("compare-and-set", _STATE),
        ("ignore_conflicts", _CONFLICT),
    )
    for kind, pattern in changes:
        for found in pattern.finditer(literal):
            yield text.replaced(kind, start + found.start(), start + found.end(), "")
    for found in _ADVISORY.finditer(literal):
        new = f"{found['key']} IS NOT NULL" if found["tries"] else found["key"]
        yield text.replaced("lock", start + found.start(), start + found.end(), new)
