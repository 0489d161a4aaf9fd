"""Mutants change code and nothing else, any part of a run is a fair sample, and the score counts what it says."""

from collections import Counter
from pathlib import Path

from dev.mutation import operators
from dev.mutation.__main__ import REASONS
from dev.mutation.campaign import Outcome, Verdict
from dev.mutation.mutants import Mutant, distinct, in_rounds, one_line
from dev.mutation.report import score_percent
from dev.mutation.survivors import Place, read_reasons
from dev.mutation.targets import MUTATED

CONTRACTS = Path(__file__).parents[2] / "contracts"
SOURCE = """// Adds 1 if a == b.
contract Adder {
    function add(uint256 a) external nonReentrant restricted returns (uint256) {
        if (a == 0 || a > 0x1f) return 1;
        /* at most 9 */
        return a + 1;
    }
}
"""


def _changes() -> list[Mutant]:
    return list(operators.changes("src/Adder.sol", SOURCE))


def _mutant(file: str, mutator: str, start: int) -> Mutant:
    return Mutant(file=file, mutator=mutator, line=1, start=start, end=start + 1, old="a", new="b")


def _outcomes(**verdicts: int) -> list[Outcome]:
    mutant = _mutant("src/A.sol", "number", 0)
    return [Outcome(mutant, Verdict(name)) for name, times in verdicts.items() for _ in range(times)]


def test_each_operator_changes_one_place() -> None:
    found = {(mutant.mutator, one_line(mutant.new)) for mutant in _changes()}
    assert found >= {
        ("comparison", "if (a != 0 || a > 0x1f) return 1;"),
        ("comparison", "if (a == 0 || a <= 0x1f) return 1;"),
        ("border", "if (a == 0 || a >= 0x1f) return 1;"),
        ("logic", "if (a == 0 && a > 0x1f) return 1;"),
        ("number", "if (a == 1 || a > 0x1f) return 1;"),
        ("number", "if (a == 0 || a > 32) return 1;"),
        ("number", "if (a == 0 || a > 30) return 1;"),
        ("modifier", "function add(uint256 a) external restricted returns (uint256) {"),
        ("modifier", "function add(uint256 a) external nonReentrant returns (uint256) {"),
    }


def test_comments_stay() -> None:
    assert {mutant.line for mutant in _changes()}.isdisjoint({1, 5})


def test_a_mutant_is_the_file_with_its_change() -> None:
    source = SOURCE.replace("Adds", "Fügt hinzu:").encode()  # bytes, not characters, are counted
    for mutant in operators.changes("src/Adder.sol", source.decode()):
        assert mutant.apply(source) == source.decode().replace(mutant.old, mutant.new)


def test_two_ways_to_the_same_file_are_one_mutant() -> None:
    same = Mutant(file="src/A.sol", mutator="CR", line=1, start=0, end=2, old="ab", new="ac")
    again = Mutant(file="src/A.sol", mutator="ROR", line=1, start=1, end=2, old="b", new="c")
    nothing = Mutant(file="src/A.sol", mutator="LIR", line=1, start=0, end=1, old="a", new="a")
    assert distinct([same, again, nothing], {"src/A.sol": b"ab"}) == [same]


def test_any_beginning_takes_as_much_of_every_file_and_mutator() -> None:
    strata = [(file, mutator) for file in ("src/A.sol", "src/B.sol") for mutator in ("CR", "RR")]
    mutants = [_mutant(*stratum, start) for stratum in strata for start in range(5)]
    ordered = in_rounds(mutants, seed=1)
    assert set(ordered) == set(mutants)
    assert set(Counter((each.file, each.mutator) for each in ordered[:8]).values()) == {2}
    assert ordered == in_rounds(mutants, seed=1) != in_rounds(mutants, seed=2)


def test_the_score_leaves_out_what_is_no_mutant_and_spares_no_survivor() -> None:
    assert score_percent(_outcomes(refused=7, identical=5, killed=18, hung=1, survived=1)) == 95
    assert score_percent(_outcomes(refused=1)) == 0


def test_a_survivor_is_known_by_its_place_wherever_its_line_moves() -> None:
    mutant = next(mutant for mutant in _changes() if mutant.mutator == "logic")
    moved = next(mutant for mutant in operators.changes("src/Adder.sol", "\n\n" + SOURCE) if mutant.mutator == "logic")
    place = Place.of(mutant, SOURCE.encode())
    assert place == Place.of(moved, ("\n\n" + SOURCE).encode())
    assert place.function == "add"


def test_every_listed_survivor_stands_in_its_file() -> None:
    for place in read_reasons(REASONS):
        assert place.old in one_line((CONTRACTS / place.file).read_text()), place


def test_every_file_with_code_is_mutated() -> None:
    files = {path.relative_to(CONTRACTS).as_posix() for path in (CONTRACTS / "src").rglob("*.sol")}
    assert {file for file in files if "/interfaces/" not in file} == set(MUTATED)
