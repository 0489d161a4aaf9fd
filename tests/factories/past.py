"""Books entries of the past: entries never change, so they are made with the time at which they were posted."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from ledger.models import Account, JournalEntry, Posting, Settlement
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, random_hash, sweep_fee

Kind = JournalEntry.Kind
ACCOUNTS = Account.Name


def fee_at(posted_at: datetime, partner: Partner, amount: int, **facts: Any) -> JournalEntry:
    """Post a fee of which this amount is the partner's, and owed to it unless the facts differ."""
    facts = {"settlement": Settlement.PAYABLE, "total_fee": 2 * amount, "partner_fee": amount} | facts
    fee = sweep_fee(partner, **facts)
    return _entry_at(
        posted_at,
        fee.amounts(),
        kind=Kind.SWEEP_FEE,
        sweep_ref=fee.sweep_ref,
        execution_ref=fee.execution_ref,
        partner=partner,
        network=fee.network,
        asset=fee.asset,
        tx_hash=fee.tx_hash,
    )


def payout_at(
    posted_at: datetime, partner: Partner, amount: int, *, network: str = BASE, asset: str = WETH
) -> JournalEntry:
    """Post a payout, however much is available."""
    return _entry_at(
        posted_at,
        {ACCOUNTS.PARTNER_PAYABLE: amount, ACCOUNTS.PARTNER_PAID: -amount},
        kind=Kind.PAYOUT,
        partner=partner,
        network=network,
        asset=asset,
        tx_hash=random_hash(),
        recorded_by="ops",
    )


def reversal_at(posted_at: datetime, entry: JournalEntry) -> JournalEntry:
    """Reverse a fee or a payout."""
    is_payout = entry.kind == Kind.PAYOUT
    by_hand = {"recorded_by": "ops", "note": "A typing error."} if is_payout else {}
    return _entry_at(
        posted_at,
        {posting.account.name: -posting.amount for posting in entry.postings.select_related("account")},
        kind=Kind.PAYOUT_REVERSAL if is_payout else Kind.REVERSAL,
        sweep_ref=entry.sweep_ref,
        execution_ref=entry.execution_ref,
        partner=entry.partner,
        network=entry.network,
        asset=entry.asset,
        tx_hash=entry.tx_hash,
        reverses=entry,
        **by_hand,
    )


@transaction.atomic
def _entry_at(posted_at: datetime, amounts: Mapping[str, int], **facts: Any) -> JournalEntry:
    entry = JournalEntry.objects.create(posted_at=posted_at, booking_epoch=0, **facts)
    for name, amount in amounts.items():
        partner = entry.partner if name.startswith("partner_") else None
        account, _ = Account.objects.get_or_create(name=name, partner=partner, network=entry.network, asset=entry.asset)
        Posting.objects.create(entry=entry, account=account, amount=amount)
    return entry
