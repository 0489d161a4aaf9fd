"""The ledger remembers how an asset is shown from the first sweep that booked it."""

import pytest
from django.db import IntegrityError, transaction

from ledger.models import Asset
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout
from tests.factories.partners import PartnerFactory
from tests.sessions import at_once


def known_assets() -> list[tuple[str, str, str, int]]:
    return list(Asset.objects.values_list("network", "asset", "symbol", "decimals"))


@pytest.mark.django_db
def test_the_first_fee_in_an_asset_stores_its_symbol_and_decimals(partner: Partner) -> None:
    book_payable(partner, 400, symbol="", decimals=255)
    book_payout(partner, 400)  # opens another account, and knows neither symbol nor decimals
    assert known_assets() == [(BASE, WETH, "", 255)]


@pytest.mark.django_db
def test_a_token_that_renames_itself_keeps_its_first_name(partner: Partner) -> None:
    book_fee(partner, symbol="WETH")
    book_fee(PartnerFactory.create(), symbol="USDC", decimals=6)
    assert known_assets() == [(BASE, WETH, "WETH", 18)]


@pytest.mark.django_db(transaction=True)
def test_concurrent_sessions_can_store_the_same_asset(partner: Partner) -> None:
    assert at_once(lambda: book_fee(partner), sessions=8) == [None] * 8
    assert known_assets() == [(BASE, WETH, "WETH", 18)]


@pytest.mark.django_db
def test_more_decimals_than_a_uint8_are_refused(partner: Partner) -> None:
    with pytest.raises(IntegrityError, match="asset_decimals_are_a_uint8"), transaction.atomic():
        book_fee(partner, decimals=256)
