"""Books fees the way sweeps do, and payouts the way operators do."""

import secrets
from collections.abc import Iterable
from typing import Any
from uuid import uuid4

from django.db import transaction

from ledger.entries.posting import SweepFee, finalize, post_payout, reverse_payout, sweep_fee_rows
from ledger.models import JournalEntry, Settlement
from ledger.payout_rules import Transfer
from partners.models import Partner
from sweepapi.postgres.sets import write

WETH = "0x4200000000000000000000000000000000000006"
BASE = "eip155:8453"


def random_hash() -> str:
    """Return the hash of a transaction that does not exist."""
    return f"0x{secrets.token_hex(32)}"


def sweep_fee(partner: Partner, **facts: Any) -> SweepFee:
    """Return a fee of 1,000 units, 400 of them the partner's and paid on chain, unless the facts differ."""
    defaults: dict[str, Any] = {
        "sweep_ref": uuid4(),
        "execution_ref": uuid4(),
        "booking_epoch": 0,
        "network": BASE,
        "asset": WETH,
        "symbol": "WETH",
        "decimals": 18,
        "wallet": "0x00000000000000000000000000000000000000A1",
        "tx_hash": random_hash(),
        "total_fee": 1_000,
        "partner_fee": 400,
        "settlement": Settlement.ON_CHAIN,
    }
    return SweepFee(partner=partner, **(defaults | facts))


def post_sweep_fees(fees: Iterable[SweepFee]) -> None:
    """Book fees in the caller's transaction."""
    write(*sweep_fee_rows(fees))


def book_fee(partner: Partner, **facts: Any) -> JournalEntry:
    """Post a fee above zero in a transaction of its own; see ``sweep_fee`` for the defaults."""
    fee = sweep_fee(partner, **facts)
    with transaction.atomic():
        post_sweep_fees([fee])
    return JournalEntry.objects.get(id=fee.entry_id)


def book_payable(partner: Partner, amount: int, *, final: bool = True, **facts: Any) -> JournalEntry:
    """Post a fee of which this amount is owed to the partner; it can be paid out if it is ``final``."""
    facts |= {"total_fee": 2 * amount, "partner_fee": amount, "settlement": Settlement.PAYABLE}
    entry = book_fee(partner, **facts)
    if final:
        finalize([entry.id])
    return entry


def transfer(partner: Partner, amount: int, **facts: Any) -> Transfer:
    """Return a payout of WETH on Base to the partner's wallet, unless the facts differ."""
    defaults: dict[str, Any] = {
        "network": BASE,
        "asset": WETH,
        "tx_hash": random_hash(),
        "recipient": partner.recipient_on(facts.get("network", BASE)),
    }
    return Transfer(partner=partner, amount=amount, **(defaults | facts))


def book_payout(partner: Partner, amount: int, **facts: Any) -> JournalEntry:
    """Post a payout that was not checked on chain, in a transaction of its own; see ``transfer`` for the defaults."""
    with transaction.atomic():
        return post_payout(
            transfer(partner, amount, **facts), sender=None, block_number=None, recorded_by="ops", note="A payout."
        )


def undo_payout(entry: JournalEntry) -> JournalEntry:
    """Reverse a payout in a transaction of its own."""
    with transaction.atomic():
        return reverse_payout(entry, recorded_by="ops", note="A typing error.")
