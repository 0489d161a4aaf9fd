"""Compares totals: what the contracts paid out, what the ledger's accounts say, and what partners are shown."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from dev.chain.rpc import Rpc
from lab.chaos.checker.books import Books
from lab.chaos.checker.findings import Finding, Kind
from lab.chaos.checker.promises import Promise
from lab.chaos.checker.truth import Truth, balance_of
from lab.chaos.partner import PartnerApi

Totals = Counter[tuple[str, str]]
PAGE_ITEMS = 100
ATTEMPTS = 5


def compare_totals(promises: dict[str, Promise], truth: Truth, books: Books) -> Iterator[Finding]:
    """Compare the balances of the accounts with the sums over the chain's executions."""
    expected, found = _on_chain(promises, truth), Totals()
    for entry in books.entries:
        for name, amount, _partner in entry.postings:
            found[entry.asset, name] += amount
    for key in sorted(expected.keys() | found.keys()):
        if expected[key] != found[key]:
            sentence = f"{key[1]} of {key[0]} is {found[key]}, and on chain {expected[key]}"
            yield Finding(Kind.BOOKS, "", None, sentence)


def compare_balances(rpc: Rpc, truth: Truth, protocol: str) -> Iterator[Finding]:
    """Compare what the accounts that are paid have, which was nothing when the chain began, with the events."""
    paid: Totals = Totals()
    for one in truth.executed.values():
        if one.output.startswith("0x"):
            partner_fee = one.partner_fee or 0
            paid[protocol.lower(), one.output] += one.total_fee - partner_fee
            if one.paid_to is not None:
                paid[one.paid_to, one.output] += partner_fee
    for (holder, token), amount in paid.items():
        received = balance_of(rpc, token, holder)
        if received != amount:
            sentence = f"{holder} received {received} of {token}, and the events say {amount}"
            yield Finding(Kind.BOOKS, "", None, sentence)


def compare_answers(promises: Sequence[Promise], books: Books, apis: Sequence[PartnerApi]) -> Iterator[Finding]:
    """Compare what partners are shown with what is stored."""
    shown = {
        (position, item["sweepId"]): item["status"]
        for position, api in enumerate(apis)
        for version in ("v1", "v2")
        for item in _listed(api, f"/{version}/sweep/history")
    }
    for terms in (promise.terms for promise in promises):
        stored = books.sweeps.get(terms.sweep)
        status = shown.get((terms.partner, terms.sweep))
        if status != (stored.status if stored else None):
            sentence = f"the history shows {status}, and {stored.status if stored else None} is stored"
            yield Finding(Kind.ANSWERS, terms.sweep, terms.story, sentence)
    for position, api in enumerate(apis):
        if not _is_ledger_shown(api, books):
            yield Finding(
                Kind.ANSWERS, "", None, f"GET /v2/ledger/entries of partner {position} differs from the ledger"
            )


def _is_ledger_shown(api: PartnerApi, books: Books) -> bool:
    shown: Totals = Totals()
    for item in _listed(api, "/v2/ledger/entries"):
        shown[item["entryId"], item["account"]] += int(item["amount"]) * (1 if item["direction"] == "debit" else -1)
    ids = {entry for entry, _ in shown}
    stored = {
        (entry.entry, name): amount
        for entry in books.entries
        if entry.entry in ids
        for name, amount, _ in entry.postings
    }
    return stored == dict(shown)


def _listed(api: PartnerApi, path: str) -> Iterator[dict[str, Any]]:
    """Yield the items of every page."""
    query: dict[str, str] = {"limit": str(PAGE_ITEMS)}
    while True:
        page = _served(api, path, query)
        yield from page["items"]
        if page["nextCursor"] is None:
            return
        query["cursor"] = page["nextCursor"]


def _served(api: PartnerApi, path: str, query: dict[str, str]) -> dict[str, Any]:
    """Return the answer, repeating the request as often as a partner would while a busy service refuses it."""
    for _ in range(ATTEMPTS):
        reply = api.get(path, **query)
        if not reply.is_unknown:
            break
    return reply.data


def _on_chain(promises: dict[str, Promise], truth: Truth) -> Totals:
    totals: Totals = Totals()
    for promise in promises.values():
        account = "partner_settled" if promise.terms.mode == "v5" else "partner_payable"
        for identity in promise.terms.identities:
            one = truth.executed.get(identity)
            if one is None:
                continue
            partner_fee = one.partner_part(promise.terms.share_bps)
            totals[one.output, "fees_charged"] += one.total_fee
            totals[one.output, account] -= partner_fee
            totals[one.output, "protocol_revenue"] -= one.total_fee - partner_fee
    return totals
