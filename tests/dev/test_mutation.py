"""Mutation testing: mutants change only code, samples are fair, and the score counts killed mutants."""

from collections import Counter
from pathlib import Path

from dev.mutation import operators
from dev.mutation.__main__ import REASONS
from dev.mutation.campaign import Outcome, Verdict
from dev.mutation.mutants import Mutant, distinct, one_line, stratified
from dev.mutation.report import score_percent
from dev.mutation.survivors import Change, read_reasons
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


def test_each_operator_makes_its_changes() -> None:
    found = {(mutant.mutator, one_line(mutant.new)) for mutant in _changes()}
    assert found >= {
        ("comparison", "if (a != 0 || a > 0x1f) return 1;"),
        ("comparison", "if (a == 0 || a <= 0x1f) return 1;"),
        ("boundary", "if (a == 0 || a >= 0x1f) return 1;"),
        ("logic", "if (a == 0 && a > 0x1f) return 1;"),
        ("number", "if (a == 1 || a > 0x1f) return 1;"),
        ("number", "if (a == 0 || a > 32) return 1;"),
        ("number", "if (a == 0 || a > 30) return 1;"),
        ("modifier", "function add(uint256 a) external restricted returns (uint256) {"),
        ("modifier", "function add(uint256 a) external nonReentrant returns (uint256) {"),
    }


def test_comments_are_not_mutated() -> None:
    assert {mutant.line for mutant in _changes()}.isdisjoint({1, 5})


def test_applying_a_mutant_changes_only_its_line() -> None:
    source = SOURCE.replace("Adds", "Fügt hinzu:").encode()  # offsets count bytes, not characters
    for mutant in operators.changes("src/Adder.sol", source.decode()):
        assert mutant.apply(source) == source.decode().replace(mutant.old, mutant.new)


def test_mutants_with_the_same_result_count_once() -> None:
    first = Mutant(file="src/A.sol", mutator="CR", line=1, start=0, end=2, old="ab", new="ac")
    same = Mutant(file="src/A.sol", mutator="ROR", line=1, start=1, end=2, old="b", new="c")
    unchanged = Mutant(file="src/A.sol", mutator="LIR", line=1, start=0, end=1, old="a", new="a")
    assert distinct([first, same, unchanged], {"src/A.sol": b"ab"}) == [first]


def test_any_prefix_of_the_order_covers_files_and_mutators_equally() -> None:
    strata = [(file, mutator) for file in ("src/A.sol", "src/B.sol") for mutator in ("CR", "RR")]
    mutants = [_mutant(*stratum, start) for stratum in strata for start in range(5)]
    ordered = stratified(mutants, seed=1)
    assert set(ordered) == set(mutants)
    assert set(Counter((each.file, each.mutator) for each in ordered[:8]).values()) == {2}
    assert ordered == stratified(mutants, seed=1) != stratified(mutants, seed=2)


def test_the_score_ignores_refused_and_identical_mutants() -> None:
    assert score_percent(_outcomes(refused=7, identical=5, killed=18, hung=1, survived=1)) == 95
    assert score_percent(_outcomes(refused=1)) == 0


def test_a_survivor_is_recognised_after_its_line_moves() -> None:
    mutant = next(mutant for mutant in _changes() if mutant.mutator == "logic")
    moved = next(mutant for mutant in operators.changes("src/Adder.sol", "\n\n" + SOURCE) if mutant.mutator == "logic")
    change = Change.of(mutant, SOURCE.encode())
    assert change == Change.of(moved, ("\n\n" + SOURCE).encode())
    assert change.function == "add"


def test_every_listed_survivor_exists_in_its_file() -> None:
    for change in read_reasons(REASONS):
        assert change.old in one_line((CONTRACTS / change.file).read_text()), change


def test_every_source_except_interfaces_is_mutated() -> None:
    files = {path.relative_to(CONTRACTS).as_posix() for path in (CONTRACTS / "src").rglob("*.sol")}
    assert {file for file in files if "/interfaces/" not in file} == set(MUTATED)
