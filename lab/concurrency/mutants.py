"""The mutants: each removes one lock, compare-and-set, unique key, version or commit hook from the service's code.

They are found in the syntax tree, and in the SQL within it, so a new safeguard needs no entry in a list. What the
migrations create, and not the models, is dropped from the database of the tests instead.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from pathlib import Path

from lab.edited_copy import APPS

# A filter by these says which row is meant, and not in which state it has to be.
_WHICH_ROW = {"id", "pk", "id__in", "pk__in", "sweep_id", "sweep_id__in", "network"}
_LOCK = re.compile(r"\s+FOR (?:NO KEY )?UPDATE(?: OF \w+)?(?: SKIP LOCKED)?")
_SKIPPING = re.compile(r"\s+SKIP LOCKED")
_ADVISORY = re.compile(r"pg_(?P<tries>try_)?advisory_(?:xact_)?lock\((?P<key>hashtextextended\(.+?\))\)")
_IS_DUE = r"due_at <= statement_timestamp\(\)"
_IS_AS_READ = r"(?:\w+\.)?(?:version|lease_token) (?:=|IS NOT DISTINCT FROM) [\w.%()]+"
_IS_HELD = r"due_at = ANY\([\w.%()]+\)"
_IS_ALONE = r"NOT EXISTS \([^()]*\)"
_STATE = re.compile(rf"(?:(?<=WHERE )|(?<=AND ))(?:is_open\b|{_IS_DUE}|{_IS_AS_READ}|{_IS_HELD}|{_IS_ALONE})")
_CONFLICT = re.compile(r"\s+ON CONFLICT (?:\([^)]*\) )?DO NOTHING")
# In a comparison in Python.
_AS_READ = re.compile(r"\.lease_token\b|\.mark\.lease\b|\bReadMark\.of\(")


@dataclass(frozen=True)
class Mutant:
    """One safeguard that is missing: a piece of a file replaced, or a rule of the database dropped."""

    kind: str
    file: str  # relative to the project
    line: int
    old: str
    new: str
    start: int = 0  # of the old text in the file; not used for a rule
    rule: str = ""  # what the tests drop from their database, blank if the file is changed

    def apply(self, source: str) -> str:
        """Return the file without the safeguard."""
        return source[: self.start] + self.new + source[self.start + len(self.old) :]

    def __str__(self) -> str:
        return f"{self.file}:{self.line} [{self.kind}] {' '.join(self.old.split())} => {self.new or '(nothing)'}"


def mutants_of(root: Path) -> list[Mutant]:
    """Return all mutants of the service, by file."""
    found = (file for app in APPS for kind in ("*.py", "*.sql") for file in sorted((root / app).rglob(kind)))
    files = [file for file in found if "migrations" not in file.parts]
    return [mutant for file in files for mutant in mutants_in(str(file.relative_to(root)), file.read_text())]


def mutants_in(file: str, source: str) -> list[Mutant]:
    """Return the mutants of one file, each once."""
    return list(dict.fromkeys(_found_in(_Text(file, source))))


@dataclass(frozen=True)
class _Text:
    """A file, with the places of the nodes of its syntax tree."""

    file: str
    source: str

    @cached_property
    def _lines(self) -> list[str]:
        return self.source.splitlines(keepends=True)

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(map(len, self._lines))]

    def span(self, node: ast.expr | ast.keyword) -> tuple[int, int]:
        return self._at(node.lineno, node.col_offset), self._at(node.end_lineno or 0, node.end_col_offset or 0)

    def _at(self, line: int, column: int) -> int:
        """Return a place in the text; the column counts bytes."""
        return self._starts[line - 1] + len(self._lines[line - 1].encode()[:column].decode())

    def replaced(self, kind: str, start: int, end: int, new: str) -> Mutant:
        line = self.source.count("\n", 0, start) + 1
        return Mutant(kind, self.file, line, self.source[start:end], new, start)


def _found_in(text: _Text) -> Iterator[Mutant]:
    if text.file.endswith(".sql"):
        yield from _of_sql(text, 0, len(text.source))
        return
    module = ast.parse(text.source)
    queries = dict(_queries_in(module))
    for node in ast.walk(module):
        match node:
            case ast.Call():
                yield from _of_call(text, node)
            case ast.Constant(value=str()):
                yield from _of_sql(text, *text.span(node))
            case ast.Compare():
                yield from _of_comparison(text, node)
            case ast.ClassDef():
                yield from _of_fields(text, node)
            case ast.FunctionDef():
                yield from _of_updates(text, node, queries)


def _of_call(text: _Text, call: ast.Call) -> Iterator[Mutant]:
    name = _name(call)
    start, end = text.span(call)
    if name == "select_for_update" and isinstance(call.func, ast.Attribute):
        _, before = text.span(call.func.value)
        yield text.replaced("lock", before, end, ".all()")
    if name == "on_commit":
        (hook,) = call.args
        yield text.replaced("commit hook", start, end, f"({ast.unparse(hook)})()")
    if name == "UniqueConstraint":
        yield _rule("unique key", text, call, _literal(call, "name"))
    if name == "Trigger" and "NEW.version" in _literal(call, "func"):
        yield _rule("version", text, call, _literal(call, "name"))
    for keyword in call.keywords:
        if keyword.arg in ("skip_locked", "ignore_conflicts"):
            yield text.replaced(keyword.arg, *text.span(keyword.value), "False")
        if keyword.arg == "version" and name == "update":
            yield text.replaced("version", start, end, "None")


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _literal(call: ast.Call, argument: str) -> str:
    """Return the text of an argument, blank if it is not a literal."""
    (value,) = (keyword.value for keyword in call.keywords if keyword.arg == argument)
    return str(value.value) if isinstance(value, ast.Constant) else ""


def _rule(kind: str, text: _Text, call: ast.Call, rule: str) -> Mutant:
    return Mutant(kind, text.file, call.lineno, rule, "", rule=rule)


def _of_fields(text: _Text, model: ast.ClassDef) -> Iterator[Mutant]:
    """Yield the unique fields of a model; those that are its primary key identify the row itself."""
    for statement in model.body:
        match statement:
            case ast.Assign(targets=[ast.Name(id=field)], value=ast.Call() as call):
                has = {keyword.arg for keyword in call.keywords}
                is_unique = _name(call) == "OneToOneField" or "unique" in has
                if is_unique and "primary_key" not in has:
                    yield _rule("unique key", text, call, f"{model.name}.{field}")


def _queries_in(module: ast.Module) -> Iterator[tuple[str, ast.expr]]:
    """Yield the functions of a module that do nothing but return a value, with that."""
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=name, body=[ast.Return(value=ast.expr() as returned)]):
                yield name, returned


def _of_updates(text: _Text, function: ast.FunctionDef, queries: Mapping[str, ast.expr]) -> Iterator[Mutant]:
    """Yield updates without each condition on the state of their rows, also where the query has a name."""
    nodes = list(ast.walk(function))
    named = dict(queries) | {
        target.id: node.value
        for node in nodes
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            yield from _of_condition(text, node.func.value, named)


def _of_condition(text: _Text, rows: ast.expr, named: Mapping[str, ast.expr]) -> Iterator[Mutant]:
    while isinstance(rows, ast.Call) and isinstance(rows.func, ast.Attribute):
        if rows.func.attr == "filter":
            for argument in rows.args:
                yield _without(text, rows, argument)
            for keyword in rows.keywords:
                if keyword.arg is not None and keyword.arg not in _WHICH_ROW:
                    yield _without(text, rows, keyword)
        rows = rows.func.value
    name = rows.func if isinstance(rows, ast.Call) else rows
    if isinstance(name, ast.Name) and name.id in named:
        yield from _of_condition(text, named[name.id], {})


def _without(text: _Text, call: ast.Call, dropped: ast.expr | ast.keyword) -> Mutant:
    start, end = text.span(dropped)
    rest = text.source[end : text.span(call)[1]]
    separator = re.match(r"\s*,\s*", rest)
    return text.replaced("compare-and-set", start, end + (separator.end() if separator else 0), "")


def _of_comparison(text: _Text, comparison: ast.Compare) -> Iterator[Mutant]:
    """Yield what is compared with the row as it was read, as if it were the same."""
    start, end = text.span(comparison)
    if len(comparison.ops) == 1 and _AS_READ.search(text.source, start, end):
        is_same = isinstance(comparison.ops[0], ast.Eq | ast.Is | ast.In)
        yield text.replaced("compare-and-set", start, end, str(is_same))


def _of_sql(text: _Text, start: int, end: int) -> Iterator[Mutant]:
    literal = text.source[start:end]
    changes = [("lock", _LOCK, ""), ("skip_locked", _SKIPPING, ""), ("ignore_conflicts", _CONFLICT, "")]
    if re.search(r"\b(?:UPDATE|DELETE)\b", literal):
        changes.append(("compare-and-set", _STATE, "TRUE"))
    for kind, pattern, new in changes:
        for found in pattern.finditer(literal):
            yield text.replaced(kind, start + found.start(), start + found.end(), new)
    for found in _ADVISORY.finditer(literal):
        new = f"{found['key']} IS NOT NULL" if found["tries"] else found["key"]
        yield text.replaced("lock", start + found.start(), start + found.end(), new)
