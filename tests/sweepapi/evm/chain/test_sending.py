"""A signed transaction can be sent repeatedly, and the errors of different nodes are understood."""

import secrets
from collections.abc import Callable
from dataclasses import replace

import pytest
from eth_account import Account
from eth_account.signers.local import LocalAccount
from eth_account.types import TransactionDictType

from sweepapi.evm.chain.sending import (
    GWEI,
    AccountState,
    BroadcastResult,
    Fees,
    OutgoingTransaction,
    account_state_calls,
    account_state_of,
    broadcast_result_of,
    send,
)
from sweepapi.evm.encoding import responses
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import BadResponseError, ChainUnavailableError
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

COIN = 10**18


@pytest.fixture
def account(chain: LocalChain) -> LocalAccount:
    """A new account with one coin."""
    fresh: LocalAccount = Account.from_key(secrets.token_bytes(32))
    chain.give_coins(fresh.address, COIN)
    return fresh


@pytest.fixture
def pool(chain: LocalChain, use_providers: Callable[..., ProviderPool]) -> ProviderPool:
    return use_providers(chain.world["rpcUrl"])


def payment(chain: LocalChain, *, account_nonce: int = 0, max_fee_gwei: int = 100) -> OutgoingTransaction:
    return OutgoingTransaction(
        chain_id=chain.world["chainId"],
        account_nonce=account_nonce,
        to=chain.users[0].address,
        data=b"",
        gas=21_000,
        fees=Fees(max_fee_gwei * GWEI, GWEI),
        value=1,
    )


@pytest.mark.parametrize("to", ["0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", None])
def test_the_bytes_are_those_of_eth_account(to: str | None) -> None:
    account = Account.from_key("0x" + "5e" * 32)
    fields: TransactionDictType = {
        "type": 2,
        "chainId": 8453,
        "nonce": 0,
        "data": b"\x01",
        "value": 1,
        "gas": 21_000,
        "maxFeePerGas": 3 * GWEI,
        "maxPriorityFeePerGas": GWEI,
    }
    expected = account.sign_transaction(fields if to is None else {**fields, "to": to})
    signed = OutgoingTransaction(8453, 0, to, b"\x01", 21_000, Fees(3 * GWEI, GWEI), value=1).signed_by(account)
    assert (signed.raw, signed.tx_hash) == (bytes(expected.raw_transaction), expected.hash.to_0x_hex())


def test_a_transaction_is_mined_with_the_hash_that_was_computed_before(
    chain: LocalChain, pool: ProviderPool, account: LocalAccount
) -> None:
    signed = payment(chain).signed_by(account)
    assert send(pool=pool, raw=signed.raw) is BroadcastResult.ACCEPTED
    receipt = chain.receipt(signed.tx_hash)
    assert (receipt["status"], receipt["from"], receipt["type"]) == (1, account.address, 2)


def test_without_a_recipient_it_creates_a_contract(
    chain: LocalChain, pool: ProviderPool, account: LocalAccount
) -> None:
    creation = replace(payment(chain), to=None, data=bytes.fromhex("60006000f3"), gas=100_000, value=0)
    signed = creation.signed_by(account)
    send(pool=pool, raw=signed.raw)
    assert chain.receipt(signed.tx_hash)["contractAddress"] is not None


def test_the_bytes_are_the_same_each_time(chain: LocalChain, account: LocalAccount) -> None:
    assert payment(chain).signed_by(account) == payment(chain).signed_by(account)


def test_every_provider_gets_the_transaction_and_the_best_result_counts(
    chain: LocalChain,
    account: LocalAccount,
    use_providers: Callable[..., ProviderPool],
    start_node: Callable[[], FakeNode],
) -> None:
    first, second = start_node(), start_node()
    pool = use_providers("http://127.0.0.1:1", first.url, second.url)
    assert send(pool=pool, raw=payment(chain).signed_by(account).raw) is BroadcastResult.ACCEPTED
    assert [node.asked[-1][-1] for node in (first, second)] == ["eth_sendRawTransaction"] * 2


def test_without_a_response_the_chain_is_unavailable(
    chain: LocalChain, no_providers: ProviderPool, account: LocalAccount
) -> None:
    with pytest.raises(ChainUnavailableError):
        send(pool=no_providers, raw=payment(chain).signed_by(account).raw)


# --- what nodes say ---------------------------------------------------------------------------------------------------


def test_a_pending_transaction_is_already_known(chain: LocalChain, pool: ProviderPool, account: LocalAccount) -> None:
    raw = payment(chain).signed_by(account).raw
    with chain.mining_paused():
        assert [send(pool=pool, raw=raw) for _ in range(2)] == [BroadcastResult.ACCEPTED, BroadcastResult.ALREADY_KNOWN]


def test_a_mined_transaction_has_a_nonce_that_is_too_low(
    chain: LocalChain, pool: ProviderPool, account: LocalAccount
) -> None:
    signed = payment(chain).signed_by(account)
    send(pool=pool, raw=signed.raw)
    chain.receipt(signed.tx_hash)
    assert send(pool=pool, raw=signed.raw) is BroadcastResult.NONCE_TOO_LOW


def test_a_replacement_must_pay_a_tenth_more(chain: LocalChain, pool: ProviderPool, account: LocalAccount) -> None:
    first = payment(chain)
    with chain.mining_paused():
        send(pool=pool, raw=first.signed_by(account).raw)
        same_price = replace(first, value=2)
        assert send(pool=pool, raw=same_price.signed_by(account).raw) is BroadcastResult.UNDERPRICED
        raised = first.fees.raised_to(first.fees, max_fee_cap=1000 * GWEI)
        assert raised is not None
        assert send(pool=pool, raw=replace(first, fees=raised).signed_by(account).raw) is BroadcastResult.ACCEPTED
        chain.mine()
    assert chain.web3.eth.get_transaction_count(account.address) == 1


def test_an_account_with_insufficient_funds_is_refused(chain: LocalChain, pool: ProviderPool) -> None:
    pauper: LocalAccount = Account.from_key(secrets.token_bytes(32))
    assert send(pool=pool, raw=payment(chain).signed_by(pauper).raw) is BroadcastResult.INSUFFICIENT_FUNDS


@pytest.mark.parametrize(
    ("message", "result"),
    [
        ("already known", BroadcastResult.ALREADY_KNOWN),
        ("AlreadyKnown", BroadcastResult.ALREADY_KNOWN),
        ("Known transaction", BroadcastResult.ALREADY_KNOWN),
        ("Transaction with the same hash was already imported.", BroadcastResult.ALREADY_KNOWN),
        ("nonce too low: next nonce 5, tx nonce 4", BroadcastResult.NONCE_TOO_LOW),
        ("OldNonce, Current nonce: 5, nonce of rejected tx: 4", BroadcastResult.NONCE_TOO_LOW),
        ("Transaction nonce is too low. Try incrementing the nonce.", BroadcastResult.NONCE_TOO_LOW),
        ("insufficient funds for gas * price + value: balance 0, tx cost 1", BroadcastResult.INSUFFICIENT_FUNDS),
        ("InsufficientFunds, Balance is 0 less than sending value", BroadcastResult.INSUFFICIENT_FUNDS),
        ("Upfront cost exceeds account balance", BroadcastResult.INSUFFICIENT_FUNDS),
        ("replacement transaction underpriced", BroadcastResult.UNDERPRICED),
        ("ReplacementNotAllowed", BroadcastResult.UNDERPRICED),
        ("FeeTooLow, MaxFeePerGas too low", BroadcastResult.UNDERPRICED),
        ("max fee per gas less than block base fee: address 0x, maxFeePerGas: 1", BroadcastResult.UNDERPRICED),
        ("Gas price below current base fee", BroadcastResult.UNDERPRICED),
        ("txpool is full", BroadcastResult.REFUSED),
        ("intrinsic gas too low: have 21000, want 21016", BroadcastResult.REFUSED),
        (None, BroadcastResult.REFUSED),
    ],
)
def test_the_messages_of_nodes_are_understood(message: str | None, result: BroadcastResult) -> None:
    assert broadcast_result_of({"code": -32000, "message": message}) is result


def test_a_malformed_error_is_a_refusal() -> None:
    assert broadcast_result_of("no") is BroadcastResult.REFUSED


# --- fees -------------------------------------------------------------------------------------------------------------

TERMS = AccountState(
    head=responses.Block(1, "0x" + "00" * 32, 1),
    base_fee=10 * GWEI,
    priority_fee=GWEI,
    account_nonce=0,
    balance=COIN,
)


def test_the_account_state_is_the_chains(chain: LocalChain, pool: ProviderPool, account: LocalAccount) -> None:
    signed = payment(chain).signed_by(account)
    send(pool=pool, raw=signed.raw)
    chain.receipt(signed.tx_hash)
    terms = account_state_of(pool.batch(account_state_calls(account.address)))
    assert (terms.account_nonce, terms.balance) == (1, chain.coin(account.address))
    assert terms.head.number == chain.web3.eth.block_number
    chain.mine()
    assert terms.base_fee == chain.web3.eth.get_block("latest")["baseFeePerGas"], "that of the block to come"


@pytest.mark.parametrize("history", [None, {}, {"baseFeePerGas": []}, {"baseFeePerGas": [None]}])
def test_a_fee_history_without_fees_is_a_bad_response(history: object) -> None:
    with pytest.raises(BadResponseError):
        responses.next_base_fee(history)


@pytest.mark.parametrize(
    ("cap_gwei", "fees"),
    [
        (100, Fees(21 * GWEI, GWEI)),
        (15, Fees(15 * GWEI, GWEI)),
        (10, Fees(10 * GWEI, GWEI)),
        (9, None),
    ],
)
def test_fees_suffice_for_a_doubled_base_fee_and_never_exceed_the_cap(cap_gwei: int, fees: Fees | None) -> None:
    assert TERMS.fees(max_fee_cap=cap_gwei * GWEI) == fees


def test_a_priority_fee_above_the_cap_is_reduced() -> None:
    assert replace(TERMS, priority_fee=500 * GWEI).fees(max_fee_cap=50 * GWEI) == Fees(50 * GWEI, 50 * GWEI)


@pytest.mark.parametrize(("market", "raised"), [(Fees(1, 1), Fees(113, 12)), (Fees(500, 70), Fees(500, 70))])
def test_raised_fees_follow_the_market_and_rise_by_at_least_an_eighth(market: Fees, raised: Fees) -> None:
    assert Fees(100, 10).raised_to(market, max_fee_cap=500) == raised


def test_fees_are_not_raised_above_the_cap() -> None:
    assert Fees(100, 10).raised_to(Fees(1, 1), max_fee_cap=112) is None
