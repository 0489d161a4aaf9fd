"""Writes the changes that slither-mutate's mutators would make to our sources, as JSON, without making or testing them.

Runs in slither's own environment, in a copy of contracts/: ``python slither_patches.py RESULT``. slither-mutate itself
builds and tests each change in the project's own folder, one at a time.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from slither import Slither
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
    made = mutator(unit, 0, "", None, contract, None, verbose=False, output_folder=Path(), dont_mutate_line=[])
    for patch in made._mutate().get("patches", {}).get(name.absolute, []):  # noqa: SLF001 - the public way tests at once
        old, new, start = patch["old_string"], patch["new_string"], patch["start"]
        end = start + len(old.encode())  # a header's patch ends with the header, its text with the function
        if mutator.NAME == "CR" and "\n" in old:  # a comment mark would take the first line and leave the others
            new, end = "", end + source[end:].startswith(b";")
        elif mutator.NAME == "MIA" and "?" in old:
            continue  # no condition of an `if` but a whole assignment
        yield {
            "file": name.relative,
            "mutator": mutator.NAME,
            "line": patch["line_number"],
            "start": start,
            "end": end,
            "old": old,
            "new": new,
        }


if __name__ == "__main__":
    main(Path(sys.argv[1]))
