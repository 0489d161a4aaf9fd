"""What a partner earned, was paid and is owed at some time, per asset, summed over the entries numbered until then."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Q, Sum

from ledger.assets import KnownAssets
from ledger.balances import is_available
from ledger.listing import numbers_of
from ledger.models import Account, Asset, JournalEntry, Posting
from sweepapi.modes import Mode

_OF_SWEEPS = [JournalEntry.Kind.SWEEP_FEE, JournalEntry.Kind.REVERSAL]


@dataclass(frozen=True, kw_only=True)
class AssetTotals:
    """The sums of one asset in its smallest unit, less what was reversed."""

    network: str
    asset: str
    shown: Asset | None  # None if the ledger does not know how it is shown
    settled: int  # paid to the partner on chain, by its sweeps
    accrued: int  # by other sweeps, to be paid out
    paid: int  # out
    available: int  # accrued by final executions and not paid out

    @property
    def earned(self) -> int:
        return self.settled + self.accrued

    @property
    def owed(self) -> int:
        """What accrued and was not paid out; below zero if more was paid out than a reorganisation left."""
        return self.accrued - self.paid


@dataclass(frozen=True)
class PartnerTotals:
    """The sums of all assets of a partner and mode."""

    last: int | None  # the partner's number of the last entry that counts; None if none does
    assets: Sequence[AssetTotals]


def totals_of(partner_id: UUID, mode: Mode, *, at: datetime | None) -> PartnerTotals:
    """Return the sums over what was numbered and final at a time, by default now, in three queries."""
    numbers = numbers_of(partner_id, mode)
    if at is not None:
        numbers = numbers.filter(numbered_at__lte=at).order_by("-numbered_at", "-partner_number")
    else:
        numbers = numbers.order_by("-partner_number")
    last = numbers.values_list("partner_number", flat=True).first()
    if last is None:
        return PartnerTotals(None, [])
    sums = _sums(partner_id, mode, last=last, at=at)
    assets = KnownAssets.named({(row["entry__network"], row["entry__asset"]) for row in sums})
    return PartnerTotals(last, [_of_asset(row, assets) for row in sums])


def _sums(partner_id: UUID, mode: Mode, *, last: int, at: datetime | None) -> Sequence[Mapping[str, Any]]:
    """Sum up debits, of which those of a partner's accounts are negative unless they take from it."""
    counted = Posting.objects.filter(
        entry__numbered__partner=partner_id,
        entry__numbered__mode=mode,
        entry__numbered__partner_number__lte=last,
        account__name__startswith="partner_",
    )
    payable = Q(account__name=Account.Name.PARTNER_PAYABLE)
    sums = {
        "settled": Q(account__name=Account.Name.PARTNER_SETTLED),
        "accrued": payable & Q(entry__kind__in=_OF_SWEEPS),
        "paid": Q(account__name=Account.Name.PARTNER_PAID),
        "available": payable & is_available("entry", at=at),
    }
    per_asset = counted.order_by("entry__network", "entry__asset").values("entry__network", "entry__asset")
    return list(per_asset.annotate(**{name: Sum("amount", filter=which, default=0) for name, which in sums.items()}))


def _of_asset(row: Mapping[str, Any], assets: KnownAssets) -> AssetTotals:
    network, asset = row["entry__network"], row["entry__asset"]
    in_favour = {name: -int(row[name]) for name in ("settled", "accrued", "paid", "available")}
    return AssetTotals(network=network, asset=asset, shown=assets.find(network, asset), **in_favour)
