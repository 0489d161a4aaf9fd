"""Mutants, and the order in which they are tried."""

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain, zip_longest


@dataclass(frozen=True)
class Mutant:
    """One change of one source file; `start` and `end` count bytes."""

    file: str  # relative to contracts/, as src/SweepBatch.sol
    mutator: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def apply(self, source: bytes) -> str:
        """Return the file with the change made."""
        return (source[: self.start] + self.new.encode() + source[self.end :]).decode()

    def __str__(self) -> str:
        return f"{self.file}:{self.line} [{self.mutator}] {one_line(self.old)} => {one_line(self.new) or '(nothing)'}"


def one_line(code: str) -> str:
    """Collapse every run of white space to one space."""
    return " ".join(code.split())


def distinct(mutants: Iterable[Mutant], sources: Mapping[str, bytes]) -> list[Mutant]:
    """Drop mutants that change nothing or result in the same file as another."""
    found: dict[tuple[str, str], Mutant] = {}
    for mutant in mutants:
        text = mutant.apply(sources[mutant.file])
        if text.encode() != sources[mutant.file]:
            found.setdefault((mutant.file, text), mutant)
    return list(found.values())


def stratified(mutants: Iterable[Mutant], seed: int) -> list[Mutant]:
    """Order mutants so that every prefix is a fair sample: each round takes a random one per file and mutator."""
    strata = defaultdict(list)
    for mutant in mutants:
        strata[mutant.file, mutant.mutator].append(mutant)
    rng = random.Random(seed)  # noqa: S311 - not for cryptography
    shuffled = [rng.sample(group, len(group)) for _, group in sorted(strata.items())]
    return [mutant for mutant in chain.from_iterable(zip_longest(*shuffled)) if mutant is not None]
