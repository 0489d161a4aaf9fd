"""Writes the changes that slither-mutate's mutators would make to the sources as JSON, without applying them.

Runs in slither's virtual environment, in a copy of contracts/: ``python slither_patches.py RESULT``. slither-mutate
itself would build and test the changes one at a time, in the project's own folder.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slither import Slither
from slither.core.cfg.node import NodeType
from slither.tools.mutator.mutators import all_mutators
from slither.tools.mutator.mutators.abstract_mutator import AbstractMutator


def main(result: Path) -> None:
    """Write every change of every contract under src/."""
    unit = Slither(".").compilation_units[0]
    contracts = [
        c for c in unit.contracts if c.source_mapping.filename.relative.startswith("src/") and not c.is_interface
    ]
    changes = [
        change for contract in contracts for mutator in _mutators() for change in _changes(unit, contract, mutator)
    ]
    result.write_text(json.dumps(changes))


def _mutators() -> list[Any]:
    classes = [each for each in vars(all_mutators).values() if isinstance(each, type)]
    return [each for each in classes if issubclass(each, AbstractMutator) and each is not AbstractMutator]


def _changes(unit: Any, contract: Any, mutator: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - slither is untyped
    name = contract.source_mapping.filename
    source = Path(name.absolute).read_bytes()
    lines = _assembly_lines(contract)
    made = mutator(unit, 0, "", None, contract, None, verbose=False, output_folder=Path(), dont_mutate_line=lines)
    for patch in made._mutate().get("patches", {}).get(name.absolute, []):  # noqa: SLF001 - the public method also runs tests
        old, new, start = patch["old_string"], patch["new_string"], patch["start"]
        end = start + len(old.encode())  # a header's patch gives the header's end, but the function's text
        if mutator.NAME == "CR" and "\n" in old:  # it would comment out only the first line
            new, end = "", end + source[end:].startswith(b";")
        elif mutator.NAME == "MIA" and "?" in old:
            continue  # it takes a whole assignment for the condition of an `if`
        yield {
            "file": name.relative,
            "mutator": mutator.NAME,
            "line": patch["line_number"],
            "start": start,
            "end": end,
            "old": old,
            "new": new,
        }


def _assembly_lines(contract: Any) -> list[int]:  # noqa: ANN401 - slither is untyped
    """Return the lines of assembly, in which mutators look for Solidity's operators and fail."""
    functions = contract.functions_and_modifiers_declared
    blocks = [node for function in functions for node in function.nodes if node.type is NodeType.ASSEMBLY]
    return [line for block in blocks for line in block.source_mapping.lines]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
