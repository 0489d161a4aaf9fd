"""The search of the console (Ctrl-K): by the shape of what was typed, it finds sweeps, entries, partners and keys.

A transaction's hash, a wallet, an id or a partner's reference is enough; of hashes and ids, their first ten characters.
The library's own search changes the case of the term, which names accounts on Solana, and keeps answers for minutes.
"""

import re
from collections.abc import Callable, Iterator
from uuid import UUID

from django.contrib import admin
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from unfold.dataclasses import SearchResult

from ledger.models import JournalEntry
from partners.models import ApiKey, Partner
from sweepapi import networks
from sweeps.models import Sweep, SweepTransaction

MOST = 20  # of each kind
SHORTEST = 10
LONGEST = 200
_HASH = re.compile(r"0x[0-9a-f]{8,64}")
_HASH_LENGTH = 66
_SIGNATURE = re.compile(r"[1-9A-HJ-NP-Za-km-z]{64,88}")
_WALLET = re.compile(r"0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44}")
_ID = re.compile(r"[0-9a-f-]{10,36}")
_KEY = re.compile(r"swp_(?:live|test)_(\w+)")

Finder = Callable[[str], Iterator[SearchResult]]


@admin.site.admin_view
def search(request: HttpRequest) -> HttpResponse:
    """Answer the palette with what the operator may see, newest first."""
    term = request.GET.get("s", "").replace("\0", "").strip()[:LONGEST]
    if not term:
        return HttpResponse()
    found = [result for permission, find in FINDERS if request.user.has_perm(permission) for result in find(term)]
    page = Paginator(found, len(FINDERS) * MOST).page(1)
    shown = "command" if "extended" in request.GET else "search"
    context = {"page_obj": page.paginator, "results": page, "page_counter": 0, "command_show_history": False}
    return TemplateResponse(request, f"unfold/helpers/{shown}_results.html", context, headers={"HX-Trigger": "search"})


def _sweeps(term: str) -> Iterator[SearchResult]:
    rows = Sweep.objects.select_related("partner")
    ids = [sweep_id for (sweep_id,) in _transactions(term).values_list("sweep_id")[:MOST]]
    for sweep in [*rows.filter(id__in=ids), *_of(rows, term)]:
        name = f"{sweep.status}, {sweep.partner}, {networks.current().name_of(sweep.network)}"
        at = f"{sweep.created_at:%Y-%m-%d %H:%M} UTC"
        page = reverse("admin:sweeps_sweep_change", args=[sweep.pk])
        yield SearchResult(f"Sweep {sweep.pk}", f"{name}, {at}", page, "swap_horiz")


def _of(rows: QuerySet[Sweep], term: str) -> list[Sweep]:
    ids = _id_range(term)
    if ids is not None:
        return list(rows.filter(id__range=ids)[:MOST])
    if _WALLET.fullmatch(term):
        return list(rows.filter(wallet=term)[:MOST])
    return list(rows.filter(client_reference=term)[:MOST])


def _transactions(term: str) -> QuerySet[SweepTransaction]:
    rows = SweepTransaction.objects.order_by("-id")
    if _HASH.fullmatch(term.lower()):
        return rows.filter(tx_hash__range=[term.lower().ljust(_HASH_LENGTH, digit) for digit in "0f"])
    return rows.filter(tx_hash=term) if _SIGNATURE.fullmatch(term) else rows.none()


def _entries(term: str) -> Iterator[SearchResult]:
    ids = _id_range(term)
    for entry in [] if ids is None else JournalEntry.objects.filter(id__range=ids)[:MOST]:
        page = reverse("admin:ledger_journalentry_change", args=[entry.pk])
        yield SearchResult(f"Entry {entry.pk}", f"{entry.kind}, {entry.posted_at:%Y-%m-%d %H:%M} UTC", page, "receipt")


def _partners(term: str) -> Iterator[SearchResult]:
    ids = _id_range(term)
    rows = Partner.objects.filter(name__icontains=term) if ids is None else Partner.objects.filter(id__range=ids)
    for partner in rows[:MOST]:
        page = reverse("admin:partners_partner_change", args=[partner.pk])
        yield SearchResult(partner.name, f"partner, {partner.status}", page, "handshake")


def _keys(term: str) -> Iterator[SearchResult]:
    shown = _KEY.match(term)
    key_id = shown[1].partition("_")[0] if shown else term
    for key in ApiKey.objects.filter(key_id=key_id).select_related("partner")[:MOST]:
        page = reverse("admin:partners_apikey_change", args=[key.pk])
        yield SearchResult(f"Key {key.key_id}", f"{key.name}, {key.partner}", page, "key")


def _id_range(term: str) -> tuple[UUID, UUID] | None:
    """Return the first and last id that begins so; None if none does."""
    digits = term.lower().replace("-", "")
    if not _ID.fullmatch(term.lower()) or not SHORTEST <= len(digits) <= 32:  # noqa: PLR2004 hex digits of a UUID
        return None
    return UUID(digits.ljust(32, "0")), UUID(digits.ljust(32, "f"))


FINDERS: tuple[tuple[str, Finder], ...] = (
    ("sweeps.view_sweep", _sweeps),
    ("ledger.view_journalentry", _entries),
    ("partners.view_partner", _partners),
    ("partners.view_apikey", _keys),
)
