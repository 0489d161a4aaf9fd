"""Books fees the way sweeps do."""

import secrets
from typing import Any
from uuid import uuid4

from django.db import transaction

from ledger.models import JournalEntry
from ledger.posting import post_sweep_fee
from partners.models import Partner

WETH = "0x4200000000000000000000000000000000000006"
BASE = 8453


def random_hash() -> str:
    """Return the hash of a transaction that never was."""
    return f"0x{secrets.token_hex(32)}"


def book_fee(partner: Partner, **facts: Any) -> JournalEntry:
    """Post the fee of one sweep in a transaction of its own; 1,000 units, 400 of them the partner's, unless told."""
    defaults: dict[str, Any] = {
        "sweep_ref": uuid4(),
        "incarnation": 0,
        "chain_id": BASE,
        "token": WETH,
        "tx_hash": random_hash(),
        "total_fee": 1_000,
        "partner_fee": 400,
        "settled_on_chain": True,
    }
    with transaction.atomic():
        entry = post_sweep_fee(partner=partner, **(defaults | facts))
    assert entry is not None, "book_fee is for fees above zero"
    return entry
