"""Only the store writes sweeps, executions, candidates, events and watched blocks, by SQL or by Django."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from sweeps.models import Execution, SkippedToken, Sweep, SweepEvent, SweepToken, SweepTransaction, WatchedBlock

APPS = ("config", "console", "indexer", "ledger", "partners", "sweepapi", "sweeps")
STORE = "sweeps/store"
TABLES = (Sweep, Execution, SweepTransaction, SweepToken, SkippedToken, SweepEvent, WatchedBlock)
MODELS = {model.__name__ for model in TABLES}
# Names under which instances of these models go, as ``stored.sweep.save()``.
INSTANCES = re.compile(r"sweep|execution|tx|candidate|block")
_IN_SQL = re.compile(
    r"\b(?:INSERT INTO|UPDATE|DELETE FROM)\s+sweeps_(?:sweep\w*|execution|skippedtoken|watchedblock)\b"
)
_WRITING = {"create", "bulk_create", "bulk_update", "get_or_create", "update_or_create", "update", "delete", "save"}


def writers_in(path: str, text: str) -> Iterator[str]:
    """Yield each statement or call that writes one of these tables, as file:line."""
    tree = ast.parse(text)
    named = {
        target.id: node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _IN_SQL.search(node.value):
            yield f"{path}:{node.lineno}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _WRITING:
            root = root_of(node.func.value)
            if isinstance(root, ast.Name) and root.id in named:
                root = root_of(named[root.id])
            if isinstance(root, ast.Name) and (root.id in MODELS or is_instance(node)):
                yield f"{path}:{node.lineno}"


def root_of(node: ast.expr) -> ast.expr:
    """Return what a chain of attributes and calls begins with."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node


def is_instance(call: ast.Call) -> bool:
    """Whether a row is saved or deleted itself, or those that belong to it are written."""
    assert isinstance(call.func, ast.Attribute)
    owner = ast.unparse(call.func.value)
    if call.func.attr in ("save", "delete"):
        return re.fullmatch(rf"(?:\w+\.)*(?:{INSTANCES.pattern})", owner) is not None
    return re.search(r"\.(?:executions|transactions|events|tokens|skipped|watched_block|sweeps)\b", owner) is not None


def sources() -> Iterator[tuple[str, str]]:
    for app in APPS:
        for file in sorted(Path(settings.BASE_DIR / app).rglob("*.py")):
            path = file.relative_to(settings.BASE_DIR).as_posix()
            if "migrations" not in file.parts:
                yield path, file.read_text(encoding="utf-8")


def test_only_the_store_writes_them() -> None:
    found = [writer for path, text in sources() for writer in writers_in(path, text)]
    assert any(writer.startswith(STORE) for writer in found), "the search finds the writers of the store"
    assert [writer for writer in found if not writer.startswith(STORE)] == []


def test_the_search_finds_each_way_to_write() -> None:
    ways = [
        'cursor.execute("UPDATE sweeps_sweep SET status = 1")',
        'cursor.execute("INSERT INTO sweeps_sweepevent (kind) SELECT 1")',
        "Sweep.objects.create(rail=1)",
        "Sweep.objects.filter(id=1).update(status=1)",
        "open_ones = Sweep.objects.filter(id=1)\nopen_ones.update(status=1)",
        "sweep.save()",
        "stored.sweep.save(update_fields=[])",
        "sweep.executions.filter(status=1).update(closed_at=None)",
        "SweepEvent.objects.bulk_create([])",
    ]
    assert [len(list(writers_in("a", way))) for way in ways] == [1] * len(ways)
    assert list(writers_in("a", "record.save()\nLeg.objects.bulk_create([])\nnames.update(sweep=1)")) == []
