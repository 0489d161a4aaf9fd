"""The checker of `make chaos` names what is planted."""

from dataclasses import replace

from lab.chaos.checker.books import Books, StoredSweep
from lab.chaos.checker.findings import Kind
from lab.chaos.checker.promises import Promise
from lab.chaos.checker.truth import Truth
from tests.lab.books_of_one_sweep import TX, Case, entry, executed, stored, terms


def test_the_checker_names_a_lost_a_doubled_and_a_stuck_sweep() -> None:
    identities = {"sound": "77", "lost": "78", "doubled": "79", "stuck": "80"}
    promises = {name: Promise(terms(name, one), sent=[TX], is_reported=True) for name, one in identities.items()}
    truth = Truth({one: replace(executed(), identity=one) for one in identities.values()}, [], set(), set())
    sweeps = {name: _of(name, stored(is_open=name == "stuck")) for name in ("sound", "doubled", "stuck")}
    booked = ["sound", "doubled", "doubled", "stuck"]
    entries = [replace(entry(number), sweep=name, execution=name) for number, name in enumerate(booked)]
    named = {(one.kind, one.sweep) for one in Case(promises, truth, Books(sweeps, entries)).findings() if one.sweep}
    assert named == {(Kind.LOST, "lost"), (Kind.DOUBLED, "doubled"), (Kind.STUCK, "stuck")}


def _of(name: str, sweep: StoredSweep) -> StoredSweep:
    (execution,) = sweep.executions
    return replace(sweep, sweep=name, executions=[replace(execution, execution=name)])
