"""What the platform owes a partner, per asset, and how much of it can be paid out now."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet, Sum

from ledger.models import Account, JournalEntry
from partners.models import Partner


@dataclass(frozen=True)
class Balance:
    """The payable account of one partner and asset, in the asset's smallest unit."""

    network: str
    asset: str
    owed: int  # accrued and not paid out, final or not
    available: int  # accrued by final executions and not paid out

    @property
    def debt(self) -> int:
        """What was paid out above the final accruals, after a reorganisation; later accruals settle it first."""
        return max(-self.available, 0)


def balances_of(partner: Partner) -> list[Balance]:
    """Return the balance of every asset in which the partner accrued a fee; settlements on chain don't count."""
    return _read(_payable(partner).order_by("network", "asset"))


def balance_of(partner: Partner, *, network: str, asset: str) -> Balance | None:
    """Return the balance of one asset; None if the partner never accrued a fee in it."""
    return next(iter(_read(_payable(partner).filter(network=network, asset=asset))), None)


def is_available(entry: str, *, at: datetime | None = None) -> Q:
    """Return which postings count towards what can be paid out, or could at a time; ``entry`` is the lookup of theirs.

    Accruals count once their execution is final, a reversal counts if what it reverses did, and payouts at once.
    """
    by_payouts = [JournalEntry.Kind.PAYOUT, JournalEntry.Kind.PAYOUT_REVERSAL]
    lookup, value = ("isnull", False) if at is None else ("final_at__lte", at)
    return (
        Q((f"{entry}__finality__{lookup}", value))
        | Q((f"{entry}__reverses__finality__{lookup}", value))
        | Q((f"{entry}__kind__in", by_payouts))
    )


def accounts_in_debt() -> QuerySet[Account]:
    """Return the payable accounts of which more was paid out than is available."""
    payable = Account.objects.filter(name=Account.Name.PARTNER_PAYABLE)
    debits = Sum("postings__amount", filter=is_available("postings__entry"), default=0)
    return payable.annotate(debt=debits).filter(debt__gt=0)


def _payable(partner: Partner) -> QuerySet[Account]:
    return Account.objects.filter(partner=partner, name=Account.Name.PARTNER_PAYABLE)


def _read(accounts: QuerySet[Account]) -> list[Balance]:
    """Sum up in one query; what is owed is a credit, and credits are negative."""
    debits = accounts.annotate(
        owed=Sum("postings__amount"),
        available=Sum("postings__amount", filter=is_available("postings__entry"), default=0),
    ).values_list("network", "asset", "owed", "available")
    return [Balance(network, asset, -owed, -available) for network, asset, owed, available in debits]
