"""The checker of the chaos suite reports what is falsified, and nothing else."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from dev.chaos.checker.books import Books
from dev.chaos.checker.compare import expected_statuses
from dev.chaos.checker.findings import Kind
from dev.chaos.checker.promises import Promise, read_promises
from dev.chaos.checker.truth import Truth
from dev.chaos.journal import Journal, read
from tests.dev.chaos.books_of_one_sweep import NONCE, SWEEP, TX, Case, entry, executed, stored, terms

NOTHING = Truth({}, [], set(), set())


def test_books_that_agree_with_the_chain_give_no_findings() -> None:
    assert Case().findings() == []


def test_a_fee_that_was_reversed_and_booked_again_gives_no_findings() -> None:
    reversal = replace(entry(2, kind="reversal"), postings=[(name, -sum_, who) for name, sum_, who in entry().postings])
    case = Case(books=Books({SWEEP: stored()}, [entry(1, is_reversed=True), reversal, entry(3)]))
    assert case.findings() == []


def other_gross() -> Case:
    return Case(books=Books({SWEEP: stored(gross=100_001)}, [entry()]))


def other_posting() -> Case:
    wrong = replace(entry(), postings=[("fees_charged", 750, None), ("protocol_revenue", -750, None)])
    return Case(books=Books({SWEEP: stored()}, [wrong]))


def unbalanced() -> Case:
    return Case(books=Books({SWEEP: stored()}, [replace(entry(), postings=entry().postings[:2])]))


@pytest.mark.parametrize(
    ("falsified", "kind", "evidence"),
    [
        (lambda: Case(books=Books({}, [])), Kind.LOST, "not stored"),
        (lambda: Case(books=Books({SWEEP: stored("failed")}, [])), Kind.LOST, "its status is failed"),
        (lambda: Case(books=Books({SWEEP: stored()}, [])), Kind.LOST, "is not booked"),
        (lambda: Case(promises={}), Kind.LOST, "which no build returned"),
        (lambda: Case(books=Books({SWEEP: stored()}, [entry(1), entry(2)])), Kind.DOUBLED, "booked 2 times"),
        (lambda: Case(truth=NOTHING), Kind.DOUBLED, "not on chain"),
        (lambda: Case(truth=Truth({NONCE: executed()}, [NONCE], set(), set())), Kind.DOUBLED, "executed 77 twice"),
        (lambda: Case(books=Books({SWEEP: stored(is_open=True)}, [entry()])), Kind.STUCK, "it is open"),
        (other_gross, Kind.BOOKS, "its amounts are"),
        (other_posting, Kind.BOOKS, "and must have"),
        (unbalanced, Kind.BOOKS, "does not balance"),
        (lambda: Case(books=Books({SWEEP: stored()}, [entry(tx_hash="0xbb")])), Kind.BOOKS, "is about 0xbb"),
    ],
)
def test_a_contradiction_is_reported(falsified: Callable[[], Case], kind: Kind, evidence: str) -> None:
    assert any(one.kind is kind and evidence in one.sentence for one in falsified().findings())


def test_an_identity_that_is_given_out_twice_is_reported() -> None:
    case = Case()
    case.promises["another"] = Promise(terms("another"), may_be_forgotten=True)
    assert any(one.kind is Kind.DOUBLED and "given out before" in one.sentence for one in case.findings())


@pytest.mark.parametrize(
    ("promise", "truth", "allowed"),
    [
        (Promise(terms()), NOTHING, {"expired"}),
        (Promise(terms(), is_reported=True, may_be_reported=True), NOTHING, {"failed"}),
        (Promise(terms(), may_be_reported=True), NOTHING, {"expired", "failed"}),
        (Promise(terms(), sent=[TX]), NOTHING, {"expired", "failed"}),
        (Promise(terms(), is_withdrawn=True), NOTHING, {"void"}),
        (Promise(terms(), may_be_withdrawn=True), NOTHING, {"expired", "void"}),
        (Promise(terms()), Truth({}, [], {NONCE}, set()), {"void"}),
        (Promise(terms(mode="v1"), sent=[TX]), Truth({}, [], set(), {NONCE}), {"failed"}),
        (Promise(terms(), is_withdrawn=True), Truth({NONCE: executed()}, [], set(), set()), {"completed"}),
    ],
)
def test_a_status_follows_from_the_chain_and_from_what_was_answered(
    promise: Promise, truth: Truth, allowed: set[str]
) -> None:
    assert expected_statuses(promise, truth) == allowed


def built(journal: Journal, sweep: str) -> None:
    facts = {"mode": "v5", "story": 1, "contract": "0xAB", "wallet": "0x01", "output": "0x0c"}
    journal.add(
        "built", sweep=sweep, identity=NONCE, fee_bps=75, share_bps=4000, partner=0, deadline=1_800_000_000, **facts
    )


def test_an_answer_that_a_fail_over_may_have_undone_promises_nothing(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    built(journal, "before")
    journal.add("copying")
    built(journal, "between")
    for sweep in ("before", "between"):
        journal.add("got", op="confirm", http=200, sweep=sweep)
    journal.add("failed_over")
    built(journal, "after")
    journal.add("got", op="confirm", http=202, sweep="after")
    journal.close()
    promises = read_promises(read(tmp_path / "journal.jsonl"))
    assert {sweep: (one.may_be_forgotten, one.is_reported, one.may_be_reported) for sweep, one in promises.items()} == {
        "before": (False, False, True),
        "between": (True, False, True),
        "after": (False, True, True),
    }


def test_an_unanswered_confirm_may_have_stored_its_hash(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.jsonl")
    built(journal, SWEEP)
    journal.add("asked", op="confirm", sweep=SWEEP, hash=TX)
    journal.add("got", op="confirm", http=0, sweep=SWEEP, hash=TX)
    journal.close()
    [promise] = read_promises(read(tmp_path / "journal.jsonl")).values()
    assert (promise.is_reported, promise.may_be_reported) == (False, True)
    assert [json.loads(line)["n"] for line in (tmp_path / "journal.jsonl").read_text().splitlines()] == [0, 1, 2]
