"""Stores a row in every table that has a unique key."""

from datetime import timedelta

from django.utils import timezone

from console.models import FailedLogins
from lab.bench.sweeps.numbers import number_by_time
from ledger.entries.posting import reverse
from ledger.models import Checkpoint, SubtreeHash
from partners import idempotency
from partners.models import ApiKey
from partners.webhooks import claims, outbox
from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.claims import Attempted
from sweepapi.modes import Mode
from sweeps.books.hourly_sums import sum_hours
from sweeps.models import BuildStop, ChainHead, Execution, SkippedToken, Sweep
from sweeps.models.sandbox import MovedClock, ScriptedTransaction
from sweeps.rails.evm.models import LastHop, Leg, LegPermit, PermitNonces, ScannedBlocks, UnmatchedEvent
from sweeps.rails.evm_v5.models import Cancellation, CancellationTransaction
from sweeps.rails.solana_v1.models import BuiltTransaction, ScannedSlots
from tests.factories.ledger import book_fee, book_payable, book_payout, random_hash
from tests.factories.partners import PayoutWalletFactory
from tests.factories.solana_sweeps import random_key
from tests.factories.sweeps import CONTRACT, LOCAL, FeeAuthorizationFactory
from tests.factories.webhooks import an_endpoint
from tests.races import scenes


def store_rows() -> None:
    sweep = Sweep.objects.get(id=scenes.completed().sweep.id)
    PayoutWalletFactory.create(partner=sweep.partner)
    rotated, _ = ApiKey.issue(partner=sweep.partner, name="races", mode=Mode.TEST)
    rotated.rotate(overlap=timedelta(hours=1))
    idempotency.claim(partner_id=sweep.partner_id, mode=Mode.LIVE, path="/v2/sweep/build", key="races", body={})
    reverse(book_fee(sweep.partner))
    book_payable(sweep.partner, 100)
    book_payout(sweep.partner, 100)
    number_by_time()
    sum_hours()
    _store_proven(sweep)
    _store_offered(sweep)
    _store_executed(sweep.executions.get())
    _store_scanned()
    _store_delivered(sweep)
    of_sandbox = {"network": LOCAL, "partner": sweep.partner}
    ScriptedTransaction.objects.create(**of_sandbox, tx_hash=random_hash(), raw=b"", outcome="reverted", is_held=False)
    MovedClock.objects.create(**of_sandbox, day=timezone.now().date(), seconds=1)
    BuildStop.objects.create(**of_sandbox, reason="races", stopped_by="races")
    FailedLogins.objects.create(account="races", address="192.0.2.1", minute=timezone.now(), count=1)


def _store_proven(sweep: Sweep) -> None:
    of_tree = {"partner": sweep.partner, "mode": Mode.LIVE}
    SubtreeHash.objects.create(**of_tree, level=8, index=0, hash=bytes(32))
    Checkpoint.objects.create(**of_tree, month="2026-01", size=0, root=bytes(32), totals=[], note="signed")


def _store_offered(sweep: Sweep) -> None:
    offer, token = sweep.offers.get(), sweep.tokens.get()
    FeeAuthorizationFactory.create(offer=offer)
    outputs = {"expected_output": 0, "min_output": 0, "price_limit": 0}
    leg = Leg.objects.create(offer=offer, token=token, hop="dropped", skippable=False, **outputs, path=[], fee_tiers=[])
    LegPermit.objects.create(leg=leg, kind="EIP2612", name="USD Coin", version="2", nonce=0)
    LastHop.objects.create(offer=offer, venue="uniswap_v3", pool=CONTRACT)
    PermitNonces.objects.create(network=LOCAL, wallet=sweep.wallet)


def _store_executed(execution: Execution) -> None:
    SkippedToken.objects.create(execution=execution, booking_epoch=0, token=execution.tokens.get(), reason="dropped")
    BuiltTransaction.objects.create(
        execution=execution,
        last_valid_block_height=1,
        awaited_until_height=1,
        fee_account=random_key(),
        instructions=[],
    )
    CancellationTransaction.objects.create(
        cancellation=Cancellation.objects.create(execution=execution),
        network=LOCAL,
        account=CONTRACT,
        account_nonce=0,
        attempt=0,
        gas=1,
        max_fee=1,
        priority_fee=1,
        tx_hash=random_hash(),
        raw=b"",
    )


def _store_delivered(sweep: Sweep) -> None:
    an_endpoint(sweep.partner)
    outbox.dispatch()
    claims.record([Attempted(one, AttemptOutcome(1, 500, "status")) for one in claims.claim(1)])


def _store_scanned() -> None:
    ScannedBlocks.objects.create(network=LOCAL, contract=CONTRACT, next_block=1)
    ScannedSlots.objects.create(network=LOCAL, account=random_key(), next_slot=1)
    ChainHead.objects.create(network=LOCAL, number=1, timestamp=1)
    UnmatchedEvent.objects.create(
        network=LOCAL,
        contract=CONTRACT,
        name="SweepExecutedV5",
        execution_id="1",
        tx_hash=random_hash(),
        block_number=1,
        block_hash=random_hash(),
        log_position=0,
        facts={},
        reason="Not ours.",
    )
