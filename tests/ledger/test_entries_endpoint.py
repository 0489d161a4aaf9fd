"""GET /v2/ledger/entries: a partner's postings, newest first, page by page."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ledger.posting import reverse
from ledger.reading import postings_of
from ledger.serializers import PostingSerializer
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, undo_payout
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

URL = "/v2/ledger/entries"


def page_of(api: Client, **query: Any) -> dict[str, Any]:
    response = api.get(URL, query)
    assert response.status_code == 200
    data: dict[str, Any] = response.json()["data"]
    return data


def error_of(api: Client, **query: Any) -> tuple[int, str, list[tuple[str, str]]]:
    response = api.get(URL, query)
    error = response.json()["error"]
    return response.status_code, error["code"], [(d["field"], d["code"]) for d in error["details"]]


def test_payouts_are_listed_without_who_recorded_them_and_why(api: Client, partner: Partner) -> None:
    book_payable(partner, 400)
    reversal = undo_payout(book_payout(partner, 300))
    response = api.get(URL, {"limit": 4})
    items = response.json()["data"]["items"]
    assert [(item["kind"], item["account"], item["direction"], item["amount"]) for item in items] == [
        ("payout_reversal", "partner_paid", "debit", "300"),
        ("payout_reversal", "partner_payable", "credit", "300"),
        ("payout", "partner_paid", "credit", "300"),
        ("payout", "partner_payable", "debit", "300"),
    ]
    assert items[0]["reverses"] == str(reversal.reverses_id)
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
    }
    assert (item["entryId"], item["kind"]) == (str(entry.pk), "sweep_fee")
    assert (item["token"], item["chain"], item["txHash"]) == (WETH, "base", entry.tx_hash)
    assert datetime.fromisoformat(item["postedAt"]) == entry.posted_at
    assert item["postedAt"].endswith("Z")
    assert item["reverses"] is None


def test_a_reversal_names_the_entry_that_it_reverses(api: Client, partner: Partner) -> None:
    entry = book_fee(partner)
    reverse(entry)
    item = page_of(api)["items"][0]
    assert (item["kind"], item["reverses"]) == ("reversal", str(entry.pk))


def test_a_partner_does_not_see_the_entries_of_another(api: Client) -> None:
    book_fee(PartnerFactory.create())
    assert page_of(api)["items"] == []


def test_pages_have_neither_gaps_nor_repetitions(api: Client, partner: Partner) -> None:
    for _ in range(4):
        book_fee(partner)
    seen: list[str] = []
    cursor: dict[str, str] = {}
    while cursor is not None:
        page = page_of(api, limit=5, **cursor)
        seen += [item["id"] for item in page["items"]]
        book_fee(partner)  # is newer than all of these, so it is not on a later page
        if page["nextCursor"] is None:
            break
        cursor = {"cursor": page["nextCursor"]}
    assert len(seen) == 12
    assert seen == sorted(set(seen), reverse=True)


def test_postings_of_the_same_moment_are_paged_by_their_id(api: Client, partner: Partner) -> None:
    moment = timezone.now()
    for _ in range(3):
        fee_at(moment, partner, 1, partner_fee=1, total_fee=1)
    first = page_of(api, limit=4)
    second = page_of(api, limit=4, cursor=first["nextCursor"])
    ids = [item["id"] for item in first["items"] + second["items"]]
    assert ids == sorted(set(ids), reverse=True)
    assert len(ids) == 6


def test_the_last_page_has_no_cursor_even_if_it_is_full(api: Client, partner: Partner) -> None:
    book_fee(partner)
    assert page_of(api, limit=3)["nextCursor"] is None


def test_entries_are_filtered_by_chain(api: Client, partner: Partner) -> None:
    book_fee(partner, network=BASE)
    book_fee(partner, network="eip155:42161")
    assert {item["chain"] for item in page_of(api, chain="arbitrum")["items"]} == {"arbitrum"}


def test_entries_are_filtered_by_time_including_from_and_excluding_to(api: Client, partner: Partner) -> None:
    posted = book_fee(partner).posted_at.astimezone(UTC)

    def count(**window: datetime) -> int:
        return len(
            page_of(api, **{name: time.isoformat().replace("+00:00", "Z") for name, time in window.items()})["items"]
        )

    moment = timedelta(microseconds=1)
    assert count(**{"from": posted}) == 3
    assert count(**{"from": posted + moment}) == 0
    assert count(to=posted) == 0
    assert count(**{"from": posted, "to": posted + moment}) == 3


def test_an_unknown_chain_is_unsupported(api: Client) -> None:
    assert error_of(api, chain="atlantis") == (400, "unsupported_chain", [("chain", "unsupported")])


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"limit": "0"}, ("limit", "out_of_range")),
        ({"limit": "201"}, ("limit", "out_of_range")),
        ({"limit": "x"}, ("limit", "invalid_format")),
        ({"limit": "1.5"}, ("limit", "invalid_format")),
        ({"limit": "9" * 5000}, ("limit", "too_long")),
        ({"from": "2026-01-01"}, ("from", "invalid_format")),
        ({"from": "2026-01-01T00:00:00"}, ("from", "invalid_format")),
        ({"to": "2026-13-01T00:00:00Z"}, ("to", "invalid_format")),
        ({"to": "0001-01-01T00:00:00+14:00"}, ("to", "invalid_format")),
        ({"status": "completed"}, ("status", "unknown_field")),
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
    for _ in range(10):
        book_fee(partner)
    page_of(api)  # records the use of the key
    with django_assert_num_queries(2):  # the key with its partner; the page
        page_of(api)


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
