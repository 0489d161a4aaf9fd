"""A partner's entries in the order of their numbers, filtered, page by page; those without a number are not listed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet

from ledger.assets import KnownAssets
from ledger.models import EntryNumber, JournalEntry, Posting
from sweepapi.modes import Mode


@dataclass(frozen=True, kw_only=True)
class EntryFilter:
    """Which entries to list; None matches all."""

    network: str | None = None
    since: datetime | None = None  # numbered then or later
    until: datetime | None = None  # numbered before
    kind: str | None = None
    account: str | None = None  # of a posting; the others of its entry are not listed
    asset: str | None = None
    sweep_ref: UUID | None = None
    wallet: str | None = None
    tx_hash: str | None = None


@dataclass(frozen=True)
class EntryPage:
    """Some entries, newest first."""

    postings: Sequence[Posting]  # by entry, each with its entry and account
    last: int | None  # the partner's number of the oldest entry of the page; None if there is no older one

    def assets(self) -> KnownAssets:
        """Read how the assets of the page are shown, in one query."""
        return KnownAssets.named({(posting.entry.network, posting.entry.asset) for posting in self.postings})


@dataclass(frozen=True)
class Entries:
    """The entries of a partner and mode that match a filter."""

    partner_id: UUID
    mode: Mode
    chosen: EntryFilter

    def page(self, *, before: int | None, limit: int) -> EntryPage:
        """Return the newest entries, of those with lower numbers than ``before``, in two queries."""
        numbers = self._numbers() if before is None else self._numbers().filter(partner_number__lt=before)
        found = list(numbers.select_related("entry").order_by("-partner_number")[: limit + 1])
        shown = found[:limit]
        return EntryPage(
            self._postings([number.entry for number in shown]), shown[-1].partner_number if found[limit:] else None
        )

    def _numbers(self) -> QuerySet[EntryNumber]:
        own, chosen = numbers_of(self.partner_id, self.mode), self.chosen
        numbers = own
        if chosen.since is not None:
            first = own.filter(numbered_at__gte=chosen.since).order_by("numbered_at", "partner_number")
            numbers = numbers.filter(partner_number__gte=first.values("partner_number")[:1])
        if chosen.until is not None:
            last = own.filter(numbered_at__lt=chosen.until).order_by("-numbered_at", "-partner_number")
            numbers = numbers.filter(partner_number__lte=last.values("partner_number")[:1])
        if chosen.account is not None:
            on_account = Posting.objects.filter(entry=OuterRef("entry"), account__name=chosen.account)
            numbers = numbers.filter(Exists(on_account))
        if chosen.kind or chosen.wallet or chosen.tx_hash:
            numbers = numbers.filter(entry__partner=self.partner_id)  # leads the indexes of entries
        facts = {name: getattr(chosen, name) for name in ("network", "kind", "asset", "sweep_ref", "wallet", "tx_hash")}
        return numbers.filter(**{f"entry__{name}": value for name, value in facts.items() if value is not None})

    def _postings(self, entries: Sequence[JournalEntry]) -> Sequence[Posting]:
        postings = Posting.objects.filter(entry__in=entries).select_related("account").order_by("-pk")
        if self.chosen.account is not None:
            postings = postings.filter(account__name=self.chosen.account)
        by_entry = defaultdict(list)
        for posting in postings:
            by_entry[posting.entry_id].append(posting)
        for entry in entries:
            for posting in by_entry[entry.pk]:
                posting.entry = entry
        return [posting for entry in entries for posting in by_entry[entry.pk]]


def numbers_of(partner_id: UUID, mode: Mode) -> QuerySet[EntryNumber]:
    """Return the numbers of a partner's entries in a mode."""
    return EntryNumber.objects.filter(partner=partner_id, mode=mode)
