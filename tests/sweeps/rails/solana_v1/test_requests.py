"""How much checking many open sweeps costs."""

from datetime import timedelta

import pytest
from django.utils import timezone

from indexer import checks
from indexer.claims import BATCH_ROWS
from ledger.models import Settlement
from partners.models import Partner
from sweeps.models import Execution, Sweep
from sweeps.rails.solana_v1.models import BuiltTransaction
from tests.factories.solana_sweeps import random_key
from tests.solana_cluster import SolanaCluster

pytestmark = pytest.mark.django_db

OPEN, MAX_REQUESTS = 1_000, 25


def store_open(cluster: SolanaCluster, partner: Partner) -> None:
    """Store a thousand open sweeps that are due."""
    now, block = timezone.now(), cluster.bank.blocks.latest
    sweeps = Sweep.objects.bulk_create(
        Sweep(
            partner=partner,
            rail="solana_v1",
            network=cluster.network,
            wallet=random_key(),
            output_asset=str(cluster.usdc),
            output_symbol="USDC",
            output_decimals=6,
            slippage_bps=100,
            total_fee_bps=75,
            partner_share_bps=4000,
            protocol_recipient=str(cluster.fee_wallet),
            settlement=Settlement.PAYABLE,
            min_gross=1,
            deadline=now + timedelta(minutes=1),
            next_check_at=now - timedelta(minutes=1),
        )
        for _ in range(OPEN)
    )
    executions = Execution.objects.bulk_create(
        Execution(
            sweep=sweep,
            network=cluster.network,
            venue=str(cluster.fee_wallet),
            execution_id=random_key(),
            min_gross=1,
            built_at_height=block.slot,
        )
        for sweep in sweeps
    )
    BuiltTransaction.objects.bulk_create(
        BuiltTransaction(
            execution=execution,
            last_valid_block_height=block.last_valid_height,
            awaited_until_height=block.last_valid_height,
            fee_account=random_key(),
            instructions=[],
        )
        for execution in executions
    )


def test_a_thousand_open_executions_are_checked_with_25_requests_at_most(
    cluster: SolanaCluster, partner: Partner, round_trips: list[list[str]]
) -> None:
    store_open(cluster, partner)
    assert checks.check_due() == OPEN
    assert len(round_trips) == OPEN / BATCH_ROWS < MAX_REQUESTS
    assert Sweep.objects.filter(check_attempts=1, last_error="").count() == OPEN
