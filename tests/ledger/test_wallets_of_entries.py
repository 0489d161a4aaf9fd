"""An entry names the wallet of its sweep."""

import pytest

from ledger.entries.posting import reverse
from ledger.models import JournalEntry
from partners.models import Partner
from tests.factories.ledger import book_payable, book_payout

pytestmark = pytest.mark.django_db

WALLET = "0x00000000000000000000000000000000000000A1"


def wallets() -> list[str | None]:
    return list(JournalEntry.objects.order_by("pk").values_list("wallet", flat=True))


def test_a_fee_and_its_reversal_have_the_wallet_and_a_payout_has_none(partner: Partner) -> None:
    reverse(book_payable(partner, 400))
    book_payable(partner, 400)
    book_payout(partner, 400)
    assert wallets() == [WALLET, WALLET, WALLET, None]
