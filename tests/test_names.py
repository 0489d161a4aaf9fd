"""A class name means one thing, wherever a reader meets it."""

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[1]
PRODUCT = ("config", "console", "indexer", "ledger", "partners", "sweepapi", "sweeps")
NAMED_BY_DJANGO = {"Command", "Migration"}


def test_a_class_name_is_defined_in_one_file_of_the_product() -> None:
    files = defaultdict(set)
    for folder in PRODUCT:
        for path in (ROOT / folder).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef) and node.name not in NAMED_BY_DJANGO:
                    files[node.name].add(str(path.relative_to(ROOT)))
    assert {name: found for name, found in files.items() if len(found) > 1} == {}
