"""The mutants that are known to survive, each with the reason why no test can or need tell it from the original."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

from dev.mutation.mutants import Mutant, one_line

_FUNCTION = re.compile(r"\b(?:function (\w+)|(constructor|receive)\b)")


@dataclass(frozen=True)
class Place:
    """A change where it stands, told without line numbers, which every edit moves."""

    file: str
    function: str  # empty outside of any
    old: str
    new: str

    @classmethod
    def of(cls, mutant: Mutant, source: bytes) -> "Place":
        """Tell where a mutant changes what."""
        before = list(_FUNCTION.finditer(source[: mutant.end].decode()))
        function = (before[-1][1] or before[-1][2]) if before else ""
        return cls(file=mutant.file, function=function, old=one_line(mutant.old), new=one_line(mutant.new))


def read_reasons(path: Path) -> dict[Place, str]:
    """Read the list: for each change its kind (equivalent or accepted) and reason."""
    reasons = {}
    for each in tomllib.loads(path.read_text())["survivor"]:
        kind, reason = each.pop("kind"), each.pop("reason")
        reasons[Place(**each)] = f"{kind}: {reason}"
    return reasons
