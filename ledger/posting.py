"""The only way to write to the ledger: post or reverse the fee of a sweep's execution, or a payout to a partner.

Fees are posted inside the transaction that changes the sweep, so that its state and the ledger change together. What
takes from a partner's balance, payouts and reversals, first locks the partner, so that it happens one after another.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from ledger.errors import PayoutProblem, PayoutRefusedError
from ledger.models import Account, Asset, Finality, JournalEntry, Payout, Posting, Settlement
from ledger.payout_rules import Transfer, available_for, booking_epoch
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
    symbol: str
    decimals: int
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
    asset = Asset(network=fee.network, asset=fee.asset, symbol=fee.symbol, decimals=fee.decimals)
    _post(entry, fee.amounts(), asset=asset)
    return entry


def finalize(entry: JournalEntry) -> None:
    """Record that the execution behind a fee's entry is final; idempotent."""
    Finality.objects.bulk_create([Finality(entry=entry)], ignore_conflicts=True)


def reverse(entry: JournalEntry) -> JournalEntry:
    """Undo the entry of a sweep's fee, whose transaction left the chain, and return the reversing entry.

    Raises IntegrityError if the entry is reversed already or is not a sweep's fee, and TransactionManagementError
    outside a transaction.
    """
    _lock(entry.partner_id)
    return _mirror(entry, JournalEntry.Kind.REVERSAL)


def post_payout(
    transfer: Transfer, *, sender: str | None, block_number: int | None, recorded_by: str, note: str
) -> JournalEntry:
    """Book a payout and return its entry; sender and block are None if it was not checked on chain.

    Raises PayoutRefusedError if it is above what is available or booked already, and TransactionManagementError outside
    a transaction.
    """
    _lock_transfer(transfer)
    _lock(transfer.partner.pk)
    epoch = booking_epoch(transfer)
    available_for(transfer)
    entry = JournalEntry.objects.create(
        kind=JournalEntry.Kind.PAYOUT,
        booking_epoch=epoch,
        partner=transfer.partner,
        network=transfer.network,
        asset=transfer.asset,
        tx_hash=transfer.tx_hash,
        recorded_by=recorded_by,
        note=note,
    )
    _post(entry, {Account.Name.PARTNER_PAYABLE: transfer.amount, Account.Name.PARTNER_PAID: -transfer.amount})
    Payout.objects.create(entry=entry, recipient=transfer.recipient, sender=sender, block_number=block_number)
    return entry


def reverse_payout(entry: JournalEntry, *, recorded_by: str, note: str) -> JournalEntry:
    """Undo the entry of a payout that was recorded by mistake, and return the reversing entry.

    Raises PayoutRefusedError if it is not a payout or reversed already, and TransactionManagementError outside a
    transaction.
    """
    _lock(entry.partner_id)
    if entry.kind != JournalEntry.Kind.PAYOUT:
        raise PayoutRefusedError(PayoutProblem.NOT_REVERSIBLE, "Only a payout can be reversed by hand.")
    if JournalEntry.objects.filter(reverses=entry).exists():
        raise PayoutRefusedError(PayoutProblem.NOT_REVERSIBLE, "This payout is reversed already.")
    return _mirror(entry, JournalEntry.Kind.PAYOUT_REVERSAL, recorded_by=recorded_by, note=note)


def _mirror(entry: JournalEntry, kind: JournalEntry.Kind, **by_hand: str) -> JournalEntry:
    reversal = JournalEntry.objects.create(
        kind=kind,
        sweep_ref=entry.sweep_ref,
        execution_ref=entry.execution_ref,
        booking_epoch=entry.booking_epoch,
        partner_id=entry.partner_id,
        network=entry.network,
        asset=entry.asset,
        tx_hash=entry.tx_hash,
        reverses=entry,
        **by_hand,
    )
    Posting.objects.bulk_create(
        Posting(entry=reversal, account_id=posting.account_id, amount=-posting.amount)
        for posting in entry.postings.all()
    )
    return reversal


def _lock_transfer(transfer: Transfer) -> None:
    """Serialise the bookings of one transfer, since partners who share a wallet could each be given it."""
    _require_transaction()
    key = f"{transfer.network}/{transfer.tx_hash}/{transfer.asset}"
    with transaction.get_connection().cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [key])


def _lock(partner_id: UUID) -> None:
    """Serialise what takes from a partner's balance; new fees of the partner are posted meanwhile."""
    _require_transaction()
    Partner.objects.select_for_update(no_key=True).get(pk=partner_id)


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An entry is posted inside the transaction that causes it.")


def _post(entry: JournalEntry, amounts: Mapping[str, int], *, asset: Asset | None = None) -> None:
    accounts = _accounts(entry, names=list(amounts), asset=asset)
    Posting.objects.bulk_create(
        Posting(entry=entry, account=accounts[name], amount=amount) for name, amount in amounts.items()
    )


def _accounts(entry: JournalEntry, *, names: list[str], asset: Asset | None) -> Mapping[str, Account]:
    """Return the entry's accounts by name; creates the missing ones, which another session may do at the same time.

    Only then is the asset stored, too, so that an entry on known accounts needs no extra query.
    """
    found = _find_accounts(entry, names=names)
    missing = sorted(set(names) - set(found))
    if not missing:
        return found
    if asset is not None:
        Asset.objects.bulk_create([asset], ignore_conflicts=True)
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
