"""GET /v2/ledger/entries: a partner's entries, newest first, page by page."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from lab.bench.sweeps.numbers import number_by_time
from ledger.entries.posting import finalize, reverse
from ledger.entries.reading import postings_of
from ledger.serializers import PostingSerializer
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, undo_payout
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, open_accounts
from tests.factories.sweeps import random_checksum_address
from tests.openapi import assert_documented

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

URL = "/v2/ledger/entries"
USDC = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"


def page_of(api: Client, **query: Any) -> dict[str, Any]:
    """Return a page of what was booked until now."""
    number_by_time()
    response = api.get(URL, query)
    assert response.status_code == 200
    assert_documented(response, path=URL)
    data: dict[str, Any] = response.json()["data"]
    return data


def error_of(api: Client, **query: Any) -> tuple[int, str, list[tuple[str, str]]]:
    response = api.get(URL, query)
    error = response.json()["error"]
    return response.status_code, error["code"], [(d["field"], d["code"]) for d in error["details"]]


def test_payouts_are_listed_without_who_recorded_them_and_why(api: Client, partner: Partner) -> None:
    book_payable(partner, 400)
    reversal = undo_payout(book_payout(partner, 300))
    number_by_time()
    response = api.get(URL, {"limit": 2})
    items = response.json()["data"]["items"]
    assert [(item["kind"], item["account"], item["direction"], item["amount"]) for item in items] == [
        ("payout_reversal", "partner_paid", "debit", "300"),
        ("payout_reversal", "partner_payable", "credit", "300"),
        ("payout", "partner_paid", "credit", "300"),
        ("payout", "partner_payable", "debit", "300"),
    ]
    assert items[0]["reverses"] == str(reversal.reverses_id)
    assert {(item["sweepId"], item["wallet"]) for item in items} == {(None, None)}
    assert reversal.note not in response.content.decode()
    assert f'"{reversal.recorded_by}"' not in response.content.decode()


def test_an_item_is_a_posting_with_the_facts_of_its_entry(api: Client, partner: Partner) -> None:
    entry = book_fee(partner, total_fee=UINT256_MAX, partner_fee=1)
    page = page_of(api)
    assert page["nextCursor"] is None
    assert [(item["account"], item["direction"], item["amount"]) for item in page["items"]] == [
        ("protocol_revenue", "credit", str(UINT256_MAX - 1)),
        ("partner_settled", "credit", "1"),
        ("fees_charged", "debit", str(UINT256_MAX)),
    ]
    item = page["items"][0]
    assert item.keys() == {
        "id",
        "entryId",
        "kind",
        "account",
        "direction",
        "amount",
        "token",
        "chain",
        "txHash",
        "postedAt",
        "reverses",
        "number",
        "numberedAt",
        "sweepId",
        "wallet",
        "symbol",
        "decimals",
        "amountFormatted",
    }
    assert (item["entryId"], item["kind"]) == (str(entry.pk), "sweep_fee")
    assert (item["token"], item["chain"], item["txHash"]) == (WETH, "base", entry.tx_hash)
    assert datetime.fromisoformat(item["postedAt"]) == entry.posted_at
    assert item["postedAt"].endswith("Z")
    assert item["reverses"] is None
    assert (item["number"], item["sweepId"], item["wallet"]) == (0, str(entry.sweep_ref), entry.wallet)
    assert datetime.fromisoformat(item["numberedAt"]) == entry.numbered.numbered_at
    assert (item["symbol"], item["decimals"]) == ("WETH", 18)
    assert [item["amountFormatted"] for item in page["items"][1:]] == [
        "0.000000000000000001",
        "115792089237316195423570985008687907853269984665640564039457.584007913129639935",
    ]


def test_a_reversal_names_the_entry_that_it_reverses(api: Client, partner: Partner) -> None:
    entry = book_fee(partner)
    reverse(entry)
    item = page_of(api)["items"][0]
    assert (item["kind"], item["reverses"]) == ("reversal", str(entry.pk))


def test_a_partner_does_not_see_the_entries_of_another(api: Client) -> None:
    book_fee(PartnerFactory.create())
    assert page_of(api)["items"] == []


def test_an_asset_that_the_ledger_does_not_know_has_no_symbol_and_no_whole_tokens(
    api: Client, partner: Partner
) -> None:
    open_accounts(partner)
    book_fee(partner)
    for item in page_of(api)["items"]:
        assert (item["symbol"], item["decimals"], item["amountFormatted"]) == (None, None, None)


def test_an_entry_is_listed_once_it_has_its_number(api: Client, partner: Partner) -> None:
    entry = book_fee(partner)
    assert api.get(URL).json()["data"] == {"items": [], "nextCursor": None}
    assert {item["entryId"] for item in page_of(api)["items"]} == {str(entry.pk)}


def test_numbers_are_the_partners_own_and_have_no_gaps(api: Client, partner: Partner) -> None:
    for owner in (partner, PartnerFactory.create(), partner, partner):
        book_fee(owner)
    assert [item["number"] for item in page_of(api, account="fees_charged")["items"]] == [2, 1, 0]


def test_pages_have_neither_gaps_nor_repetitions(api: Client, partner: Partner) -> None:
    for _ in range(4):
        book_fee(partner)
    pages: list[list[dict[str, Any]]] = []
    cursor: dict[str, str] = {}
    while cursor is not None:
        page = page_of(api, limit=3, **cursor)
        pages.append(page["items"])
        book_fee(partner)  # is newer than all of these, so it is not on a later page
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    seen = [item["id"] for items in pages for item in items]
    assert [len(items) for items in pages] == [9, 3]
    assert seen == sorted(set(seen), reverse=True)


def test_a_page_splits_no_entry(api: Client, partner: Partner) -> None:
    entries = [book_fee(partner) for _ in range(3)]
    page = page_of(api, limit=2)
    assert [item["entryId"] for item in page["items"]] == [str(entry.pk) for entry in entries[:0:-1] for _ in range(3)]


def test_an_entry_of_a_time_before_those_that_were_listed_is_the_newest(api: Client, partner: Partner) -> None:
    later = book_fee(partner)
    page_of(api)
    early = fee_at(timezone.now() - timedelta(hours=1), partner, 1)
    items = page_of(api, account="fees_charged")["items"]
    assert [item["entryId"] for item in items] == [str(early.pk), str(later.pk)]
    assert items[0]["postedAt"] < items[1]["postedAt"]


def test_the_last_page_has_no_cursor_even_if_it_is_full(api: Client, partner: Partner) -> None:
    book_fee(partner)
    assert page_of(api, limit=1)["nextCursor"] is None


def test_entries_are_filtered_by_chain(api: Client, partner: Partner) -> None:
    book_fee(partner, network=BASE)
    book_fee(partner, network="eip155:42161")
    assert {item["chain"] for item in page_of(api, chain="arbitrum")["items"]} == {"arbitrum"}


def test_entries_are_filtered_by_time_including_from_and_excluding_to(api: Client, partner: Partner) -> None:
    entry = book_fee(partner)
    number_by_time()
    posted = entry.numbered.numbered_at.astimezone(UTC)

    def count(**window: datetime) -> int:
        return len(
            page_of(api, **{name: time.isoformat().replace("+00:00", "Z") for name, time in window.items()})["items"]
        )

    moment = timedelta(microseconds=1)
    assert count(**{"from": posted}) == 3
    assert count(**{"from": posted + moment}) == 0
    assert count(to=posted) == 0
    assert count(**{"from": posted, "to": posted + moment}) == 3
    assert count(**{"from": posted + moment, "to": posted - moment}) == 0


def test_entries_are_filtered_by_what_they_are_about(api: Client, partner: Partner) -> None:
    wallet = random_checksum_address()
    fee = book_fee(partner, wallet=wallet, asset=USDC)
    finalize([book_payable(partner, 400).pk])
    paid = book_payout(partner, 100)
    reverse(fee)

    def found(**query: str) -> list[str]:
        return [item["kind"] for item in page_of(api, **query)["items"]]

    assert found(wallet=wallet.lower()) == ["reversal"] * 3 + ["sweep_fee"] * 3
    assert found(token=USDC.lower(), kind="sweep_fee") == ["sweep_fee"] * 3
    assert found(sweepId=str(fee.sweep_ref), kind="reversal") == ["reversal"] * 3
    assert found(txHash=paid.tx_hash.replace("a", "A")) == ["payout"] * 2
    assert found(account="partner_paid") == ["payout"]
    assert found(account="partner_payable") == ["payout", "sweep_fee"]
    assert found(account="partner_paid", kind="sweep_fee") == []
    assert found(token=USDC, wallet=paid.asset) == []


def test_an_unknown_chain_is_unsupported(api: Client) -> None:
    assert error_of(api, chain="atlantis") == (400, "unsupported_chain", [("chain", "unsupported")])


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"limit": "0"}, ("limit", "out_of_range")),
        ({"limit": "201"}, ("limit", "out_of_range")),
        ({"limit": "x"}, ("limit", "invalid_format")),
        ({"limit": "1.5"}, ("limit", "invalid_format")),
        ({"limit": "5.0"}, ("limit", "invalid_format")),
        ({"limit": "1_0"}, ("limit", "invalid_format")),
        ({"limit": " 5"}, ("limit", "invalid_format")),
        ({"limit": "\u0663"}, ("limit", "invalid_format")),
        ({"limit": "-1"}, ("limit", "out_of_range")),
        ({"limit": "9" * 5000}, ("limit", "too_long")),
        ({"from": "2026-01-01"}, ("from", "invalid_format")),
        ({"from": "2026-01-01T00:00:00"}, ("from", "invalid_format")),
        ({"to": "2026-13-01T00:00:00Z"}, ("to", "invalid_format")),
        ({"to": "0001-01-01T00:00:00+14:00"}, ("to", "invalid_format")),
        ({"status": "completed"}, ("status", "unknown_field")),
        ({"kind": "fee"}, ("kind", "invalid_choice")),
        ({"account": "cash"}, ("account", "invalid_choice")),
        ({"token": "USDC"}, ("token", "invalid_format")),
        ({"token": "0x833589FCD6eDb6E08f4c7C32D4f71b54bdA02913"}, ("token", "bad_checksum")),
        ({"wallet": "\0"}, ("wallet", "invalid_format")),
        ({"sweepId": "019CADE2-8880-71B0-8136-5A2051519EA6"}, ("sweepId", "invalid_format")),
        ({"sweepId": "1"}, ("sweepId", "invalid_format")),
        ({"txHash": "0x12"}, ("txHash", "invalid_format")),
        ({"cursor": ""}, ("cursor", "invalid_format")),
        ({"cursor": "abc"}, ("cursor", "invalid_format")),
        ({"cursor": "A" * 31 + "!"}, ("cursor", "invalid_format")),
        ({"cursor": "A" * 36}, ("cursor", "invalid_format")),
        ({"cursor": "f" + "_" * 31}, ("cursor", "invalid_format")),
        ({"cursor": "é" * 32}, ("cursor", "invalid_format")),
    ],
)
def test_a_refused_query_names_the_parameter(api: Client, query: dict[str, str], detail: tuple[str, str]) -> None:
    assert error_of(api, **query) == (400, "invalid_request", [detail])


def test_a_key_is_required(anonymous: Client) -> None:
    assert error_of(anonymous) == (401, "missing_api_key", [])


def test_only_get_is_allowed(api: Client) -> None:
    response = api.post(URL, data={}, content_type="application/json")
    assert (response.status_code, response.json()["error"]["code"]) == (405, "method_not_allowed")


def test_the_number_of_queries_does_not_grow_with_the_page(
    api: Client, partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_fee(partner)
    page_of(api)  # records the use of the key
    for fees in (0, 10):
        for number in range(fees):
            book_fee(partner, asset=random_checksum_address(), network=f"eip155:{1 + number}")
        number_by_time()
        # The key with its partner; the numbers with their entries; the postings with their accounts; the assets.
        with django_assert_num_queries(4):
            assert api.get(URL).status_code == 200


def test_the_postings_of_a_sweep_come_in_order_and_in_one_query(
    partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    sweep_ref = uuid4()
    entry = book_fee(partner, sweep_ref=sweep_ref)
    reverse(entry)
    book_fee(partner)
    with django_assert_num_queries(1):
        shown = PostingSerializer(postings_of(sweep_ref), many=True).data
    assert [item["kind"] for item in shown] == ["sweep_fee"] * 3 + ["reversal"] * 3
