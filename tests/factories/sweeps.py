"""Makes sweeps as a build stores them, what may become of them, and what the chain may say about them."""

import secrets
import time
from typing import Any

from django.utils import timezone
from eth_abi.abi import encode
from eth_utils.address import to_checksum_address
from factory.declarations import LazyAttribute, LazyFunction, RelatedFactory, SelfAttribute, Sequence, SubFactory
from factory.django import DjangoModelFactory

from sweepapi.evm.responses import Block, Log, Receipt
from sweepapi.evm.sightings import Sighting
from sweepapi.evm.v5 import EXECUTED_TOPIC
from sweeps.amounts import split
from sweeps.models import FeeAuthorization, Sweep, SweepToken, SweepTransaction
from tests.factories.ledger import random_hash
from tests.factories.partners import PartnerFactory

CONTRACT = to_checksum_address("0x" + "c0" * 20)
OUTPUT = to_checksum_address("0x" + "0e" * 20)
LOCAL = 31337


def random_checksum_address() -> str:
    """Return an address in the form that the database holds."""
    address: str = to_checksum_address(f"0x{secrets.token_hex(20)}")
    return address


class SweepTokenFactory(DjangoModelFactory[SweepToken]):
    """A token that goes in, prefunded."""

    class Meta:
        model = SweepToken

    sweep = SubFactory("tests.factories.sweeps.SweepFactory")
    position = Sequence(int)
    mint = LazyFunction(random_checksum_address)
    amount = 1_000_000
    symbol = "USDC"
    decimals = 6
    expected_output = 1_000_000
    min_output = 990_000
    funding = 1
    router = kind = "uniswap_v3"
    target = LazyFunction(random_checksum_address)
    path = LazyAttribute(lambda token: [token.mint, OUTPUT])
    fee_tiers = [500]


class FeeAuthorizationFactory(DjangoModelFactory[FeeAuthorization]):
    """What was signed for a sweep of one token: 75 bps, 40 % of them the partner's, good for 900 seconds."""

    class Meta:
        model = FeeAuthorization

    sweep = SubFactory("tests.factories.sweeps.SweepFactory", authorization=None)
    chain_id = SelfAttribute("sweep.chain_id")
    contract = SelfAttribute("sweep.contract")
    nonce = Sequence(lambda number: 10**6 + number)
    user = SelfAttribute("sweep.wallet")
    partner_onchain_id = SelfAttribute("sweep.partner.onchain_id")
    partner_recipient = LazyFunction(random_checksum_address)
    protocol_recipient = LazyFunction(random_checksum_address)
    output_token = SelfAttribute("sweep.output_token")
    total_fee_bps = 75
    partner_share_bps = 4000
    deadline_seconds = LazyFunction(lambda: int(time.time()) + 900)
    legs_hash = LazyFunction(random_hash)
    token_count = 1
    digest = LazyFunction(random_hash)
    signature = "0x" + "11" * 65
    signer = LazyFunction(random_checksum_address)


class SweepFactory(DjangoModelFactory[Sweep]):
    """A pending sweep with its authorization, expected to give a million units; due now."""

    class Meta:
        model = Sweep
        skip_postgeneration_save = True

    partner = SubFactory(PartnerFactory)
    chain_id = LOCAL
    mode = "v5_partner_fees"
    contract_version = "v5"
    contract = CONTRACT
    wallet = LazyFunction(random_checksum_address)
    output_token = OUTPUT
    output_symbol = "OUT"
    output_decimals = 18
    slippage_bps = 100
    expected_gross = 1_000_000
    min_gross = 990_000
    permit_nonce = Sequence(int)
    built_at_block = 10
    next_check_at = LazyFunction(timezone.now)
    authorization = RelatedFactory(FeeAuthorizationFactory, factory_related_name="sweep")


class SweepTransactionFactory(DjangoModelFactory[SweepTransaction]):
    """A hash that a partner reported and nobody has looked up yet."""

    class Meta:
        model = SweepTransaction

    sweep = SubFactory(SweepFactory)
    tx_hash = LazyFunction(random_hash)


def executed_log(authorization: FeeAuthorization, **changes: Any) -> Log:
    """Return the ``SweepExecutedV5`` that matches an authorization, for a gross output of a million units.

    ``gross_output`` moves all amounts; any other change is made to that one field alone. ``emitter`` is who logs it.
    """
    gross = changes.get("gross_output", 1_000_000)
    due = split(gross, authorization.total_fee_bps, authorization.partner_share_bps)
    event = {
        "nonce": authorization.nonce,
        "user": authorization.user,
        "partner_id": authorization.partner_onchain_id,
        "partner_recipient": authorization.partner_recipient,
        "protocol_recipient": authorization.protocol_recipient,
        "output_token": authorization.output_token,
        "token_count": authorization.token_count,
        **vars(due),
    } | changes
    data = [event[name] for name in ("partner_recipient", "protocol_recipient", "output_token", "token_count")]
    data += [event[name] for name in ("gross_output", "total_fee", "partner_fee", "protocol_fee", "user_amount")]
    return Log(
        address=changes.get("emitter", authorization.contract),
        topics=(EXECUTED_TOPIC, f"0x{event['nonce']:064x}", f"0x{event['user'][2:].lower():0>64}", event["partner_id"]),
        data=encode([*["address"] * 3, *["uint256"] * 6], data),
    )


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
    """Return the receipt of a transaction that carried the sweep out."""
    return receipt_of(tx, executed_log(tx.sweep.authorization, **changes))


def block_at(number: int, *, fork: int = 0) -> Block:
    """Return the block at a height, on one of several histories."""
    return Block(number=number, hash=f"0x{fork:032x}{number:032x}", timestamp=1_700_000_000 + number)


def sighting(*receipts: Receipt, **facts: Any) -> Sighting:
    """Return a look at the chain with its head at 100, an unused nonce, and a safe block before any deadline."""
    seen: dict[str, Any] = {
        "head_number": 100,
        "safe_number": 68,
        "final_number": 36,
        "receipts": {receipt.tx_hash: receipt for receipt in receipts},
        "canonical": None,
        "nonce_used": False,
        "safe_timestamp": 1_700_000_068,
    }
    return Sighting(**(seen | facts))


def unused_after_deadline(sweep: Sweep, *receipts: Receipt, **facts: Any) -> Sighting:
    """Return a look that proves the authorization unused for good."""
    proof = {"nonce_used": False, "safe_timestamp": sweep.authorization.deadline_seconds + 1}
    return sighting(*receipts, **(proof | facts))
