"""The known survivors, each with the reason why no test can or should kill it."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from lab.mutation.mutants import Mutant, one_line

_FUNCTION = re.compile(r"\b(?:function (\w+)|(constructor|receive)\b)")


@dataclass(frozen=True)
class Change:
    """A change without its line number, which any edit above it moves."""

    file: str
    function: str  # empty outside functions
    old: str
    new: str

    @classmethod
    def of(cls, mutant: Mutant, source: bytes) -> "Change":
        before = list(_FUNCTION.finditer(source[: mutant.end].decode()))
        function = (before[-1][1] or before[-1][2]) if before else ""
        return cls(file=mutant.file, function=function, old=one_line(mutant.old), new=one_line(mutant.new))


def read_reasons(path: Path) -> dict[Change, str]:
    """Read the survivors: the kind (equivalent or accepted) and the reason of each change."""
    reasons = {}
    for each in tomllib.loads(path.read_text())["survivor"]:
        kind, reason = each.pop("kind"), each.pop("reason")
        reasons[Change(**each)] = f"{kind}: {reason}"
    return reasons
