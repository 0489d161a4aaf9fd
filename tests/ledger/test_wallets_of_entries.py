"""An entry names the wallet of its sweep, also if it was booked before the ledger stored wallets."""

from importlib import import_module

import pytest
from django.db import connection

from dev.bench_sweeps.copies import without_triggers
from ledger.models import JournalEntry
from ledger.posting import reverse
from partners.models import Partner
from tests.factories.ledger import book_fee, book_payable, book_payout
from tests.factories.sweeps import SweepFactory

pytestmark = pytest.mark.django_db

wallets_of_entries = import_module("sweeps.migrations.0022_wallets_of_entries")
WALLET = "0x00000000000000000000000000000000000000A1"


def wallets() -> list[str | None]:
    return list(JournalEntry.objects.order_by("pk").values_list("wallet", flat=True))


def test_a_fee_and_its_reversal_have_the_wallet_and_a_payout_has_none(partner: Partner) -> None:
    reverse(book_payable(partner, 400))
    book_payable(partner, 400)
    book_payout(partner, 400)
    assert wallets() == [WALLET, WALLET, WALLET, None]


def test_the_migration_names_the_wallets_of_entries_whose_sweep_is_stored(partner: Partner) -> None:
    sweep = SweepFactory.create(partner=partner)
    reverse(book_fee(partner, sweep_ref=sweep.id))
    book_fee(partner)  # the sweep of which was lost
    connection.check_constraints()
    with without_triggers():
        JournalEntry.objects.update(wallet=None)
    for _ in range(2):  # more than once does no harm
        with connection.cursor() as cursor:
            cursor.execute(wallets_of_entries.NAME_WALLETS)
        assert wallets() == [sweep.wallet, sweep.wallet, None]
