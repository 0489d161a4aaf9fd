"""GET /v2/ledger/balances: what a partner earned, was paid and is owed, now or at a time."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from lab.bench.sweeps.numbers import number_by_time
from ledger.entries.posting import finalize, reverse
from ledger.models import Finality
from partners.models import Partner
from sweepapi.fields import UINT256_MAX
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout
from tests.factories.partners import PartnerFactory
from tests.factories.past import fee_at, open_accounts, payout_at
from tests.factories.sweeps import random_checksum_address
from tests.openapi import assert_documented
from tests.partner_app import details_of, error_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("two_chains")]

URL = "/v2/ledger/balances"


def balances(api: Client, **query: str) -> dict[str, Any]:
    """Return the balances of what was booked until now."""
    number_by_time()
    response = api.get(URL, query)
    assert response.status_code == 200, response.content
    assert_documented(response, path=URL)
    data: dict[str, Any] = response.json()["data"]
    return data


def test_a_balance_has_what_was_earned_paid_and_is_owed(api: Client, partner: Partner) -> None:
    book_fee(partner, partner_fee=400)
    book_payable(partner, 5_000)
    book_payable(partner, 70, final=False)
    book_payout(partner, 1_000)
    assert balances(api) == {
        "at": None,
        "number": 3,
        "balances": [
            {
                "chain": "base",
                "token": WETH,
                "symbol": "WETH",
                "decimals": 18,
                "earned": "5470",
                "settled": "400",
                "accrued": "5070",
                "paid": "1000",
                "owed": "4070",
                "available": "4000",
                "formatted": {
                    "earned": "0.00000000000000547",
                    "settled": "0.0000000000000004",
                    "accrued": "0.00000000000000507",
                    "paid": "0.000000000000001",
                    "owed": "0.00000000000000407",
                    "available": "0.000000000000004",
                },
            }
        ],
    }


def test_a_debt_is_below_zero(api: Client, partner: Partner) -> None:
    fee = book_payable(partner, 400)
    book_payout(partner, 400)
    reverse(fee)
    (balance,) = balances(api)["balances"]
    assert (balance["accrued"], balance["paid"], balance["owed"], balance["available"]) == ("0", "400", "-400", "-400")
    assert balance["formatted"]["owed"] == "-0.0000000000000004"


def test_the_past_counts_what_was_numbered_and_final_by_then(api: Client, partner: Partner) -> None:
    now = timezone.now()
    fee = fee_at(now - timedelta(days=3), partner, 300)
    finalize([fee.pk])
    payout_at(now - timedelta(days=1), partner, 100)

    def at(moment: Any) -> tuple[Any, ...]:
        data = balances(api, at=moment.isoformat().replace("+00:00", "Z"))
        figures = [(one["accrued"], one["paid"], one["available"]) for one in data["balances"]]
        return data["number"], *figures

    assert at(now - timedelta(days=4)) == (None,)
    assert at(now - timedelta(days=3)) == (0, ("300", "0", "0"))
    assert at(now - timedelta(days=1)) == (1, ("300", "100", "-100"))
    assert at(Finality.objects.get().final_at) == (1, ("300", "100", "200"))


def test_sums_beyond_a_uint256_are_exact(api: Client, partner: Partner) -> None:
    for _ in range(3):
        book_fee(partner, total_fee=UINT256_MAX, partner_fee=UINT256_MAX)
    assert balances(api)["balances"][0]["earned"] == str(3 * UINT256_MAX)


def test_assets_are_kept_apart_and_those_without_a_symbol_are_shown_in_the_smallest_unit(
    api: Client, partner: Partner
) -> None:
    book_fee(partner, network="eip155:42161")
    open_accounts(partner)
    book_fee(partner, network=BASE)
    shown = [(one["chain"], one["symbol"], one["decimals"], one["formatted"]) for one in balances(api)["balances"]]
    assert [one[:3] for one in shown] == [("arbitrum", "WETH", 18), ("base", None, None)]
    assert shown[1][3] is None


def test_entries_without_a_number_and_those_of_other_partners_do_not_count(api: Client, partner: Partner) -> None:
    book_fee(PartnerFactory.create())
    assert balances(api) == {"at": None, "number": None, "balances": []}
    book_fee(partner)
    assert api.get(URL).json()["data"]["balances"] == []


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ({"at": "yesterday"}, ("at", "invalid_format")),
        ({"at": "2026-01-01"}, ("at", "invalid_format")),
        ({"limit": "1"}, ("limit", "unknown_field")),
        ({"at": ["2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"]}, ("at", "duplicate_field")),
    ],
)
def test_a_refused_query_names_the_parameter(api: Client, query: dict[str, Any], detail: tuple[str, str]) -> None:
    response = api.get(URL, query)
    assert (error_of(response), details_of(response)) == ((400, "invalid_request"), {detail})
    assert_documented(response, path=URL)


def test_a_key_is_required_and_only_get_is_allowed(api: Client, anonymous: Client) -> None:
    assert error_of(anonymous.get(URL)) == (401, "missing_api_key")
    assert error_of(api.post(URL, data={}, content_type="application/json")) == (405, "method_not_allowed")


def test_the_number_of_queries_does_not_grow_with_entries_or_tokens(
    api: Client, partner: Partner, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    book_fee(partner)
    balances(api)  # records the use of the key
    for fees in (0, 10):
        for _ in range(fees):
            book_fee(partner, asset=random_checksum_address())
        number_by_time()
        with django_assert_num_queries(4):  # the key with its partner; the last number; the sums; the assets
            assert len(api.get(URL).json()["data"]["balances"]) == 1 + fees
