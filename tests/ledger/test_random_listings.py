"""Random books, listed by random combinations of filters and page by page while entries are added, and their balances.

A bookkeeper who filters lists in Python has to find the same.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import cycle
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.db import transaction
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from ledger.entries.posting import finalize
from ledger.models import JournalEntry, Settlement
from partners.models import Partner
from sweepapi.token_amounts import whole_tokens
from tests.factories.ledger import BASE, WETH, random_hash
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, payout_at, reversal_at
from tests.factories.sweeps import random_checksum_address

ENTRIES, BALANCES = "/v2/ledger/entries", "/v2/ledger/balances"
NETWORKS = {"base": BASE, "arbitrum": "eip155:42161"}
TOKENS = [WETH, "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]
WALLETS = [f"0x00000000000000000000000000000000000000A{digit}" for digit in (1, 2)]
SWEEPS = [uuid4() for _ in range(3)]
HASHES = [random_hash() for _ in range(3)]
START = datetime(2026, 3, 1, tzinfo=UTC)
HOURS = 12


@dataclass(frozen=True)
class Step:
    """Something that is booked; what is paid or reversed depends on what was booked before it."""

    action: str
    hours_later: int
    owner: int
    chain: str
    token: str
    wallet: str
    sweep: UUID
    tx_hash: str
    choice: int


steps = st.builds(
    Step,
    action=st.sampled_from(["accrue", "accrue finally", "settle on chain", "pay", "reverse"]),
    hours_later=st.integers(0, 2),
    owner=st.sampled_from([0, 0, 0, 1]),
    chain=st.sampled_from(list(NETWORKS)),
    token=st.sampled_from(TOKENS),
    wallet=st.sampled_from(WALLETS),
    sweep=st.sampled_from(SWEEPS),
    tx_hash=st.sampled_from(HASHES),
    choice=st.integers(0, 100),
)
hours = st.integers(-1, HOURS + 1)
queries = st.fixed_dictionaries(
    {"limit": st.integers(1, 4)},
    optional={
        "chain": st.sampled_from(list(NETWORKS)),
        "from": hours,
        "to": hours,
        "kind": st.sampled_from(JournalEntry.Kind.values),
        "account": st.sampled_from(["fees_charged", "partner_payable", "partner_settled", "partner_paid"]),
        "token": st.sampled_from(TOKENS),
        "sweepId": st.sampled_from(SWEEPS),
        "wallet": st.sampled_from(WALLETS),
        "txHash": st.sampled_from(HASHES),
    },
)


@dataclass(frozen=True)
class Booked:
    """An entry as a bookkeeper without a database would know it."""

    owner: int
    entry: JournalEntry
    numbered_at: datetime
    postings: Mapping[str, int]  # by account, debits positive
    is_final: bool = False


@dataclass
class Books:
    """What was booked, in that order; all of it becomes final after the last entry, or never."""

    partners: list[Partner]
    booked: list[Booked] = field(default_factory=list)

    def of(self, owner: int) -> list[Booked]:
        return [one for one in self.booked if one.owner == owner]

    def post(self, step: Step) -> None:
        last = self.booked[-1].numbered_at if self.booked else START
        moment = last + timedelta(hours=step.hours_later)
        if step.action == "reverse":
            self._reverse(step, moment)
        elif step.action == "pay":
            self._pay(step, moment)
        else:
            self._charge(step, moment)

    def _charge(self, step: Step, moment: datetime) -> None:
        account = "partner_settled" if step.action == "settle on chain" else "partner_payable"
        amount = 1 + step.choice
        entry = fee_at(
            moment,
            self.partners[step.owner],
            amount,
            network=NETWORKS[step.chain],
            asset=step.token,
            wallet=step.wallet,
            sweep_ref=step.sweep,
            tx_hash=step.tx_hash,
            settlement=Settlement.ON_CHAIN if account == "partner_settled" else Settlement.PAYABLE,
        )
        is_final = step.action == "accrue finally"
        if is_final:
            finalize([entry.pk])
        postings = {"fees_charged": 2 * amount, account: -amount, "protocol_revenue": -amount}
        self.booked.append(Booked(step.owner, entry, moment, postings, is_final))

    def _pay(self, step: Step, moment: datetime) -> None:
        """Pay one unit, if so much is available."""
        about = {"network": NETWORKS[step.chain], "asset": step.token}
        if totals(self.of(step.owner), about, at=None)["available"] > 0:
            entry = payout_at(moment, self.partners[step.owner], 1, **about)
            self.booked.append(
                Booked(step.owner, entry, moment, {"partner_payable": 1, "partner_paid": -1}, is_final=True)
            )

    def _reverse(self, step: Step, moment: datetime) -> None:
        own = self.of(step.owner)
        reversed_ids = {one.entry.reverses_id for one in own}
        left = [one for one in own if one.entry.reverses_id is None and one.entry.pk not in reversed_ids]
        if left:
            chosen = left[step.choice % len(left)]
            entry = reversal_at(moment, chosen.entry)
            postings = {account: -amount for account, amount in chosen.postings.items()}
            self.booked.append(Booked(step.owner, entry, moment, postings, chosen.is_final))


def totals(booked: list[Booked], about: Mapping[str, str], *, at: datetime | None) -> dict[str, int]:
    """Return the balance of an asset; what is final became so after every time that is asked for."""
    counted = [
        one
        for one in booked
        if (one.entry.network, one.entry.asset) == (about["network"], about["asset"])
        and (at is None or one.numbered_at <= at)
    ]

    def credits_of(account: str, which: Callable[[Booked], bool] = lambda _: True) -> int:
        return -sum(one.postings.get(account, 0) for one in counted if which(one))

    is_payout = {"payout", "payout_reversal"}
    settled, paid = credits_of("partner_settled"), credits_of("partner_paid")
    accrued = credits_of("partner_payable", lambda one: one.entry.kind not in is_payout)
    available = credits_of("partner_payable", lambda one: one.entry.kind in is_payout or (one.is_final and at is None))
    return {
        "earned": settled + accrued,
        "settled": settled,
        "accrued": accrued,
        "paid": paid,
        "owed": accrued - paid,
        "available": available,
    }


def matches(one: Booked, query: Mapping[str, Any]) -> bool:
    entry = one.entry
    facts = {
        "chain": next(name for name, network in NETWORKS.items() if network == entry.network),
        "kind": entry.kind,
        "token": entry.asset,
        "sweepId": entry.sweep_ref,
        "wallet": entry.wallet,
        "txHash": entry.tx_hash,
    }
    return (
        all(facts[name] == wanted for name, wanted in query.items() if name in facts)
        and ("from" not in query or one.numbered_at >= START + timedelta(hours=query["from"]))
        and ("to" not in query or one.numbered_at < START + timedelta(hours=query["to"]))
        and ("account" not in query or query["account"] in one.postings)
    )


def expected(books: Books, query: Mapping[str, Any]) -> list[tuple[int, str, str, int]]:
    """Return the postings to list, newest entry first, those of an entry by account."""
    numbered = list(enumerate(books.of(0)))
    return [
        (number, str(one.entry.pk), account, amount)
        for number, one in reversed(numbered)
        if matches(one, query)
        for account, amount in sorted(one.postings.items())
        if query.get("account", account) == account
    ]


def as_parameters(query: Mapping[str, Any]) -> dict[str, str]:
    return {
        name: as_text(START + timedelta(hours=value)) if name in {"from", "to"} else str(value)
        for name, value in query.items()
    }


def as_text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")


def listed(api: Client, query: Mapping[str, Any], between: Callable[[], None]) -> Iterator[list[dict[str, Any]]]:
    """Yield the items of each page; something happens between two pages."""
    parameters = as_parameters(query)
    while True:
        response = api.get(ENTRIES, parameters)
        assert response.status_code == 200, response.content
        page = response.json()["data"]
        yield page["items"]
        if page["nextCursor"] is None:
            return
        parameters["cursor"] = page["nextCursor"]
        between()


def check_pages(api: Client, books: Books, query: Mapping[str, Any], extra: Iterator[Step]) -> None:
    wanted = expected(books, query)
    found: list[tuple[int, str, str, int]] = []
    for items in listed(api, query, between=lambda: books.post(next(extra))):
        entries = list(dict.fromkeys(item["entryId"] for item in items))
        assert len(entries) <= query["limit"]
        page = [(item["number"], item["entryId"], item["account"], sign(item) * int(item["amount"])) for item in items]
        found += sorted(page, key=lambda one: (-one[0], one[2]))
    assert found == wanted


def sign(item: Mapping[str, str]) -> int:
    return 1 if item["direction"] == "debit" else -1


def check_balances(api: Client, books: Books, hour: int | None) -> None:
    at = None if hour is None else START + timedelta(hours=hour)
    answer = api.get(BALANCES, {} if at is None else {"at": as_text(at)}).json()["data"]
    own = books.of(0)
    counted = [one for one in own if at is None or one.numbered_at <= at]
    assert answer["number"] == (len(counted) - 1 if counted else None)
    assets = {(one.entry.network, one.entry.asset) for one in counted}
    assert [(NETWORKS[balance["chain"]], balance["token"]) for balance in answer["balances"]] == sorted(assets)
    for balance in answer["balances"]:
        about = {"network": NETWORKS[balance["chain"]], "asset": balance["token"]}
        wanted = totals(own, about, at=at)
        assert {name: int(balance[name]) for name in wanted} == wanted
        assert balance["formatted"] == {name: whole_tokens(units, 18) for name, units in wanted.items()}


@pytest.mark.django_db
@pytest.mark.usefixtures("two_chains")
def test_random_filters_find_what_a_bookkeeper_finds(api: Client, partner: Partner) -> None:
    other = PartnerFactory.create(payout_wallet=random_checksum_address())

    @settings(max_examples=30, deadline=None, derandomize=True, database=None)
    @given(
        st.lists(steps, min_size=5, max_size=25),
        st.lists(queries, min_size=4, max_size=8),
        st.lists(steps, min_size=10, max_size=10),
        st.lists(st.none() | hours, min_size=2, max_size=4),
    )
    def check(made: list[Step], asked: list[dict[str, Any]], extra: list[Step], times: list[int | None]) -> None:
        with transaction.atomic():
            books = Books([partner, other])
            for step in made:
                books.post(step)
            for query in asked:
                check_pages(api, books, query, cycle(extra))
            for hour in times:
                check_balances(api, books, hour)
            transaction.set_rollback(True)

    check()
