"""GET /v1/sweep/history and /v2/sweep/history: a partner's sweeps in brief, newest first, page by page."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from partners.models import Partner
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.store.stored import columns_of
from sweeps.story.reach import HistoryFilter, sweeps_of_partner
from tests.factories.partners import PartnerFactory, requester_of
from tests.factories.solana_sweeps import MAINNET, SolanaSweepFactory
from tests.factories.sweeps import (
    SweepFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    evm_reading,
    executed_receipt,
    random_checksum_address,
)
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of
from tests.settling import settle

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("shipped_cluster")]

V1, V2 = "/v1/sweep/history", "/v2/sweep/history"
URLS = (V1, V2)
V2_RAILS = ("evm_v5", "evm_v4")


@pytest.fixture
def solana(change_networks: Callable[..., Networks]) -> Networks:
    """Enable the shipped cluster beside the local chain."""
    return change_networks(rpc_urls={"local": ["http://127.0.0.1:1"], "solana": ["http://127.0.0.1:1"]})


def page_of(api: Client, url: str = V2, **query: Any) -> dict[str, Any]:
    response = api.get(url, query)
    assert response.status_code == 200, response.content
    assert_documented(response, path=url)
    data: dict[str, Any] = response.json()["data"]
    return data


def ids(page: dict[str, Any]) -> list[str]:
    return [item["sweepId"] for item in page["items"]]


def ids_of(*sweeps: Sweep) -> list[str]:
    return [str(sweep.id) for sweep in sweeps]


def as_text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def built_at(moment: datetime, partner: Partner) -> Sweep:
    """Return a sweep that was built then."""
    sweep = SweepFactory.create(partner=partner)
    Sweep.objects.filter(id=sweep.id).update(created_at=moment)
    return sweep


def test_an_executed_sweep_is_listed_with_its_hash_and_its_fees(api: Client, partner: Partner) -> None:
    tx = SweepTransactionFactory.create(sweep__partner=partner)
    settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    sweep = Sweep.objects.get(id=tx.sweep.id)
    (item,) = page_of(api)["items"]
    assert (item["sweepId"], item["status"], item["open"]) == (str(sweep.id), "completed", True)
    assert (item["chain"], item["network"], item["mode"]) == ("local", "eip155:31337", "v5_partner_fees")
    assert (item["feeMode"], item["flags"], item["txHashes"]) == ("onchain_partner_fees", [], [tx.tx_hash])
    assert (item["wallet"], item["outputMint"], item["outputSymbol"]) == (sweep.wallet, sweep.output_asset, "OUT")
    assert (item["tokenCount"], item["outputDecimals"]) == (1, 18)
    assert sweep.completed_at is not None
    times = (sweep.created_at, sweep.deadline, sweep.completed_at)
    assert [item[name] for name in ("createdAt", "expiresAt", "confirmedAt")] == [as_text(time) for time in times]
    fees = item["fees"]
    assert (fees["totalFeeBps"], fees["partnerShareBps"]) == (75, 4000)
    assert (
        fees["expectedFees"]
        == fees["actualFees"]
        == {
            "grossOutput": "1000000",
            "totalFee": "7500",
            "partnerFee": "3000",
            "protocolFee": "4500",
            "userAmount": "992500",
        }
    )


def test_a_pending_sweep_has_neither_hashes_nor_actual_fees(api: Client, partner: Partner) -> None:
    SweepTransactionFactory.create(sweep__partner=partner)
    (item,) = page_of(api)["items"]
    assert (item["txHashes"], item["confirmedAt"], item["fees"]["actualFees"]) == ([], None, None)


def test_each_version_lists_its_own_rails(api: Client, partner: Partner) -> None:
    on_v5, on_v4 = SweepFactory.create(partner=partner), V4SweepFactory.create(partner=partner)
    on_solana = SolanaSweepFactory.create(partner=partner)
    assert ids(page_of(api, V1)) == ids_of(on_solana, on_v4)
    assert ids(page_of(api, V2)) == ids_of(on_v4, on_v5)
    assert {item["feeMode"] for item in page_of(api, V1)["items"]} == {"offchain_accounting"}


@pytest.mark.parametrize("url", URLS)
def test_a_partner_does_not_see_the_sweeps_of_another(api: Client, url: str) -> None:
    V4SweepFactory.create(partner=PartnerFactory.create())
    assert page_of(api, url) == {"items": [], "nextCursor": None}


@pytest.mark.parametrize("url", URLS)
def test_pages_have_neither_gaps_nor_repetitions_while_sweeps_are_built(
    api: Client, partner: Partner, url: str
) -> None:
    built = V4SweepFactory.create_batch(5, partner=partner)
    first = page_of(api, url, limit=2)
    V4SweepFactory.create(partner=partner)  # is newer than all of these, so it is not on a later page
    second = page_of(api, url, limit=2, cursor=first["nextCursor"])
    third = page_of(api, url, limit=2, cursor=second["nextCursor"])
    assert ids(first) + ids(second) + ids(third) == ids_of(*reversed(built))
    assert third["nextCursor"] is None


def test_sweeps_of_the_same_moment_are_paged_by_their_id(api: Client, partner: Partner) -> None:
    moment = timezone.now()
    built = [built_at(moment, partner) for _ in range(3)]
    first = page_of(api, limit=2)
    assert ids(first) + ids(page_of(api, limit=2, cursor=first["nextCursor"])) == ids_of(*reversed(built))


def test_sweeps_are_filtered_by_status(api: Client, partner: Partner) -> None:
    SweepFactory.create(partner=partner)
    failed = SweepFactory.create(partner=partner, status="failed")
    assert ids(page_of(api, status="failed")) == ids_of(failed)
    assert ids(page_of(api, status="void")) == []


@pytest.mark.usefixtures("solana")
def test_sweeps_are_filtered_by_chain_of_any_family(api: Client, partner: Partner) -> None:
    on_v4, on_solana = V4SweepFactory.create(partner=partner), SolanaSweepFactory.create(partner=partner)
    assert ids(page_of(api, V1, chain="local")) == ids_of(on_v4)
    assert ids(page_of(api, V1, chain="solana")) == ids_of(on_solana)
    (item,) = page_of(api, V1, chain="solana")["items"]
    assert (item["chain"], item["network"], item["mode"]) == ("solana", MAINNET, "v1_solana")
    assert ids(page_of(api, V2, chain="solana")) == []


@pytest.mark.parametrize("casing", [str, str.lower, lambda wallet: f"0x{wallet[2:].upper()}"])
def test_sweeps_are_filtered_by_an_evm_wallet_in_any_casing(
    api: Client, partner: Partner, casing: Callable[[str], str]
) -> None:
    wanted, _ = SweepFactory.create_batch(2, partner=partner)
    assert ids(page_of(api, wallet=casing(wanted.wallet))) == ids_of(wanted)
    assert ids(page_of(api, wallet=random_checksum_address())) == []


def test_sweeps_are_filtered_by_a_wallet_on_solana(api: Client, partner: Partner) -> None:
    wanted, _ = SolanaSweepFactory.create_batch(2, partner=partner)
    assert ids(page_of(api, V1, wallet=wanted.wallet)) == ids_of(wanted)


@pytest.mark.parametrize("url", URLS)
def test_sweeps_are_found_by_the_whole_reference_that_the_partner_gave_them(
    api: Client, partner: Partner, url: str
) -> None:
    wanted = V4SweepFactory.create_batch(2, partner=partner, client_reference="order 1017")
    for other in ("order 101", "order 10170", "Order 1017", " order 1017", ""):
        V4SweepFactory.create(partner=partner, client_reference=other)
    V4SweepFactory.create(client_reference="order 1017")
    page = page_of(api, url, clientReference="order 1017")
    assert ids(page) == ids_of(*reversed(wanted))
    assert {item["clientReference"] for item in page["items"]} == {"order 1017"}


def test_sweeps_are_filtered_by_time_including_from_and_excluding_to(api: Client, partner: Partner) -> None:
    moment, step = timezone.now() - timedelta(days=3), timedelta(microseconds=1)
    before, at, after = (built_at(moment + step * number, partner) for number in (-1, 0, 1))
    assert ids(page_of(api, **{"from": as_text(moment)})) == ids_of(after, at)
    assert ids(page_of(api, to=as_text(moment))) == ids_of(before)
    assert ids(page_of(api, **{"from": as_text(moment), "to": as_text(moment + step)})) == ids_of(at)


def test_filters_and_pages_combine(api: Client, partner: Partner) -> None:
    wallet = random_checksum_address()
    mine = SweepFactory.create_batch(3, partner=partner, wallet=wallet, status="failed")
    SweepFactory.create_batch(2, partner=partner, status="failed")
    query: dict[str, Any] = {"wallet": wallet, "status": "failed", "limit": 2}
    first = page_of(api, **query)
    assert ids(first) + ids(page_of(api, **query, cursor=first["nextCursor"])) == ids_of(*reversed(mine))


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"limit": "0"}, ("limit", "out_of_range")),
        ({"limit": "201"}, ("limit", "out_of_range")),
        ({"status": "done"}, ("status", "invalid_choice")),
        ({"status": ""}, ("status", "invalid_choice")),
        ({"wallet": ""}, ("wallet", "invalid_format")),
        ({"wallet": "0x12"}, ("wallet", "invalid_format")),
        ({"wallet": "0x5AaEb6053F3E94C9b9A09f33669435E7Ef1BeAed"}, ("wallet", "bad_checksum")),
        ({"wallet": "9VMqTbzWzv4T8Y6sk8oopessZq1vcU"}, ("wallet", "invalid_format")),
        ({"wallet": "9VMqTbzWzv4T8Y6sk8oopessZq1vcUWS5LbgDymZRko0"}, ("wallet", "invalid_format")),
        ({"wallet": "é" * 40}, ("wallet", "invalid_format")),
        ({"clientReference": ""}, ("clientReference", "invalid_format")),
        ({"clientReference": "two\nlines"}, ("clientReference", "invalid_format")),
        ({"clientReference": "a\0"}, ("clientReference", "invalid_format")),
        ({"clientReference": "x" * 65}, ("clientReference", "too_long")),
        ({"from": "2026-01-01"}, ("from", "invalid_format")),
        ({"to": "yesterday"}, ("to", "invalid_format")),
        ({"cursor": "abc"}, ("cursor", "invalid_format")),
        ({"page": "2"}, ("page", "unknown_field")),
        ({"since": "2026-01-01T00:00:00Z"}, ("since", "unknown_field")),
        ({"network": "eip155:31337"}, ("network", "unknown_field")),
    ],
)
def test_a_refused_query_names_the_parameter(
    api: Client, url: str, query: dict[str, str], detail: tuple[str, str]
) -> None:
    response = api.get(url, query)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {detail}


@pytest.mark.parametrize("url", [*URLS, "/v2/ledger/entries"])
def test_a_repeated_parameter_is_refused(api: Client, url: str) -> None:
    response = api.get(url, {"limit": ["2", "3"]})
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("limit", "duplicate_field")}


def test_a_parameter_that_the_key_decides_is_forbidden(api: Client) -> None:
    response = api.get("/v2/ledger/entries", {"partnerId": "x", "page": "2"})
    assert error_of(response) == (400, "forbidden_field")
    assert details_of(response) == {("partnerId", "forbidden_field")}


@pytest.mark.parametrize("wallet", ["952c690d972601be14e924356de8a059bbc910b6", "9VMqTbzWzv4T8Y6sk8oopessZq1vcU"])
def test_a_wallet_of_neither_form_is_answered_with_both(api: Client, wallet: str) -> None:
    (detail,) = api.get(V1, {"wallet": wallet}).json()["error"]["details"]
    assert detail["message"] == "A wallet is 0x followed by 40 hex digits, or on Solana 32 bytes in base58."


@pytest.mark.parametrize("url", URLS)
def test_an_unknown_chain_is_unsupported(api: Client, url: str) -> None:
    response = api.get(url, {"chain": "atlantis"})
    assert error_of(response) == (400, "unsupported_chain")
    assert details_of(response) == {("chain", "unsupported")}
    assert_documented(response, path=url)


@pytest.mark.parametrize("url", URLS)
def test_a_key_is_required_and_only_get_is_allowed(api: Client, anonymous: Client, url: str) -> None:
    assert error_of(anonymous.get(url)) == (401, "missing_api_key")
    assert error_of(api.post(url, {}, content_type="application/json")) == (405, "method_not_allowed")


@pytest.mark.parametrize("count", [1, 12])
def test_a_page_takes_the_same_queries_whatever_its_size(
    api: Client, partner: Partner, django_assert_num_queries: DjangoAssertNumQueries, count: int
) -> None:
    for tx in SweepTransactionFactory.create_batch(count, sweep__partner=partner):
        settle(sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx)))
    api.get(V2)  # records the use of the key
    # The key with its partner; the page; everything that is shown of its sweeps.
    with django_assert_num_queries(3):
        assert len(api.get(V2).json()["data"]["items"]) == count


@pytest.mark.parametrize(
    ("chosen", "index"),
    [
        ({}, "sweep_of_partner_by_time"),
        ({"since": timezone.now() - timedelta(days=2), "until": timezone.now()}, "sweep_of_partner_by_time"),
        ({"wallet": random_checksum_address()}, "sweep_of_wallet_by_time"),
        ({"client_reference": "order 1017"}, "sweep_of_reference_by_time"),
    ],
)
def test_an_index_serves_the_page_in_its_order(partner: Partner, chosen: dict[str, Any], index: str) -> None:
    many_sweeps(partner, 5_000)
    sweeps = sweeps_of_partner(requester_of(partner), HistoryFilter(**chosen), rails=V2_RAILS)
    page = sweeps.order_by("-created_at", "-pk")[:51]
    plan = page.explain()
    assert f"Index Scan using {index}" in plan
    assert "Sort" not in plan


def many_sweeps(partner: Partner, count: int) -> None:
    """Store copies of a sweep, one for each minute of the past."""
    sweep = SweepFactory.create(partner=partner)
    copied = ", ".join(column for column in columns_of(Sweep) if column not in ("id", "created_at"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO sweeps_sweep (id, created_at, {copied}) "  # noqa: S608 its own columns
            f"SELECT gen_random_uuid(), now() - number * interval '1 minute', {copied} "
            "FROM sweeps_sweep, generate_series(1, %s) AS number WHERE id = %s",
            [count, sweep.id],
        )
        cursor.execute("ANALYZE sweeps_sweep")
