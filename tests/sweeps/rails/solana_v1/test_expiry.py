"""A sweep is called expired when its blockhash and the grace for newer ones are over, whatever a slot takes."""

import math
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.utils import timezone

from ledger.models import JournalEntry
from sweeps.models import Sweep
from tests.solana_cluster import SolanaCluster
from tests.solana_user import DOLLAR, SolanaUser
from tests.sweeps.rails.solana_v1.checks import look_at

pytestmark = pytest.mark.django_db

GRACE_SECONDS = 90


@pytest.fixture(autouse=True)
def grace(settings: LazySettings) -> None:
    settings.SOLANA_EXPIRY_GRACE_SECONDS = GRACE_SECONDS


@pytest.fixture(params=[0.21, 0.4])
def slot_seconds(request: pytest.FixtureRequest, cluster: SolanaCluster) -> float:
    cluster.bank.slot_seconds = request.param
    return cluster.bank.slot_seconds


def built_by(user: SolanaUser) -> tuple[dict[str, Any], Sweep]:
    built = user.build({user.hold(): 5 * DOLLAR})
    return built, Sweep.objects.get(id=built["sweepId"])


def looked_at(sweep: Sweep) -> tuple[str, bool, list[str], str]:
    row = look_at(sweep)
    return row.status, row.is_open, row.flags, row.last_error


def let_height_be_final(cluster: SolanaCluster, height: int) -> None:
    behind = cluster.bank.blocks.latest.height - cluster.node.final_after_slots
    cluster.bank.advance(height - behind)


def test_a_sweep_that_was_not_sent_is_called_expired_only_after_the_grace(
    user: SolanaUser, cluster: SolanaCluster, slot_seconds: float
) -> None:
    built, sweep = built_by(user)
    last_valid = built["transactions"][0]["lastValidBlockHeight"]
    ends = last_valid + math.ceil(GRACE_SECONDS / slot_seconds)
    for height in (last_valid + 1, ends):
        let_height_be_final(cluster, height)
        assert looked_at(sweep) == ("pending", True, [], "")
    let_height_be_final(cluster, ends + 1)
    assert looked_at(sweep) == ("expired", False, [], "")


@pytest.mark.usefixtures("slot_seconds")
def test_a_client_may_put_in_a_newer_blockhash_before_the_wallet_signs(
    user: SolanaUser, cluster: SolanaCluster
) -> None:
    built, sweep = built_by(user)
    (transaction,) = built["transactions"]
    let_height_be_final(cluster, transaction["lastValidBlockHeight"] + 1)
    assert cluster.bank.send(user.sign(transaction)).err == "BlockhashNotFound"
    assert looked_at(sweep)[0] == "pending"
    cluster.send(user.sign_with_newest_blockhash(transaction))
    assert looked_at(sweep) == ("completed", True, [], "")
    cluster.finalize()
    assert looked_at(sweep) == ("completed", False, [], "")
    assert JournalEntry.objects.count() == 1


def test_a_sweep_is_checked_as_often_in_the_grace_as_before(user: SolanaUser) -> None:
    _, sweep = built_by(user)
    sweep.deadline = timezone.now() - timedelta(seconds=GRACE_SECONDS - 10)
    sweep.save()
    row = look_at(sweep)
    assert row.next_check_at is not None
    assert row.last_checked_at is not None
    assert (row.next_check_at - row.last_checked_at).total_seconds() == pytest.approx(5, abs=1)
