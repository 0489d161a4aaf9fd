"""Payouts on Solana: checked on the cluster, recorded, reversed, and shown on every page and endpoint of the ledger."""

from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from solders.keypair import Keypair
from solders.signature import Signature
from spl.token.constants import WRAPPED_SOL_MINT

from lab.bench.sweeps.numbers import number_by_time
from ledger.balances import balance_of
from ledger.errors import PayoutRefusedError
from ledger.models import JournalEntry
from ledger.payouts import check_payout, find_payment, record_payout, reverse_payout, transfer_of
from partners.models import Partner, PayoutWallet
from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from tests.factories.ledger import book_payable, random_hash
from tests.factories.partners import PayoutWalletFactory
from tests.openapi import assert_documented
from tests.operator_browser import reverse
from tests.solana_payments import ClusterTreasury

pytestmark = pytest.mark.django_db

EARNED = 1_000_000


def random_wallet() -> str:
    return str(Keypair().pubkey())


@pytest.fixture
def treasury(cluster_treasury: ClusterTreasury) -> ClusterTreasury:
    return cluster_treasury


@pytest.fixture
def wallet(treasury: ClusterTreasury, partner: Partner) -> PayoutWallet:
    """The partner's on Solana; it earned a million units of USDC there."""
    accrue(treasury, partner, str(treasury.cluster.usdc), symbol="USDC", decimals=6)
    return PayoutWalletFactory.create(partner=partner, network=treasury.cluster.network, address=random_wallet())


def accrue(treasury: ClusterTreasury, partner: Partner, mint: str, **facts: Any) -> JournalEntry:
    signature = str(Signature.new_unique())
    facts |= {"network": treasury.cluster.network, "asset": mint, "tx_hash": signature}
    return book_payable(partner, EARNED, **facts)


def record(wallet: PayoutWallet, amount: int, signature: str, *, mint: str | None = None) -> JournalEntry:
    """Check and record a payout, by default of the USDC that the partner earned."""
    mint = mint or JournalEntry.objects.earliest("posted_at").asset
    transfer = transfer_of(partner=wallet.partner, network=wallet.network, asset=mint, amount=amount, tx_hash=signature)
    checked = check_payout(networks.current(), transfer)
    return record_payout(checked, note="October", recorded_by="alice")


def problem(wallet: PayoutWallet, amount: int, signature: str, *, mint: str | None = None) -> str:
    """Return the code with which a payout is refused; nothing is booked."""
    with pytest.raises(PayoutRefusedError) as refused:
        record(wallet, amount, signature, mint=mint)
    assert not JournalEntry.objects.filter(kind="payout").exists()
    return refused.value.problem


def available(wallet: PayoutWallet) -> int:
    asset = JournalEntry.objects.earliest("posted_at").asset
    balance = balance_of(wallet.partner, network=wallet.network, asset=asset)
    assert balance is not None
    return balance.available


# --- recording --------------------------------------------------------------------------------------------------------


def test_a_payout_that_the_cluster_shows_is_recorded_and_reversed(
    treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    signature = treasury.pay(wallet.address, 400)
    entry = record(wallet, 400, f" {signature}\n")
    payment = find_payment(networks.current(), entry)
    assert payment is not None
    paid = entry.payout
    assert (paid.recipient, paid.sender, paid.block_number) == (wallet.address, treasury.address, payment.block_number)
    assert (entry.tx_hash, available(wallet)) == (signature, EARNED - 400)
    with pytest.raises(PayoutRefusedError, match="already booked"):
        record(wallet, 400, signature)
    reverse_payout(entry, reason="The wrong month.", recorded_by="bob")
    assert available(wallet) == EARNED
    assert record(wallet, 400, signature).booking_epoch == 1


def test_what_was_earned_in_sol_is_paid_in_wrapped_sol(
    treasury: ClusterTreasury, wallet: PayoutWallet, partner: Partner
) -> None:
    accrue(treasury, partner, str(WRAPPED_SOL_MINT), symbol="SOL", decimals=9)
    signature = treasury.pay(wallet.address, 400, WRAPPED_SOL_MINT)
    assert record(wallet, 400, signature, mint=str(WRAPPED_SOL_MINT)).payout.sender == treasury.address


def test_a_payment_to_a_wallet_that_was_replaced_since_is_recorded(
    treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    former, signature = wallet.address, treasury.pay(wallet.address, 400)
    wallet.address = random_wallet()
    wallet.save()
    assert record(wallet, 400, signature).payout.recipient == former


def test_what_the_cluster_does_not_show_is_refused(treasury: ClusterTreasury, wallet: PayoutWallet) -> None:
    assert problem(wallet, 400, treasury.send(wallet.address, 400)) == "not_final"
    assert problem(wallet, 400, treasury.pay(wallet.address, 401)) == "wrong_amount"
    assert problem(wallet, 400, treasury.pay(random_wallet(), 400)) == "wrong_recipient"
    assert problem(wallet, 400, treasury.pay(wallet.address, 10**18)) == "reverted"
    assert problem(wallet, 400, str(Signature.new_unique())) == "not_found"


@pytest.mark.parametrize("signature", [random_hash(), "5" * 63, "l" * 88, ""])
def test_what_is_not_a_signature_is_refused(wallet: PayoutWallet, signature: str) -> None:
    assert problem(wallet, 400, signature) == "bad_hash"


@pytest.mark.parametrize("mint", ["0x4200000000000000000000000000000000000006", "So1", "1" * 44])
def test_what_is_not_a_mint_is_refused(wallet: PayoutWallet, mint: str) -> None:
    assert problem(wallet, 400, str(Signature.new_unique()), mint=mint) == "bad_asset"


def test_a_cluster_that_does_not_answer_delays_it(wallet: PayoutWallet, use_nodes: Callable[..., ProviderPool]) -> None:
    use_nodes("http://127.0.0.1:1/secret-of-the-provider")
    with pytest.raises(PayoutRefusedError, match=r"^No provider of solana answers; try again later\.$"):
        record(wallet, 400, str(Signature.new_unique()))


def test_on_a_cluster_without_providers_it_is_recorded_as_unchecked(
    wallet: PayoutWallet, change_networks: Callable[..., Networks]
) -> None:
    change_networks(rpc_urls={})
    paid = record(wallet, 400, str(Signature.new_unique())).payout
    assert (paid.recipient, paid.sender) == (wallet.address, None)


def test_the_command_takes_the_clusters_name(treasury: ClusterTreasury, wallet: PayoutWallet) -> None:
    signature, out = treasury.pay(wallet.address, 400), StringIO()
    facts = {"network": "solana", "asset": str(treasury.cluster.usdc), "amount": 400, "tx": signature}
    call_command("record_payout", wallet.partner.name, **facts, by="alice", yes=True, stdout=out)
    shown = out.getvalue()
    assert f"Paid by {treasury.address} in block" in shown
    assert "Available after   999600 (0.9996 USDC)" in shown
    entry = JournalEntry.objects.get(kind="payout")
    call_command("reverse_payout", str(entry.pk), reason="The wrong month.", by="bob", stdout=out)
    assert available(wallet) == EARNED


# --- pages ------------------------------------------------------------------------------------------------------------


def test_the_form_names_the_wallets_and_records_what_was_confirmed(
    ops: Client, treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    form = reverse("admin:ledger_partnerbooks_record_payout", args=[wallet.partner.pk])
    shown = ops.get(form).content.decode()
    assert [text for text in (wallet.address, treasury.address, "(1 USDC) on solana") if text not in shown] == []
    signature = treasury.pay(wallet.address, 400)
    asset = f"{wallet.network}/{treasury.cluster.usdc}"
    payout = {"asset": asset, "amount": "400", "tx_hash": signature, "note": ""}
    page = ops.post(form, payout)
    assert f'href="https://explorer.example/tx/{signature}"' in page.content.decode()
    ops.post(form, payout | {"confirm": page.context["confirmed"]})
    assert JournalEntry.objects.get(kind="payout").payout.sender == treasury.address


def test_every_page_of_the_ledger_shows_what_happened_on_solana(
    ops: Client, treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    entry = record(wallet, 400, treasury.pay(wallet.address, 400))
    mint, month = str(treasury.cluster.usdc), f"{entry.posted_at:%Y-%m}"
    shown = {
        reverse("admin:ledger_partnerbooks_change", args=[wallet.partner.pk]): [mint, "solana", "999600 (0.9996 USDC)"],
        reverse("admin:ledger_payout_changelist"): ["solana", "400"],
        reverse("admin:ledger_payout_change", args=[entry.pk]): [wallet.address, treasury.address, entry.tx_hash],
        reverse("admin:ledger_journalentry_changelist"): ["solana", f"/tx/{entry.tx_hash}"],
        reverse("admin:ledger_journalentry_change", args=[entry.pk]): [mint, f"/tx/{entry.tx_hash}"],
        reverse("admin:ledger_account_changelist"): ["solana", "-400"],
        reverse("admin:ledger_statement", args=[wallet.partner.pk, month]): ["USDC on solana", mint, entry.tx_hash],
        reverse("admin:partners_partner_change", args=[wallet.partner.pk]): [wallet.address, ">solana</option>"],
    }
    number_by_time()
    missing = [
        (path, text) for path, texts in shown.items() for text in texts if text not in ops.get(path).content.decode()
    ]
    assert missing == []


def test_a_payout_is_looked_up_on_the_cluster_again(
    ops: Client, treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    entry = record(wallet, 400, treasury.pay(wallet.address, 400))
    page = reverse("admin:ledger_payout_change", args=[entry.pk])
    ops.post(reverse("admin:ledger_payout_check_again", args=[entry.pk]), {"_form_submitted": "true"})
    assert f"It was paid in block {entry.payout.block_number}, which is final." in ops.get(page).content.decode()


# --- the API ----------------------------------------------------------------------------------------------------------


def test_the_partner_sees_entries_on_solana_and_filters_by_the_clusters_name(
    api: Client, treasury: ClusterTreasury, wallet: PayoutWallet
) -> None:
    book_payable(wallet.partner, 5)
    number_by_time()
    response = api.get("/v2/ledger/entries", {"chain": "solana"})
    assert_documented(response, path="/v2/ledger/entries")
    items = response.json()["data"]["items"]
    entry = JournalEntry.objects.get(network=wallet.network)
    facts = {(item["token"], item["chain"], item["txHash"]) for item in items}
    assert facts == {(str(treasury.cluster.usdc), "solana", entry.tx_hash)}


def test_the_partner_sees_its_wallet_on_solana(api: Client, wallet: PayoutWallet) -> None:
    response = api.get("/v2/partner")
    assert_documented(response, path="/v2/partner")
    assert response.json()["data"]["recipients"][-1] == {"chain": "solana", "chainId": None, "address": wallet.address}
    wallet.delete()
    assert api.get("/v2/partner").json()["data"]["recipients"][-1]["address"] is None
