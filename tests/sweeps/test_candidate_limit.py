"""POST /v2/sweep/status/:id/confirm: ten hashes are looked up at a time, and unseen ones never block a real one."""

from typing import Any

import pytest

from partners.models import Partner
from sweeps.confirm import MAX_CANDIDATES
from sweeps.models import Sweep
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def crowded(app: PartnerApp) -> tuple[dict[str, Any], list[str]]:
    """A built sweep and the ten hashes that were reported for it, none of which any node has seen."""
    built = app.build()
    hashes = [random_hash() for _ in range(MAX_CANDIDATES)]
    for tx_hash in hashes:
        app.confirm(built, tx_hash, status=202)
    return built, hashes


def statuses(state: dict[str, Any]) -> dict[str, str]:
    return {tx["txHash"]: tx["status"] for tx in state["transactions"]}


def test_after_ten_unseen_hashes_the_mined_one_completes_the_sweep(
    app: PartnerApp, crowded: tuple[dict[str, Any], list[str]]
) -> None:
    built, hashes = crowded
    state = app.confirm(built, app.execute(built))
    assert state["status"] == "completed"
    assert statuses(state)[hashes[0]] == "displaced"


def test_the_oldest_unseen_hash_is_displaced_and_no_longer_looked_up(
    app: PartnerApp, crowded: tuple[dict[str, Any], list[str]], round_trips: list[list[str]]
) -> None:
    built, hashes = crowded
    round_trips.clear()
    state = app.confirm(built, random_hash(), status=202)
    assert [tx_hash for tx_hash, status in statuses(state).items() if status == "displaced"] == [hashes[0]]
    (methods,) = round_trips
    assert methods.count("eth_getTransactionReceipt") == MAX_CANDIDATES


def test_a_known_hash_displaces_no_other(app: PartnerApp, crowded: tuple[dict[str, Any], list[str]]) -> None:
    built, hashes = crowded
    state = app.confirm(built, hashes[3], status=202)
    assert statuses(state) == dict.fromkeys(hashes, "submitted")


def test_a_displaced_hash_that_is_reported_again_is_looked_up_again(
    app: PartnerApp, crowded: tuple[dict[str, Any], list[str]]
) -> None:
    built, hashes = crowded
    app.confirm(built, random_hash(), status=202)
    state = app.confirm(built, hashes[0], status=202)
    assert (statuses(state)[hashes[0]], statuses(state)[hashes[1]]) == ("submitted", "displaced")
    assert len(state["transactions"]) == MAX_CANDIDATES + 1


def test_displaced_hashes_do_not_count(app: PartnerApp) -> None:
    built, waiting = app.build(), random_hash()
    SweepTransactionFactory.create_batch(MAX_CANDIDATES, sweep=Sweep.objects.get(), status="displaced")
    app.confirm(built, waiting, status=202)
    assert statuses(app.confirm(built, random_hash(), status=202))[waiting] == "submitted"


def seen_candidates(sweep: Sweep, count: int) -> None:
    """Store candidates that were mined and did something else."""
    SweepTransactionFactory.create_batch(
        count, sweep=sweep, status="rejected", block_number=5, block_hash=random_hash()
    )


def test_ten_hashes_that_were_seen_in_blocks_are_the_limit_and_the_chain_is_not_read(
    app: PartnerApp, partner: Partner, round_trips: list[list[str]]
) -> None:
    sweep = SweepFactory.create(partner=partner)
    seen_candidates(sweep, MAX_CANDIDATES)
    assert error_of(app.post_confirm(str(sweep.id), random_hash())) == (409, "too_many_candidates")
    assert (round_trips, sweep.transactions.count()) == ([], MAX_CANDIDATES)


def test_one_unseen_hash_among_nine_seen_ones_is_displaced(app: PartnerApp) -> None:
    built = app.build()
    seen_candidates(Sweep.objects.get(), MAX_CANDIDATES - 1)
    unseen = random_hash()
    app.confirm(built, unseen, status=202)
    assert statuses(app.confirm(built, random_hash(), status=202))[unseen] == "displaced"
