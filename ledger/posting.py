"""The only way to write to the ledger: post the fee of a sweep's execution, or reverse it.

Both are called inside the transaction that changes the sweep, so that its state and the ledger change together.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from ledger.models import Account, JournalEntry, Posting, Settlement
from partners.models import Partner


@dataclass(frozen=True, kw_only=True)
class SweepFee:
    """The fee of one execution of a sweep, in the asset's smallest unit; the protocol gets the rest of the fee.

    Raises ValueError unless 0 ≤ partner_fee ≤ total_fee.
    """

    sweep_ref: UUID
    execution_ref: UUID
    booking_epoch: int  # one more after each reversal of this execution's entry
    partner: Partner
    network: str
    asset: str
    tx_hash: str
    total_fee: int
    partner_fee: int
    settlement: Settlement

    def __post_init__(self) -> None:
        if not 0 <= self.partner_fee <= self.total_fee:
            raise ValueError(f"A partner fee of {self.partner_fee} is not part of a total fee of {self.total_fee}.")

    def amounts(self) -> dict[str, int]:
        """Return what moves on each account: debits positive, credits negative, zeros left out."""
        on_chain = self.settlement == Settlement.ON_CHAIN
        amounts: dict[str, int] = {
            Account.Name.FEES_CHARGED: self.total_fee,
            Account.Name.PARTNER_SETTLED if on_chain else Account.Name.PARTNER_PAYABLE: -self.partner_fee,
            Account.Name.PROTOCOL_REVENUE: self.partner_fee - self.total_fee,
        }
        return {name: amount for name, amount in amounts.items() if amount}


def post_sweep_fee(fee: SweepFee) -> JournalEntry | None:
    """Book a fee and return the entry, or None if the fee is zero.

    Raises IntegrityError if this epoch of the execution is booked already, and TransactionManagementError outside a
    transaction.
    """
    _require_transaction()
    if fee.total_fee == 0:
        return None
    entry = JournalEntry.objects.create(
        kind=JournalEntry.Kind.SWEEP_FEE,
        sweep_ref=fee.sweep_ref,
        execution_ref=fee.execution_ref,
        booking_epoch=fee.booking_epoch,
        partner=fee.partner,
        network=fee.network,
        asset=fee.asset,
        tx_hash=fee.tx_hash,
    )
    amounts = fee.amounts()
    accounts = _accounts(entry, names=list(amounts))
    Posting.objects.bulk_create(
        Posting(entry=entry, account=accounts[name], amount=amount) for name, amount in amounts.items()
    )
    return entry


def reverse(entry: JournalEntry) -> JournalEntry:
    """Undo the entry of a sweep's fee, whose transaction left the chain, and return the reversing entry.

    Raises IntegrityError if the entry is reversed already or is not a sweep's fee, and TransactionManagementError
    outside a transaction.
    """
    _require_transaction()
    reversal = JournalEntry.objects.create(
        kind=JournalEntry.Kind.REVERSAL,
        sweep_ref=entry.sweep_ref,
        execution_ref=entry.execution_ref,
        booking_epoch=entry.booking_epoch,
        partner_id=entry.partner_id,
        network=entry.network,
        asset=entry.asset,
        tx_hash=entry.tx_hash,
        reverses=entry,
    )
    Posting.objects.bulk_create(
        Posting(entry=reversal, account_id=posting.account_id, amount=-posting.amount)
        for posting in entry.postings.all()
    )
    return reversal


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An entry is posted inside the transaction that causes it.")


def _accounts(entry: JournalEntry, *, names: list[str]) -> Mapping[str, Account]:
    """Return the entry's accounts by name; creates the missing ones, which another session may do at the same time."""
    found = _find_accounts(entry, names=names)
    missing = sorted(set(names) - set(found))
    if not missing:
        return found
    Account.objects.bulk_create(
        [
            Account(
                network=entry.network,
                asset=entry.asset,
                name=name,
                partner_id=entry.partner_id if name.startswith("partner_") else None,
            )
            for name in missing  # sorted, so that two sessions cannot deadlock
        ],
        ignore_conflicts=True,
    )
    return _find_accounts(entry, names=names)


def _find_accounts(entry: JournalEntry, *, names: list[str]) -> dict[str, Account]:
    of_entry = Q(partner=None) | Q(partner_id=entry.partner_id)
    accounts = Account.objects.filter(of_entry, network=entry.network, asset=entry.asset, name__in=names)
    return {account.name: account for account in accounts}
