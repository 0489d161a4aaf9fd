"""Creates sweeps as a build stores them, their possible outcomes, and checks the chain."""

import secrets
from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from eth_abi.abi import encode
from eth_utils.address import to_checksum_address
from factory.declarations import (
    BaseDeclaration,
    LazyAttribute,
    LazyFunction,
    RelatedFactory,
    SelfAttribute,
    Sequence,
    SubFactory,
)
from factory.django import DjangoModelFactory

from ledger.models import Settlement
from sweepapi.evm.contracts import v4, v5
from sweepapi.evm.contracts.batch import SKIPPED_TOPIC, SkipReason
from sweepapi.evm.encoding.responses import Block, Log, MinedLog, Receipt
from sweepapi.evm.logs.log_search import Event, Hit, SearchFinding
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.evm.logs.standing import SeenTransaction, Standing
from sweepapi.fees import FeeRates
from sweeps.models import EventKind, Execution, Offer, Sweep, SweepToken, SweepTransaction
from sweeps.protocol.rail import Ended, Ending, FeeTerms
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.models import Permit
from sweeps.rails.evm_v4.terms import V4Terms, sweep_ref_of
from sweeps.rails.evm_v5.models import FeeAuthorization
from sweeps.store import transitions
from sweeps.store.reading import lock_one, read
from sweeps.store.writing import write
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory

CONTRACT = to_checksum_address("0x" + "c0" * 20)
OUTPUT = to_checksum_address("0x" + "0e" * 20)
LOCAL = "eip155:31337"
# The status of the one execution of a sweep that a test makes with this status.
EXECUTION_STATUS = {"pending": "pending", "void": "pending", "failed": "failed", "expired": "expired"}


def random_checksum_address() -> str:
    """Return an address in the form that the database holds."""
    address: str = to_checksum_address(f"0x{secrets.token_hex(20)}")
    return address


class SweepTokenFactory(DjangoModelFactory[SweepToken]):
    """A token that goes in, for the sweep's only execution."""

    class Meta:
        model = SweepToken

    sweep = SubFactory("tests.factories.sweeps.SweepFactory")
    execution = LazyAttribute(lambda token: token.sweep.executions.get())
    position = Sequence(int)
    asset = LazyFunction(random_checksum_address)
    amount = 1_000_000
    symbol = "USDC"
    decimals = 6


class ExecutionFactory(DjangoModelFactory[Execution]):
    """An execution of one token, at the contract of V5."""

    class Meta:
        model = Execution
        skip_postgeneration_save = True

    sweep = SubFactory("tests.factories.sweeps.SweepFactory", execution=None)
    network = SelfAttribute("sweep.network")
    venue: str = CONTRACT
    execution_id: BaseDeclaration = Sequence(lambda number: str(10**6 + number))
    min_gross = SelfAttribute("sweep.min_gross")
    built_at_height = 10
    status = LazyAttribute(lambda execution: EXECUTION_STATUS[execution.sweep.status])
    cancellation_tx_hash = LazyAttribute(
        lambda execution: random_hash() if execution.status == Execution.Status.CANCELLED else None
    )
    closed_at = LazyAttribute(lambda execution: execution.sweep.closed_at)
    token = RelatedFactory(
        SweepTokenFactory, factory_related_name="execution", sweep=SelfAttribute("..sweep"), position=0
    )


class OfferFactory(DjangoModelFactory[Offer]):
    """An offer that expects a million units."""

    class Meta:
        model = Offer

    sweep = SubFactory("tests.factories.sweeps.SweepFactory", offer=None)
    expected_gross = 1_000_000


class FeeAuthorizationFactory(DjangoModelFactory[FeeAuthorization]):
    """The message that was signed for an offer."""

    class Meta:
        model = FeeAuthorization

    offer = SubFactory(OfferFactory)
    chain_id = 31337
    contract = CONTRACT
    nonce = LazyAttribute(lambda authorization: int(authorization.offer.sweep.executions.get().execution_id))
    user = SelfAttribute("offer.sweep.wallet")
    partner_onchain_id = SelfAttribute("offer.sweep.partner.onchain_id")
    partner_recipient = SelfAttribute("offer.sweep.partner_recipient")
    protocol_recipient = SelfAttribute("offer.sweep.protocol_recipient")
    output_token = SelfAttribute("offer.sweep.output_asset")
    total_fee_bps = SelfAttribute("offer.sweep.total_fee_bps")
    partner_share_bps = SelfAttribute("offer.sweep.partner_share_bps")
    deadline_seconds = LazyAttribute(lambda authorization: int(authorization.offer.sweep.deadline.timestamp()))
    legs_hash = LazyFunction(random_hash)
    token_count = 1
    digest = LazyFunction(random_hash)
    signature = "0x" + "11" * 65
    signer = LazyFunction(random_checksum_address)


class PermitFactory(DjangoModelFactory[Permit]):
    """What the user signs for a sweep of one token, which can't be skipped."""

    class Meta:
        model = Permit

    sweep = SubFactory("tests.factories.sweeps.SweepFactory", permit=None)
    nonce = Sequence(int)
    floors = LazyAttribute(lambda permit: [FeeTerms.of(permit.sweep).split(permit.sweep.min_gross).user_amount])
    max_skipped = 0


class SweepFactory(DjangoModelFactory[Sweep]):
    """A pending V5 sweep of one token, expected to give a million units; due now, good for 900 seconds."""

    class Meta:
        model = Sweep
        skip_postgeneration_save = True

    partner = SubFactory(PartnerFactory)
    rail = "evm_v5"
    network = LOCAL
    wallet = LazyFunction(random_checksum_address)
    output_asset: str = OUTPUT
    output_symbol = "OUT"
    output_decimals = 18
    slippage_bps = 100
    total_fee_bps = 75
    partner_share_bps = 4000
    partner_recipient = LazyFunction(random_checksum_address)
    protocol_recipient: str | BaseDeclaration = LazyFunction(random_checksum_address)
    settlement = Settlement.ON_CHAIN
    min_gross = 990_000
    deadline = LazyFunction(lambda: (timezone.now() + timedelta(seconds=900)).replace(microsecond=0))
    next_check_at = LazyFunction(timezone.now)
    execution = RelatedFactory(ExecutionFactory, factory_related_name="sweep")
    offer = RelatedFactory(OfferFactory, factory_related_name="sweep")
    permit: RelatedFactory | None = RelatedFactory(PermitFactory, factory_related_name="sweep")


class V4SweepFactory(SweepFactory):
    """A pending V4 sweep, whose partner is paid later."""

    rail = "evm_v4"
    partner_recipient = LazyFunction(lambda: None)
    settlement = Settlement.PAYABLE
    execution = RelatedFactory(
        ExecutionFactory,
        factory_related_name="sweep",
        execution_id=LazyAttribute(lambda execution: sweep_ref_of(execution.sweep.id)),
    )


class SweepTransactionFactory(DjangoModelFactory[SweepTransaction]):
    """A hash that a partner reported and that was not looked up yet."""

    class Meta:
        model = SweepTransaction

    sweep = SubFactory(SweepFactory)
    execution = LazyAttribute(lambda tx: tx.sweep.executions.get())
    tx_hash = LazyFunction(random_hash)


def note(sweep: Sweep, kind: EventKind, **event: Any) -> None:
    """Store an event, as what changes a sweep does."""
    with transaction.atomic():
        stored = lock_one(sweep.id)
        transitions.note(stored, kind, **event)
        write([stored])


def executed_log(sweep: Sweep, **changes: Any) -> Log:
    """Return the event of the execution that matches a sweep, for a gross output of a million units.

    ``gross_output`` moves all amounts; any other change is made to that one field alone. ``emitter`` is the contract.
    """
    execution = sweep.executions.get()
    gross = changes.get("gross_output", 1_000_000)
    due = FeeRates(sweep.total_fee_bps, sweep.partner_share_bps).split(gross)
    event = {
        "execution_id": execution.execution_id,
        "user": sweep.wallet,
        "partner_id": sweep.partner.onchain_id,
        "partner_recipient": sweep.partner_recipient,
        "protocol_recipient": sweep.protocol_recipient,
        "output_token": sweep.output_asset,
        "token_count": sweep.tokens.count(),
        **vars(due),
    } | changes
    topics, data = (_v4_event if sweep.rail == "evm_v4" else _v5_event)(event)
    return Log(address=changes.get("emitter", execution.venue), topics=topics, data=data)


def _v5_event(event: dict[str, Any]) -> tuple[tuple[str, ...], bytes]:
    nonce = event.get("nonce", int(event["execution_id"]))
    topics = (v5.EXECUTED_TOPIC, f"0x{nonce:064x}", f"0x{event['user'][2:].lower():0>64}", event["partner_id"])
    data = [event[name] for name in ("partner_recipient", "protocol_recipient", "output_token", "token_count")]
    data += [event[name] for name in ("gross_output", "total_fee", "partner_fee", "protocol_fee", "user_amount")]
    return topics, encode([*["address"] * 3, *["uint256"] * 6], data)


def _v4_event(event: dict[str, Any]) -> tuple[tuple[str, ...], bytes]:
    sweep_ref = event.get("sweep_ref", event["execution_id"])
    topics = (v4.EXECUTED_TOPIC, sweep_ref, f"0x{event['user'][2:].lower():0>64}")
    names = ("output_token", "token_count", "gross_output", "total_fee", "user_amount")
    return topics, encode(["address", *["uint256"] * 4], [event[name] for name in names])


def skipped_log(
    sweep: Sweep, position: int, reason: SkipReason = SkipReason.BELOW_LEAST, *, token: str | None = None
) -> Log:
    """Return the event of a token that the execution of a sweep left out."""
    execution = sweep.executions.get()
    identity = int(execution.execution_id, 0)
    token = token or sweep.tokens.get(position=position).asset
    data = encode(["uint256", "address", "uint8"], [position, token, reason])
    return Log(address=execution.venue, topics=(SKIPPED_TOPIC, f"0x{identity:064x}"), data=data)


def receipt_of(tx: SweepTransaction, *logs: Log, succeeded: bool = True, block: int = 100) -> Receipt:
    """Return the receipt of a transaction mined at this height."""
    return Receipt(
        tx_hash=tx.tx_hash,
        block_number=block,
        block_hash=block_at(block).hash,
        succeeded=succeeded,
        gas_used=200_000,
        logs=logs,
    )


def executed_receipt(tx: SweepTransaction, **changes: Any) -> Receipt:
    """Return the receipt of a transaction that executed the sweep."""
    return receipt_of(tx, executed_log(tx.sweep, **changes))


def block_at(number: int, *, fork: int = 0) -> Block:
    """Return the block at a height, on one of several histories."""
    return Block(number=number, hash=f"0x{fork:032x}{number:032x}", timestamp=1_700_000_000 + number)


def evm_reading(
    *receipts: Receipt,
    finding: SearchFinding | None = None,
    standing: Standing = Standing.AGREED,
    states: Iterable[bool] = (),
    **facts: Any,
) -> EvmReading:
    """Return a reading of the chain with its head at 100, an unused nonce, and a safe block before any deadline.

    The receipts have the ``standing``, and ``states`` says whether the nonce is used on the newest block of those that
    show them; by default that was not read.
    """
    sighting: dict[str, Any] = {
        "head_number": 100,
        "safe_number": 68,
        "final_number": 36,
        "receipts": {receipt.tx_hash: receipt for receipt in receipts},
        "seen": {receipt.tx_hash: SeenTransaction(receipt, standing, frozenset(states)) for receipt in receipts},
        "canonical": None,
        "state": False,  # whether the nonce is used
        "safe_timestamp": 1_700_000_068,
    }
    return EvmReading(Sighting(**(sighting | facts)), finding)


def unused_after_deadline(sweep: Sweep, *receipts: Receipt, **facts: Any) -> EvmReading:
    """Return a check that proves that the sweep can never be executed."""
    proof = {"state": False, "safe_timestamp": int(sweep.deadline.timestamp()) + 1}
    return evm_reading(*receipts, **(proof | facts))


def found_cancellation(by: str, *, agreed: bool = True) -> SearchFinding:
    """Return the finding of a cancellation at a height of 60."""
    ended = Ended(Ending.CANCELLED, f"cancelled on chain by {by}")
    log = Log(address=CONTRACT, topics=(), data=b"")
    hit = Hit(Event(ended, is_hint=False), MinedLog(log, 0, random_hash(), 60, block_at(60).hash))
    return SearchFinding(hit, None, agreed=agreed, resume_at=None)


def found_other_use(sweep: Sweep, receipt: Receipt, *, agreed: bool = True) -> SearchFinding:
    """Return the finding of the event in a receipt, which took a V4 sweep's reference on other terms."""
    event = V4Terms.of(read([sweep.id])[sweep.id]).read(receipt.logs[0])
    assert event is not None
    assert not event.is_hint
    hit = Hit(event, first_log_of(receipt))
    return SearchFinding(hit, None, agreed=agreed, resume_at=None)


def found_execution(receipt: Receipt, *, known: bool = True, standing: Standing = Standing.AGREED) -> SearchFinding:
    """Return the finding of an execution; its receipt is not ``known`` if no provider returned it."""
    hit = Hit(Event(None, is_hint=True), first_log_of(receipt))
    seen = SeenTransaction(receipt, standing) if known else None
    return SearchFinding(hit, seen, agreed=True, resume_at=None)


def first_log_of(receipt: Receipt) -> MinedLog:
    return MinedLog(receipt.logs[0], 0, receipt.tx_hash, receipt.block_number, receipt.block_hash)
