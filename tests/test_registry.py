"""A function is passed the pool, the signer and the swap API that it needs, so that its signature says what it asks.

The jobs of the indexer are such edges, too: all of its modules may look the registry up.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = ("sweeps", "ledger", "partners", "sweepapi")
EDGES = {"views", "tasks", "commands", "admin", "checks"}  # the names of modules or folders
ACTING = {"pool", "fee_signer", "specification", "swap_api", "lasting_facts"}  # more than names and facts


def lookups(source: str) -> Iterator[int]:
    """Yield the line of each ``networks.current()`` that is passed on, kept, or asked for more than a fact."""
    nodes = list(ast.walk(ast.parse(source)))
    asked = [node for node in nodes if isinstance(node, ast.Attribute) and node.attr not in ACTING]
    for_facts = {id(node.value) for node in asked}
    for node in nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "networks.current" and id(node) not in for_facts:
            yield node.lineno


def test_only_views_tasks_commands_admin_and_checks_look_up_what_a_function_needs_to_act() -> None:
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            place = path.relative_to(ROOT)
            if not EDGES.intersection(place.with_suffix("").parts):
                found += [f"{place}:{line}" for line in lookups(path.read_text(encoding="utf-8"))]
    assert found == []
