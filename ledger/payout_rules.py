"""What the books allow to be paid out; checked before the chain is read, and again when a payout is posted."""

from dataclasses import dataclass

from django.db.models import Q

from ledger.balances import balance_of
from ledger.errors import PayoutProblem, PayoutRefusedError
from ledger.models import JournalEntry
from partners.models import Partner


@dataclass(frozen=True, kw_only=True)
class Transfer:
    """A payout to a partner's wallet by one transaction, in the asset's smallest unit."""

    partner: Partner
    network: str
    asset: str
    tx_hash: str
    amount: int
    recipient: str


def booking_epoch(transfer: Transfer) -> int:
    """Return how often this transfer was booked and reversed; raises PayoutRefusedError if it is booked now.

    It is also booked if another partner with the same wallet was paid by it.
    """
    same_transfer = JournalEntry.objects.filter(
        Q(partner=transfer.partner) | Q(payout__recipient=transfer.recipient),
        kind=JournalEntry.Kind.PAYOUT,
        network=transfer.network,
        tx_hash=transfer.tx_hash,
        asset=transfer.asset,
    )
    booked = same_transfer.filter(reversed_by=None).select_related("partner").first()
    if booked is not None:
        raise PayoutRefusedError(
            PayoutProblem.ALREADY_BOOKED,
            f"This transaction is already booked as a payout to {booked.partner}, in entry {booked.pk}.",
        )
    return same_transfer.filter(partner=transfer.partner).count()


def available_for(transfer: Transfer) -> int:
    """Return what is available in the asset; raises PayoutRefusedError if the transfer is above that."""
    balance = balance_of(transfer.partner, network=transfer.network, asset=transfer.asset)
    if balance is None:
        raise PayoutRefusedError(PayoutProblem.NEVER_EARNED, f"{transfer.partner} never accrued a fee in this asset.")
    if transfer.amount > balance.available:
        raise PayoutRefusedError(
            PayoutProblem.ABOVE_AVAILABLE,
            f"{transfer.amount} units are more than the {max(balance.available, 0)} that are available.",
        )
    return balance.available
