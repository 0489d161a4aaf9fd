"""Books entries of other times than now, while the database's clock does not decide when they were posted."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import pgtrigger
from django.db import connection, transaction
from django.db.models.signals import post_init

from lab.bench.sweeps.numbers import number_by_time
from ledger import triggers
from ledger.entries.posting import reverse
from ledger.models import Account, JournalEntry, Settlement
from partners.models import Partner
from tests.factories.ledger import BASE, WETH, book_fee, book_payout, undo_payout


@contextmanager
def posting_at(moment: datetime) -> Iterator[None]:
    """Have the entries that are posted in this block, which is one transaction, posted and numbered at this time."""

    def set_time(instance: JournalEntry, **_: object) -> None:
        instance.posted_at = moment

    post_init.connect(set_time, sender=JournalEntry)
    try:
        with transaction.atomic():
            with switched_off(triggers.entry_takes_the_time, triggers.entry_is_committed_soon):
                yield
            number_by_time()
    finally:
        post_init.disconnect(set_time, sender=JournalEntry)


@contextmanager
def switched_off(*rules: pgtrigger.Trigger) -> Iterator[None]:
    """Disable these triggers of entries in this block of a transaction; the others check what was posted in it."""
    _alter("DISABLE", rules)
    yield
    _alter("ENABLE", rules)


def _alter(action: str, rules: Iterable[pgtrigger.Trigger]) -> None:
    connection.check_constraints()  # a table whose deferred checks are pending can't be altered
    with connection.cursor() as cursor:
        for rule in rules:
            cursor.execute(f"ALTER TABLE ledger_journalentry {action} TRIGGER {rule.get_pgid(JournalEntry())}")


def fee_at(moment: datetime, partner: Partner, amount: int, **facts: Any) -> JournalEntry:
    """Post a fee of which this amount is the partner's, and owed to it unless the facts differ."""
    facts = {"settlement": Settlement.PAYABLE, "total_fee": 2 * amount, "partner_fee": amount} | facts
    with posting_at(moment):
        return book_fee(partner, **facts)


def payout_at(moment: datetime, partner: Partner, amount: int, **facts: Any) -> JournalEntry:
    """Post a payout of what is available."""
    with posting_at(moment):
        return book_payout(partner, amount, **facts)


def reversal_at(moment: datetime, entry: JournalEntry) -> JournalEntry:
    """Reverse a fee or a payout."""
    with posting_at(moment):
        return undo_payout(entry) if entry.kind == JournalEntry.Kind.PAYOUT else reverse(entry)


def open_accounts(partner: Partner, *, network: str = BASE, asset: str = WETH) -> None:
    """Open the accounts of an asset without storing how it is shown, as the ledger first did."""
    for name in Account.Name.values:
        owner = partner if name.startswith("partner_") else None
        Account.objects.get_or_create(name=name, partner=owner, network=network, asset=asset)
