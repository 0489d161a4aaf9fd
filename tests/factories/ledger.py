"""Books fees the way sweeps do."""

import secrets
from typing import Any
from uuid import uuid4

from django.db import transaction

from ledger.models import JournalEntry, Settlement
from ledger.posting import SweepFee, post_sweep_fee
from partners.models import Partner

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
        "tx_hash": random_hash(),
        "total_fee": 1_000,
        "partner_fee": 400,
        "settlement": Settlement.ON_CHAIN,
    }
    return SweepFee(partner=partner, **(defaults | facts))


def book_fee(partner: Partner, **facts: Any) -> JournalEntry:
    """Post a fee above zero in a transaction of its own; see ``sweep_fee`` for the defaults."""
    with transaction.atomic():
        entry = post_sweep_fee(sweep_fee(partner, **facts))
    assert entry is not None
    return entry
