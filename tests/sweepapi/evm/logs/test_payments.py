"""A payment counts only if a final block shows that our wallet paid exactly the amount to the right wallet."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.logs.payments import check_payment
from sweepapi.payments import Expected, Payment, PaymentError
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from tests.factories.ledger import random_hash
from tests.factories.sweeps import random_checksum_address
from tests.fake_node import FakeNode
from tests.local_chain import FINAL_AFTER, LocalChain
from tests.payments import Treasury

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]
AMOUNT = 1_000_000


@pytest.fixture
def wallet() -> str:
    """The partner's."""
    return random_checksum_address()


def check(
    tx_hash: str, recipient: str, amount: int = AMOUNT, *, asset: str | None = None, former: Sequence[str] = ()
) -> Payment:
    """Check a payment, by default of USDC."""
    asset = asset or LocalChain.of_environment().token("USDC").address
    local = networks.current().chains["local"]
    pool = networks.current().pool(local.network)
    return check_payment(Expected(tx_hash, asset, (recipient, *former), amount), chain=local, pool=pool)


def problem(tx_hash: str, recipient: str, amount: int = AMOUNT, *, asset: str | None = None) -> tuple[str, str]:
    """Return the code and the sentence with which a payment is refused."""
    with pytest.raises(PaymentError) as refused:
        check(tx_hash, recipient, amount, asset=asset)
    return refused.value.problem, str(refused.value)


# --- what was paid ----------------------------------------------------------------------------------------------------


def test_a_final_transfer_of_the_token_is_the_payment(treasury: Treasury, wallet: str) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    block = treasury.chain.receipt(tx_hash)["blockNumber"]
    assert check(tx_hash, wallet) == Payment(treasury.account.address, wallet, block)


def test_a_payment_to_any_of_the_recipients_counts_and_names_it(treasury: Treasury, wallet: str) -> None:
    former = [random_checksum_address(), random_checksum_address()]
    tx_hash = treasury.pay(former[1], AMOUNT)
    assert check(tx_hash, wallet, former=former).recipient == former[1]
    with pytest.raises(PaymentError, match=f"paid {AMOUNT} units to {former[1]}, and not 7"):
        check(tx_hash, wallet, 7, former=former)


def test_a_final_transfer_of_the_native_coin_is_the_payment(treasury: Treasury, wallet: str) -> None:
    tx_hash = treasury.pay_coins(wallet, AMOUNT)
    assert check(tx_hash, wallet, asset=NATIVE_COIN).sender == treasury.account.address
    assert problem(tx_hash, wallet, AMOUNT + 1, asset=NATIVE_COIN)[0] == "wrong_amount"
    assert problem(tx_hash, treasury.chain.users[1].address, asset=NATIVE_COIN)[0] == "wrong_recipient"


def test_a_payment_from_another_wallet_is_refused_with_that_wallet(
    treasury: Treasury, wallet: str, change_chain: Callable[..., Chain]
) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    change_chain(payout_senders=(treasury.chain.users[1].address,))
    code, sentence = problem(tx_hash, wallet)
    assert code == "wrong_sender"
    assert treasury.account.address in sentence


@pytest.mark.parametrize("difference", [-1, 1])
def test_another_amount_is_refused_with_what_was_paid(treasury: Treasury, wallet: str, difference: int) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    code, sentence = problem(tx_hash, wallet, AMOUNT + difference)
    assert code == "wrong_amount"
    assert f"paid {AMOUNT} units" in sentence


def test_a_payment_to_another_wallet_is_refused_with_that_wallet(treasury: Treasury, wallet: str) -> None:
    other = random_checksum_address()
    tx_hash = treasury.pay(other, AMOUNT)
    code, sentence = problem(tx_hash, wallet)
    assert code == "wrong_recipient"
    assert other in sentence
    assert wallet in sentence


def test_the_emitter_of_a_transfer_is_the_asset_itself(treasury: Treasury, wallet: str) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT, treasury.chain.token("DAI"))
    assert problem(tx_hash, wallet)[0] == "not_paid"
    assert problem(tx_hash, wallet, asset=NATIVE_COIN)[0] == "not_paid"


def test_a_deployment_pays_no_one(treasury: Treasury, wallet: str) -> None:
    deployment: dict[str, Any] = {"from": treasury.account.address, "data": "0x00"}
    treasury.chain.rpc("anvil_impersonateAccount", treasury.account.address)
    tx_hash = treasury.chain.rpc("eth_sendTransaction", deployment)
    assert treasury.chain.receipt(tx_hash)["contractAddress"] is not None
    treasury.chain.mine(FINAL_AFTER)
    assert problem(tx_hash, wallet, asset=NATIVE_COIN)[0] == "not_paid"


# --- whether it happened ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("treasury")
def test_an_unknown_hash_is_not_found(wallet: str) -> None:
    assert problem(random_hash(), wallet)[0] == "not_found"


def test_a_transaction_that_waits_to_be_mined_is_not_found(treasury: Treasury, wallet: str) -> None:
    with treasury.chain.mining_paused():
        tx_hash = treasury.send(wallet, AMOUNT)
        assert problem(tx_hash, wallet)[0] == "not_found"


def test_a_transfer_that_reverted_paid_nothing(treasury: Treasury, wallet: str) -> None:
    tx_hash = treasury.pay(wallet, 2**255)
    assert problem(tx_hash, wallet)[0] == "reverted"


def test_a_payment_counts_once_its_block_is_final(treasury: Treasury, wallet: str) -> None:
    tx_hash = treasury.send(wallet, AMOUNT)
    treasury.chain.mine(FINAL_AFTER - 2)
    assert problem(tx_hash, wallet)[0] == "not_final"
    treasury.chain.mine()
    check(tx_hash, wallet)


def test_finality_may_be_a_number_of_blocks(
    treasury: Treasury, wallet: str, change_chain: Callable[..., Chain]
) -> None:
    change_chain(finality=FinalityRule(safe=2, final=5, recheck_seconds=3, max_head_age_seconds=None))
    tx_hash = treasury.send(wallet, AMOUNT)
    treasury.chain.mine(4)
    assert problem(tx_hash, wallet)[0] == "not_final"
    treasury.chain.mine()
    check(tx_hash, wallet)


# --- what providers may show ------------------------------------------------------------------------------------------


@pytest.fixture
def sole(treasury: Treasury, use_providers: Providers, start_node: Start) -> FakeNode:
    """The only provider; it starts once the treasury is configured."""
    node = start_node()
    assert treasury.chain.world["rpcUrl"] == node.upstream
    use_providers(node.url)
    return node


@pytest.fixture
def second(sole: FakeNode, use_providers: Providers) -> FakeNode:
    """The second provider; the first one is the chain itself."""
    use_providers(sole.upstream, sole.url)
    return sole


def test_a_second_provider_is_queried_as_well(treasury: Treasury, wallet: str, second: FakeNode) -> None:
    check(treasury.pay(wallet, AMOUNT), wallet)
    assert len(second.asked) == 1


@pytest.mark.parametrize(
    ("method", "lie"),
    [
        ("eth_getTransactionReceipt", None),
        ("eth_getTransactionReceipt", {"status": "0x0"}),
        ("eth_getTransactionReceipt", {"logs": []}),
        ("eth_getTransactionReceipt", {"blockHash": random_hash()}),
        ("eth_getTransactionByHash", None),
        ("eth_getBlockByNumber", {"number": "0x1"}),
    ],
)
def test_the_second_provider_must_show_the_same(
    treasury: Treasury, wallet: str, second: FakeNode, method: str, lie: dict[str, Any] | None
) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    second.alter = lambda asked, _params, result: (lie and result | lie) if asked == method else result
    assert problem(tx_hash, wallet)[0] == "providers_disagree"


@pytest.mark.parametrize("lie", [None, {"status": "0x0"}, {"logs": []}])
def test_of_three_providers_two_that_show_the_payment_are_enough(
    treasury: Treasury, wallet: str, sole: FakeNode, use_providers: Providers, lie: dict[str, Any] | None
) -> None:
    sole.alter = lambda asked, _params, result: (
        (lie and result | lie) if asked == "eth_getTransactionReceipt" else result
    )
    use_providers(sole.url, sole.upstream, sole.upstream)
    check(treasury.pay(wallet, AMOUNT), wallet)


@pytest.mark.parametrize("lie", [None, {"number": "0x0"}])
def test_a_second_provider_without_a_final_block_that_high_delays_it(
    treasury: Treasury, wallet: str, second: FakeNode, lie: dict[str, Any] | None
) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    second.alter = lambda _method, params, result: (lie and result | lie) if "finalized" in params else result
    assert problem(tx_hash, wallet)[0] == "not_final"


def test_a_second_provider_that_is_down_delays_it(treasury: Treasury, wallet: str, use_providers: Providers) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    use_providers(treasury.chain.world["rpcUrl"], "http://127.0.0.1:1/secret-of-the-provider")
    code, sentence = problem(tx_hash, wallet)
    assert code == "providers_disagree"
    assert "secret" not in sentence


@pytest.mark.usefixtures("no_providers")
def test_without_a_provider_nothing_is_concluded(wallet: str) -> None:
    with pytest.raises(ChainUnavailableError):
        check(random_hash(), wallet)


def malformed(log: dict[str, Any], fault: str) -> dict[str, Any]:
    """Return the log of a transfer with one fault."""
    event, sender, recipient = log["topics"]
    faults: dict[str, dict[str, Any]] = {
        "nothing moved": {"data": f"0x{'00' * 32}"},
        "too long": {"data": log["data"] + "00" * 32},
        "no data": {"data": "0x"},
        "two topics": {"topics": [event, sender]},
        "four topics": {"topics": [event, sender, recipient, sender]},
        "no topics": {"topics": []},
        "another event": {"topics": [random_hash(), sender, recipient]},
        "not an address": {"topics": [event, sender, f"0x01{recipient[4:]}"]},
    }
    return log | faults[fault]


@pytest.mark.parametrize(
    "fault",
    [
        "nothing moved",
        "too long",
        "no data",
        "two topics",
        "four topics",
        "no topics",
        "another event",
        "not an address",
    ],
)
def test_only_well_formed_transfers_count(treasury: Treasury, wallet: str, sole: FakeNode, fault: str) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    sole.alter = lambda method, _params, result: (
        result | {"logs": [malformed(log, fault) for log in result["logs"]]}
        if method == "eth_getTransactionReceipt"
        else result
    )
    assert problem(tx_hash, wallet)[0] == "not_paid"


def test_several_transfers_in_one_transaction_are_summed_up(treasury: Treasury, wallet: str, sole: FakeNode) -> None:
    tx_hash = treasury.pay(wallet, AMOUNT)
    sole.alter = lambda _method, _params, result: result | {"logs": result["logs"] * 2} if "logs" in result else result
    assert problem(tx_hash, wallet)[0] == "wrong_amount"
    check(tx_hash, wallet, 2 * AMOUNT)


@pytest.mark.parametrize(
    ("method", "change"),
    [
        ("eth_getTransactionReceipt", {"transactionHash": random_hash()}),
        ("eth_getTransactionByHash", {"hash": random_hash()}),
        ("eth_getTransactionByHash", {"from": None}),
        ("eth_getTransactionByHash", {"to": "0x12"}),
        ("eth_getTransactionByHash", {"value": -1}),
    ],
)
def test_a_provider_that_returns_nonsense_does_not_count(
    treasury: Treasury, wallet: str, sole: FakeNode, method: str, change: dict[str, Any]
) -> None:
    tx_hash = treasury.pay_coins(wallet, AMOUNT)
    sole.alter = lambda asked, _params, result: result | change if asked == method else result
    with pytest.raises(ChainUnavailableError):
        check(tx_hash, wallet, asset=NATIVE_COIN)
