"""Ten hashes are looked up for a sweep at the same time; a new one displaces the oldest that was never seen."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer.checks import check_due
from sweeps.models import Sweep, SweepEvent
from sweeps.story.confirm import MAX_CANDIDATES, MAX_STORED_CANDIDATES
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepTransactionFactory
from tests.local_chain import SAFE_AFTER
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def built(app: PartnerApp) -> dict[str, Any]:
    """A sweep that was built."""
    return app.build()


@pytest.fixture
def unseen(app: PartnerApp, built: dict[str, Any]) -> list[str]:
    """Ten hashes that were reported for it and are not on chain, oldest first."""
    hashes = [random_hash() for _ in range(MAX_CANDIDATES)]
    for tx_hash in hashes:
        app.confirm(built, tx_hash, status=202)
    return hashes


def statuses(state: dict[str, Any]) -> dict[str, str]:
    """Return the status of every candidate by its hash."""
    return {tx["txHash"]: tx["status"] for tx in state["transactions"]}


def seen_candidates(sweep: Sweep, number: int) -> list[str]:
    """Store candidates that were seen in a block and rejected; return their hashes."""
    in_a_block = {"status": "rejected", "block_number": 1, "block_hash": "0x" + "ab" * 32}
    return [tx.tx_hash for tx in SweepTransactionFactory.create_batch(number, sweep=sweep, **in_a_block)]


def let_the_worker_check() -> None:
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    check_due()


def receipts_read(round_trips: list[list[str]]) -> int:
    return sum(trip.count("eth_getTransactionReceipt") for trip in round_trips)


def sent_and_displaced(app: PartnerApp, built: dict[str, Any]) -> str:
    """Send the sweep, report it and ten other hashes before it is mined, and return its hash."""
    app.approve(built)
    with app.chain.mining_paused():
        tx_hash = app.chain.sign_and_send(app.user, built)
        for reported in [tx_hash, *(random_hash() for _ in range(MAX_CANDIDATES))]:
            state = app.confirm(built, reported, status=202)
        app.chain.mine()
    assert statuses(state)[tx_hash] == "displaced"
    return tx_hash


def test_an_eleventh_hash_displaces_the_oldest_that_was_never_seen(
    app: PartnerApp, built: dict[str, Any], unseen: list[str]
) -> None:
    eleventh = random_hash()
    state = app.confirm(built, eleventh, status=202)
    assert statuses(state) == dict.fromkeys([*unseen, eleventh], "submitted") | {unseen[0]: "displaced"}
    assert [(event["type"], event["txHash"]) for event in state["events"][-2:]] == [
        ("transaction_displaced", unseen[0]),
        ("transaction_reported", eleventh),
    ]


def test_the_right_hash_completes_the_sweep_after_ten_that_are_not_on_chain(
    app: PartnerApp, built: dict[str, Any], unseen: list[str]
) -> None:
    tx_hash = app.execute(built)
    state = app.confirm(built, tx_hash)
    assert state["status"] == "completed"
    assert statuses(state) == dict.fromkeys(unseen, "replaced") | {unseen[0]: "displaced", tx_hash: "accepted"}


@pytest.mark.usefixtures("unseen")
def test_a_displaced_hash_is_no_longer_looked_up(
    app: PartnerApp, built: dict[str, Any], round_trips: list[list[str]]
) -> None:
    for _ in range(3):
        round_trips.clear()
        app.confirm(built, random_hash(), status=202)
        assert receipts_read(round_trips) == MAX_CANDIDATES
    round_trips.clear()
    let_the_worker_check()
    assert receipts_read(round_trips) == MAX_CANDIDATES


def test_a_displaced_hash_that_is_reported_again_is_a_candidate_again(
    app: PartnerApp, built: dict[str, Any], unseen: list[str]
) -> None:
    app.confirm(built, random_hash(), status=202)
    state = app.confirm(built, unseen[0], status=202)
    assert (statuses(state)[unseen[0]], statuses(state)[unseen[1]]) == ("submitted", "displaced")
    assert SweepEvent.objects.filter(kind="transaction_reported", tx_hash=unseen[0]).count() == 1
    assert len(state["transactions"]) == MAX_CANDIDATES + 1


def test_a_hash_that_was_reported_again_is_not_the_next_to_be_displaced(
    app: PartnerApp, built: dict[str, Any], unseen: list[str]
) -> None:
    for reported in (random_hash(), unseen[0], random_hash()):
        state = app.confirm(built, reported, status=202)
    assert [statuses(state)[tx_hash] for tx_hash in unseen[:3]] == ["submitted", "displaced", "displaced"]


def test_a_displaced_hash_that_is_mined_later_and_reported_again_completes_the_sweep(
    app: PartnerApp, built: dict[str, Any]
) -> None:
    tx_hash = sent_and_displaced(app, built)
    assert app.confirm(built, tx_hash)["status"] == "completed"


def test_a_displaced_hash_that_is_mined_later_is_found_by_the_worker(app: PartnerApp, built: dict[str, Any]) -> None:
    tx_hash = sent_and_displaced(app, built)
    app.chain.mine(SAFE_AFTER)
    let_the_worker_check()
    state = app.state(built["sweepId"])
    assert (state["status"], statuses(state)[tx_hash]) == ("completed", "accepted")
    assert state["transaction"]["source"] == "partner"


def test_ten_hashes_that_were_seen_in_a_block_refuse_another(
    app: PartnerApp, built: dict[str, Any], round_trips: list[list[str]]
) -> None:
    seen_candidates(Sweep.objects.get(), MAX_CANDIDATES)
    round_trips.clear()
    assert error_of(app.post_confirm(built["sweepId"], random_hash())) == (409, "too_many_candidates")
    assert round_trips == []
    assert len(app.state(built["sweepId"])["transactions"]) == MAX_CANDIDATES


def test_a_hash_that_was_seen_in_a_block_is_never_displaced(app: PartnerApp, built: dict[str, Any]) -> None:
    seen_candidates(Sweep.objects.get(), MAX_CANDIDATES - 1)
    first, second = random_hash(), random_hash()
    app.confirm(built, first, status=202)
    state = app.confirm(built, second, status=202)
    assert (statuses(state)[first], statuses(state)[second]) == ("displaced", "submitted")
    assert list(statuses(state).values()).count("rejected") == MAX_CANDIDATES - 1


def test_a_known_hash_displaces_nothing(app: PartnerApp, built: dict[str, Any], unseen: list[str]) -> None:
    state = app.confirm(built, unseen[3], status=202)
    assert statuses(state) == dict.fromkeys(unseen, "submitted")


def test_a_hundred_stored_hashes_refuse_another_unless_it_is_known(app: PartnerApp, built: dict[str, Any]) -> None:
    known = SweepTransactionFactory.create_batch(MAX_STORED_CANDIDATES, sweep=Sweep.objects.get(), status="displaced")
    response = app.post_confirm(built["sweepId"], random_hash())
    assert error_of(response) == (409, "too_many_candidates")
    app.confirm(built, known[0].tx_hash, status=202)


def test_being_displaced_again_and_again_leaves_one_event(
    app: PartnerApp, built: dict[str, Any], unseen: list[str]
) -> None:
    for tx_hash in [*unseen, *unseen, random_hash(), *unseen, *unseen]:
        app.confirm(built, tx_hash, status=202)
    displaced = SweepEvent.objects.filter(kind="transaction_displaced").values_list("tx_hash", flat=True)
    assert len(displaced) == len(set(displaced)) > 1
