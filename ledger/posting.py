"""The only way into the books: post the fee of a sweep, or reverse it.

Both are called inside the transaction that changes the sweep, so that state and books move together or not at all.
"""

from collections.abc import Mapping
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from ledger.models import Account, JournalEntry, Posting
from partners.models import Partner


def post_sweep_fee(  # noqa: PLR0913 an entry has this many facts
    *,
    sweep_ref: UUID,
    incarnation: int,
    partner: Partner,
    chain_id: int,
    token: str,
    tx_hash: str,
    total_fee: int,
    partner_fee: int,
    settled_on_chain: bool,
) -> JournalEntry | None:
    """Book the fee of one executed sweep and return the entry, or None if there was no fee.

    Amounts are in the token's smallest unit; the protocol gets what the partner does not. ``settled_on_chain`` says
    whether the partner was paid by the transaction itself or is owed its part from now on.

    Raises ValueError unless 0 ≤ partner_fee ≤ total_fee, IntegrityError if this incarnation of the sweep was booked
    before, and TransactionManagementError outside a transaction.
    """
    _require_transaction()
    if not 0 <= partner_fee <= total_fee:
        raise ValueError(f"A partner fee of {partner_fee} is no part of a total fee of {total_fee}.")
    if total_fee == 0:
        return None
    partner_account = Account.Name.PARTNER_SETTLED if settled_on_chain else Account.Name.PARTNER_PAYABLE
    amounts: dict[str, int] = {
        Account.Name.FEES_CHARGED: total_fee,
        partner_account: -partner_fee,
        Account.Name.PROTOCOL_REVENUE: -(total_fee - partner_fee),
    }
    entry = JournalEntry.objects.create(
        kind=JournalEntry.Kind.SWEEP_FEE,
        sweep_ref=sweep_ref,
        incarnation=incarnation,
        partner=partner,
        chain_id=chain_id,
        token=token,
        tx_hash=tx_hash,
    )
    moved = {name: amount for name, amount in amounts.items() if amount}
    accounts = _accounts(entry, names=list(moved))
    Posting.objects.bulk_create(
        Posting(entry=entry, account=accounts[name], amount=amount) for name, amount in moved.items()
    )
    return entry


def reverse(*, sweep_ref: UUID, incarnation: int, tx_hash: str) -> JournalEntry | None:
    """Undo the fee booked for this incarnation of a sweep and return the reversing entry, or None if none was booked.

    ``tx_hash`` is the transaction whose block was reorganised out. Raises IntegrityError if the entry is reversed
    already, and TransactionManagementError outside a transaction.
    """
    _require_transaction()
    original = (
        JournalEntry.objects.filter(sweep_ref=sweep_ref, incarnation=incarnation, kind=JournalEntry.Kind.SWEEP_FEE)
        .prefetch_related("postings")
        .first()
    )
    if original is None:
        return None
    reversal = JournalEntry.objects.create(
        kind=JournalEntry.Kind.REVERSAL,
        sweep_ref=sweep_ref,
        incarnation=incarnation,
        partner_id=original.partner_id,
        chain_id=original.chain_id,
        token=original.token,
        tx_hash=tx_hash,
        reverses=original,
    )
    Posting.objects.bulk_create(
        Posting(entry=reversal, account_id=posting.account_id, amount=-posting.amount)
        for posting in original.postings.all()
    )
    return reversal


def _require_transaction() -> None:
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError("An entry is posted inside the transaction that causes it.")


def _accounts(entry: JournalEntry, *, names: list[str]) -> Mapping[str, Account]:
    """Return the entry's accounts by name, making those that are missing; two sessions may both find them missing."""
    found = _find_accounts(entry, names=names)
    missing = sorted(set(names) - set(found))
    if not missing:
        return found
    Account.objects.bulk_create(
        [
            Account(
                chain_id=entry.chain_id,
                token=entry.token,
                name=name,
                partner_id=entry.partner_id if name.startswith("partner_") else None,
            )
            for name in missing  # sorted, so that two sessions cannot wait for each other
        ],
        ignore_conflicts=True,
    )
    return _find_accounts(entry, names=names)


def _find_accounts(entry: JournalEntry, *, names: list[str]) -> dict[str, Account]:
    of_entry = Q(partner=None) | Q(partner_id=entry.partner_id)
    accounts = Account.objects.filter(of_entry, chain_id=entry.chain_id, token=entry.token, name__in=names)
    return {account.name: account for account in accounts}
