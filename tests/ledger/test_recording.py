"""A payout is checked against the books and on the chain, and recorded whole or not at all."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection

from ledger.balances import balance_of
from ledger.errors import PayoutRefusedError
from ledger.models import JournalEntry
from ledger.payouts import CheckedPayout, check_payout, record_payout, reverse_payout, transfer_of
from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.fields import UINT256_MAX
from sweepapi.rpc import ProviderPool
from tests.factories.ledger import BASE, WETH, book_fee, book_payable, book_payout, random_hash
from tests.factories.partners import PartnerFactory, PayoutWalletFactory
from tests.factories.sweeps import LOCAL, random_checksum_address
from tests.fake_node import FakeNode
from tests.payments import Treasury

pytestmark = pytest.mark.django_db

SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
SOLANA_USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
EARNED = 1_000_000


@pytest.fixture
def usdc(treasury: Treasury, partner: Partner) -> str:
    """The token of the local chain in which the partner earned a million units."""
    address = treasury.usdc.address
    book_payable(partner, EARNED, network=LOCAL, asset=address)
    return address


def check(partner: Partner, asset: str, amount: int, tx_hash: str, *, network: str = LOCAL) -> CheckedPayout:
    transfer = transfer_of(partner=partner, network=network, asset=asset, amount=amount, tx_hash=tx_hash)
    return check_payout(networks.current(), transfer)


def record(partner: Partner, asset: str, amount: int, tx_hash: str, *, network: str = LOCAL) -> JournalEntry:
    checked = check(partner, asset, amount, tx_hash, network=network)
    return record_payout(checked, note="October", recorded_by="alice")


def problem(partner: Partner, asset: str, amount: int, tx_hash: str, *, network: str = LOCAL) -> tuple[str, str]:
    """Return the code and the sentence with which a payout is refused; nothing is booked."""
    before = JournalEntry.objects.count()
    with pytest.raises(PayoutRefusedError) as refused:
        record(partner, asset, amount, tx_hash, network=network)
    assert JournalEntry.objects.count() == before
    return refused.value.problem, str(refused.value)


def available(partner: Partner, asset: str, *, network: str = LOCAL) -> int:
    connection.check_constraints()
    balance = balance_of(partner, network=network, asset=asset)
    assert balance is not None
    return balance.available


def test_a_payout_that_the_chain_shows_is_recorded_with_sender_and_block(
    treasury: Treasury, partner: Partner, usdc: str
) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    entry = record(partner, usdc, 400, tx_hash)
    block = treasury.chain.receipt(tx_hash)["blockNumber"]
    paid = entry.payout
    assert (paid.recipient, paid.sender, paid.block_number) == (
        partner.payout_wallet,
        treasury.account.address,
        block,
    )
    assert (entry.recorded_by, entry.note) == ("alice", "October")
    assert available(partner, usdc) == EARNED - 400


def test_a_payout_in_the_native_coin_is_recorded(treasury: Treasury, partner: Partner) -> None:
    book_payable(partner, EARNED, network=LOCAL, asset=NATIVE_COIN)
    record(partner, NATIVE_COIN, 400, treasury.pay_coins(partner.payout_wallet, 400))
    assert available(partner, NATIVE_COIN) == EARNED - 400


def test_texts_are_read_in_any_case_and_stored_in_one(treasury: Treasury, partner: Partner, usdc: str) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    entry = record(partner, f" {usdc.lower()} ", 400, f"0x{tx_hash[2:].upper()}\n")
    assert (entry.asset, entry.tx_hash) == (usdc, tx_hash)
    assert problem(partner, usdc, 400, tx_hash)[0] == "already_booked"


def test_checking_books_nothing_and_says_what_is_available(treasury: Treasury, partner: Partner, usdc: str) -> None:
    checked = check(partner, usdc, 400, treasury.pay(partner.payout_wallet, 400))
    assert checked.payment is not None
    assert (checked.available, checked.payment.sender) == (EARNED, treasury.account.address)
    assert not JournalEntry.objects.filter(kind="payout").exists()


def test_the_books_are_checked_again_when_it_is_recorded(treasury: Treasury, partner: Partner, usdc: str) -> None:
    checked = check(partner, usdc, 400, treasury.pay(partner.payout_wallet, 400))
    book_payout(partner, EARNED - 399, network=LOCAL, asset=usdc)
    with pytest.raises(PayoutRefusedError, match="400 units are more than the 399 that are available"):
        record_payout(checked, note="", recorded_by="alice")


def test_the_books_are_asked_before_the_chain(
    partner: Partner, usdc: str, round_trips: list[list[str]], two_chains: tuple[Chain, ...]
) -> None:
    assert two_chains
    assert problem(partner, usdc, EARNED + 1, random_hash())[0] == "above_available"
    assert round_trips == []


# --- refused by the books ---------------------------------------------------------------------------------------------


def test_more_than_available_is_refused_and_says_how_much_is(partner: Partner, usdc: str) -> None:
    code, sentence = problem(partner, usdc, EARNED + 1, random_hash())
    assert code == "above_available"
    assert f"more than the {EARNED} that are available" in sentence


@pytest.mark.usefixtures("treasury")
def test_an_asset_that_the_partner_never_earned_is_refused(partner: Partner) -> None:
    book_fee(partner, network=LOCAL, asset=WETH)  # settled on chain
    assert problem(partner, WETH, 1, random_hash())[0] == "never_earned"


@pytest.mark.parametrize("amount", [0, -1, UINT256_MAX + 1])
def test_an_amount_that_is_not_above_zero_or_has_no_room_is_refused(partner: Partner, usdc: str, amount: int) -> None:
    assert problem(partner, usdc, amount, random_hash())[0] == "bad_amount"


@pytest.mark.parametrize("tx_hash", ["", "0x12", "0x" + "g" * 64, "ab" * 32, "5" * 88])
def test_a_malformed_hash_is_refused(partner: Partner, usdc: str, tx_hash: str) -> None:
    assert problem(partner, usdc, 1, tx_hash)[0] == "bad_hash"


@pytest.mark.parametrize("asset", ["", "USDC", "0x12", SOLANA_USDC, "0x" + "aB" * 20])
def test_a_malformed_asset_is_refused(partner: Partner, asset: str) -> None:
    assert problem(partner, asset, 1, random_hash())[0] == "bad_asset"


# --- refused by the chain ---------------------------------------------------------------------------------------------


def test_a_payment_to_a_wallet_that_is_not_the_partners_is_refused(
    treasury: Treasury, partner: Partner, usdc: str
) -> None:
    tx_hash = treasury.pay(random_checksum_address(), 400)
    assert problem(partner, usdc, 400, tx_hash)[0] == "wrong_recipient"


def test_the_partners_wallet_is_the_one_on_that_network(treasury: Treasury, partner: Partner, usdc: str) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=LOCAL)
    elsewhere = PayoutWalletFactory.create(partner=partner, network=BASE)
    assert problem(partner, usdc, 400, treasury.pay(elsewhere.address, 400))[0] == "wrong_recipient"
    assert record(partner, usdc, 400, treasury.pay(wallet.address, 400)).payout.recipient == wallet.address


def test_a_payment_to_a_wallet_that_the_partner_replaced_since_is_recorded_and_corrected(
    treasury: Treasury, partner: Partner, usdc: str
) -> None:
    former = partner.payout_wallet
    tx_hash = treasury.pay(former, 400)
    partner.payout_wallet = random_checksum_address()
    partner.save()
    checked = check(partner, usdc, 400, tx_hash)
    assert (checked.transfer.recipient, checked.wallet_until) == (former, partner.former_wallets.get().until)
    assert checked.paid_to.startswith(f"{former}, a former wallet of the partner, until 20")
    mistaken = record_payout(checked, note="", recorded_by="alice")
    reverse_payout(mistaken, reason="Not October.", recorded_by="bob")
    assert record(partner, usdc, 400, tx_hash).payout.recipient == former
    assert check(partner, usdc, 400, treasury.pay(partner.payout_wallet, 400)).wallet_until is None


def test_a_payment_to_a_former_wallet_is_not_booked_for_a_second_partner_who_has_it_now(
    treasury: Treasury, partner: Partner, usdc: str
) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    successor = PartnerFactory.create(payout_wallet=partner.payout_wallet)
    book_payable(successor, EARNED, network=LOCAL, asset=usdc)
    partner.payout_wallet = random_checksum_address()
    partner.save()
    record(successor, usdc, 400, tx_hash)
    assert problem(partner, usdc, 400, tx_hash)[0] == "already_booked"


def test_a_payment_by_a_wallet_that_is_not_ours_is_refused(
    treasury: Treasury, partner: Partner, usdc: str, change_chain: Callable[..., Chain]
) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    change_chain(payout_senders=(random_checksum_address(),))
    assert problem(partner, usdc, 400, tx_hash)[0] == "wrong_sender"


def test_another_amount_than_was_paid_is_refused(treasury: Treasury, partner: Partner, usdc: str) -> None:
    code, sentence = problem(partner, usdc, 401, treasury.pay(partner.payout_wallet, 400))
    assert code == "wrong_amount"
    assert "paid 400 units" in sentence


def test_an_unfinal_a_failed_and_an_unknown_transaction_are_refused(
    treasury: Treasury, partner: Partner, usdc: str
) -> None:
    assert problem(partner, usdc, 400, treasury.send(partner.payout_wallet, 400))[0] == "not_final"
    assert problem(partner, usdc, 400, treasury.pay(partner.payout_wallet, 2**255))[0] == "reverted"
    assert problem(partner, usdc, 400, random_hash())[0] == "not_found"


def test_providers_that_disagree_or_do_not_answer_delay_it(
    treasury: Treasury,
    partner: Partner,
    usdc: str,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
) -> None:
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    liar = start_node()
    liar.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    use_providers(treasury.chain.world["rpcUrl"], liar.url)
    assert problem(partner, usdc, 400, tx_hash)[0] == "providers_disagree"
    use_providers("http://127.0.0.1:1/secret-of-the-provider")
    code, sentence = problem(partner, usdc, 400, tx_hash)
    assert (code, "secret" in sentence) == ("chain_unavailable", False)


# --- where nothing can be checked -------------------------------------------------------------------------------------


def test_on_a_chain_without_providers_it_is_recorded_as_unchecked(
    partner: Partner, change_networks: Callable[..., Any]
) -> None:
    change_networks(rpc_urls={})
    book_payable(partner, 400)
    paid = record(partner, WETH, 400, random_hash(), network=BASE).payout
    assert (paid.recipient, paid.sender, paid.block_number) == (partner.payout_wallet, None, None)


def test_on_another_family_of_networks_it_is_recorded_as_unchecked(partner: Partner) -> None:
    wallet = PayoutWalletFactory.create(partner=partner, network=SOLANA, address="9" * 44)
    book_payable(partner, 400, network=SOLANA, asset=SOLANA_USDC, tx_hash="5" * 88)
    paid = record(partner, SOLANA_USDC, 400, "6" * 88, network=SOLANA).payout
    assert (paid.recipient, paid.sender) == (wallet.address, None)
    assert problem(partner, SOLANA_USDC, 1, random_hash(), network=SOLANA)[0] == "bad_hash"


def test_a_partner_without_a_wallet_of_the_networks_family_is_refused(partner: Partner) -> None:
    book_payable(partner, 400, network=SOLANA, asset=SOLANA_USDC, tx_hash="5" * 88)
    assert problem(partner, SOLANA_USDC, 400, "6" * 88, network=SOLANA)[0] == "no_wallet"


# --- reversals --------------------------------------------------------------------------------------------------------


def test_a_mistake_is_reversed_for_a_reason_and_recorded_again(treasury: Treasury, partner: Partner, usdc: str) -> None:
    twin = PartnerFactory.create(payout_wallet=partner.payout_wallet)
    book_payable(twin, EARNED, network=LOCAL, asset=usdc)
    tx_hash = treasury.pay(partner.payout_wallet, 400)
    mistaken = record(twin, usdc, 400, tx_hash)
    assert problem(partner, usdc, 400, tx_hash)[0] == "already_booked"
    reversal = reverse_payout(mistaken, reason=" The wrong partner. ", recorded_by="bob")
    assert (reversal.recorded_by, reversal.note, reversal.reverses) == ("bob", "The wrong partner.", mistaken)
    record(partner, usdc, 400, tx_hash)
    assert (available(twin, usdc), available(partner, usdc)) == (EARNED, EARNED - 400)


def test_a_reversal_without_a_reason_is_refused(partner: Partner) -> None:
    book_payable(partner, 400)
    paid = book_payout(partner, 400)
    with pytest.raises(PayoutRefusedError, match="reason is required") as refused:
        reverse_payout(paid, reason="  ", recorded_by="bob")
    assert refused.value.problem == "no_reason"
