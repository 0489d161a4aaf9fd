"""A cursor is good for the listing that returned it, with the same filters, and for nothing else."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from lab.bench.sweeps.numbers import number_by_time
from partners.models import ApiKey, Partner
from sweepapi.modes import Mode
from tests.factories.ledger import book_fee
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import LOCAL, SweepFactory
from tests.partner_app import details_of, error_of

pytestmark = pytest.mark.django_db

V2, V1, LEDGER = "/v2/sweep/history", "/v1/sweep/history", "/v2/ledger/entries"
LISTINGS = [V2, LEDGER]
REFUSED = ((400, "invalid_request"), {("cursor", "invalid_format")})


@pytest.fixture(autouse=True)
def three_of_each(partner: Partner) -> None:
    for _ in range(3):
        SweepFactory.create(partner=partner)
        book_fee(partner, network=LOCAL)
    number_by_time()


def cursor_of(api: Client, url: str, **query: Any) -> str:
    cursor = api.get(url, {"limit": "1", **query}).json()["data"]["nextCursor"]
    assert isinstance(cursor, str)
    return cursor


def answer(api: Client, url: str, **query: Any) -> Any:
    response = api.get(url, query)
    return (error_of(response), details_of(response)) if response.status_code != 200 else 200


@pytest.mark.parametrize("url", LISTINGS)
def test_a_cursor_takes_the_same_filters_in_any_order_and_any_limit(api: Client, url: str) -> None:
    cursor = cursor_of(api, url, chain="local", **{"from": "2026-01-01T00:00:00Z"})
    page = api.get(url, {"from": "2026-01-01T00:00:00Z", "cursor": cursor, "chain": "local", "limit": "200"})
    assert page.json()["data"]["nextCursor"] is None


@pytest.mark.parametrize("url", LISTINGS)
@pytest.mark.parametrize(
    "filters",
    [{"chain": "local"}, {"from": "2026-01-01T00:00:00Z"}, {"wallet": "0x00000000000000000000000000000000000000A1"}],
)
def test_a_cursor_is_refused_with_other_filters(api: Client, url: str, filters: dict[str, str]) -> None:
    assert answer(api, url, cursor=cursor_of(api, url), **filters) == REFUSED


@pytest.mark.parametrize("url", LISTINGS)
def test_every_change_of_a_cursor_is_refused(api: Client, url: str) -> None:
    cursor = cursor_of(api, url)
    changed = {cursor[:at] + other + cursor[at + 1 :] for at in range(len(cursor)) for other in "AB_"} - {cursor}
    changed |= {cursor[:-1], cursor + "A", cursor + "=", cursor * 2, cursor.swapcase(), f" {cursor}", cursor + "é"}
    assert {text for text in changed if answer(api, url, cursor=text) != REFUSED} == set()
    assert answer(api, url, cursor=cursor) == 200


def test_a_cursor_is_refused_by_another_listing(api: Client) -> None:
    cursors = {url: cursor_of(api, url) for url in LISTINGS}
    assert answer(api, V2, cursor=cursors[LEDGER]) == answer(api, LEDGER, cursor=cursors[V2]) == REFUSED
    assert answer(api, V1, cursor=cursors[V2]) == REFUSED


@pytest.mark.parametrize("url", LISTINGS)
def test_a_cursor_of_another_partner_is_refused(api: Client, url: str, key_of: Callable[[Partner], Client]) -> None:
    assert answer(key_of(PartnerFactory.create()), url, cursor=cursor_of(api, url)) == REFUSED


@pytest.mark.parametrize("url", LISTINGS)
def test_a_cursor_of_a_key_of_the_other_mode_is_refused(api: Client, url: str, partner: Partner) -> None:
    live = Client(headers={"x-api-key": ApiKey.issue(partner=partner, name="live", mode=Mode.LIVE)[1]})
    assert answer(live, url, cursor=cursor_of(api, url)) == REFUSED


@pytest.mark.parametrize("url", LISTINGS)
def test_a_cursor_sealed_with_another_secret_is_refused(api: Client, url: str, settings: Settings) -> None:
    cursor = cursor_of(api, url)
    settings.SECRET_KEY = "another"
    assert answer(api, url, cursor=cursor) == REFUSED


@pytest.fixture
def key_of() -> Callable[[Partner], Client]:
    """Return a maker of clients that send a key of a partner."""
    return lambda partner: Client(headers={"x-api-key": ApiKey.issue(partner=partner, name="other", mode=Mode.TEST)[1]})
