"""What a partner earned by sweeps of every rail is on one statement, on its page and in its CSV."""

import csv
from collections.abc import Callable
from dataclasses import replace
from io import StringIO

import pytest
from django.conf import settings
from django.contrib.auth.models import User

from lab.bench.sweeps.numbers import number_by_time
from ledger.entries.posting import post_payout
from ledger.models import JournalEntry
from ledger.payout_rules import Transfer
from ledger.statements.month import Month
from ledger.statements.spreadsheet import csv_chunks
from partners.models import Partner
from sweepapi.networks import Networks
from sweepapi.solana.cluster.clusters import load_clusters
from sweeps.models import Sweep
from sweeps.protocol.rail import ExecutionVerdict
from sweeps.rails.registry import RAILS
from tests.factories.partners import PayoutWalletFactory
from tests.factories.solana_sweeps import (
    MAINNET,
    USDC,
    SolanaExecutionFactory,
    SolanaSweepFactory,
    random_key,
    random_signature,
)
from tests.factories.sweeps import (
    LOCAL,
    OUTPUT,
    SweepFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    evm_reading,
    executed_receipt,
)
from tests.operator_browser import ConsoleClient, reverse
from tests.settling import settle
from tests.sweeps.settle.verdicts import FINAL, DecidedRail, apply, executed

pytestmark = pytest.mark.django_db

PARTNER_FEE = 3_000  # 40 % of 75 bps of a million units


@pytest.fixture
def v5(partner: Partner) -> Sweep:
    return completed(SweepFactory.create(partner=partner))


@pytest.fixture
def v4(partner: Partner) -> Sweep:
    return completed(V4SweepFactory.create(partner=partner))


@pytest.fixture
def v1(partner: Partner, monkeypatch: pytest.MonkeyPatch) -> Sweep:
    """A sweep of two transactions, both final."""
    monkeypatch.setitem(RAILS, "solana_v1", DecidedRail())
    sweep = SolanaSweepFactory.create(partner=partner)
    SolanaExecutionFactory.create(sweep=sweep, position=1)
    sweep = apply(sweep, landed(), landed())
    return apply(sweep, FINAL, FINAL)


def landed() -> ExecutionVerdict:
    """Return the verdict that a transaction on Solana was found."""
    verdict = executed()
    (transaction,) = verdict.transactions
    return replace(verdict, transactions=[replace(transaction, tx_hash=random_signature())])


def completed(sweep: Sweep) -> Sweep:
    tx = SweepTransactionFactory.create(sweep=sweep)
    settle(sweep_id=sweep.id, reading=evm_reading(executed_receipt(tx)))
    return Sweep.objects.get(id=sweep.id)


def entries_of(sweep: Sweep) -> list[JournalEntry]:
    return list(JournalEntry.objects.filter(sweep_ref=sweep.id).order_by("posted_at", "pk"))


def pay(partner: Partner, amount: int) -> JournalEntry:
    """Book a payout on Solana."""
    wallet = PayoutWalletFactory.create(partner=partner, network=MAINNET, address=random_key()).address
    transfer = Transfer(
        partner=partner, network=MAINNET, asset=USDC, tx_hash=random_signature(), amount=amount, recipient=wallet
    )
    return post_payout(transfer, sender=None, block_number=None, recorded_by="alice", note="")


def test_the_csv_has_the_lines_of_every_rail(partner: Partner, v5: Sweep, v4: Sweep, v1: Sweep) -> None:
    paid = pay(partner, 1_000)
    number_by_time()
    month = Month.of(paid.posted_at)
    records = list(csv.DictReader(StringIO("".join(csv_chunks(partner, month)), newline=""), strict=True))
    lines = [
        (line["network"], line["sweep_id"], line["tx_hash"], line["accrued"], line["settled_on_chain"], line["paid"])
        for line in records
        if line["record"] == "line"
    ]
    fee = str(PARTNER_FEE)
    assert lines == [
        (LOCAL, str(v5.id), entries_of(v5)[0].tx_hash, "", fee, ""),
        (LOCAL, str(v4.id), entries_of(v4)[0].tx_hash, fee, "", ""),
        *[(MAINNET, str(v1.id), entry.tx_hash, fee, "", "") for entry in entries_of(v1)],
        (MAINNET, "", paid.tx_hash, "", "", "1000"),
    ]
    closings = [(line["network"], line["balance"], line["final"]) for line in records if line["record"] == "closing"]
    assert closings == [(LOCAL, fee, "0"), (MAINNET, "5000", "5000")]


def test_the_page_has_the_lines_of_every_rail_and_links_to_the_explorer(
    partner: Partner, v5: Sweep, v4: Sweep, v1: Sweep, change_networks: Callable[..., Networks]
) -> None:
    change_networks(clusters=load_clusters(settings.BASE_DIR / "config" / "clusters.toml"))
    number_by_time()
    client = ConsoleClient()
    client.force_login(User.objects.create_superuser("ops"))
    month = Month.of(entries_of(v1)[0].posted_at)
    page = client.get(reverse("admin:ledger_statement", args=[partner.pk, month])).content.decode()
    assert [sweep.id for sweep in (v5, v4, v1) if f"sweep {sweep.id}" not in page] == []
    assert [text for text in ("OUT on local", OUTPUT, "USDC on solana", USDC) if text not in page] == []
    for entry in entries_of(v1):
        assert f'href="https://explorer.solana.com/tx/{entry.tx_hash}"' in page
