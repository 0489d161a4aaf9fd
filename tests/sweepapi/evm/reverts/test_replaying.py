"""A sweep that reverted is replayed on the block before, and the error that it reverted with is decoded."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from sweepapi.evm.chain.providers import evm_pool
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.reverts.decoding import MAX_TEXT_CHARACTERS, RevertReason
from sweepapi.evm.reverts.replaying import MAX_INPUT_BYTES, read_revert, replay
from sweepapi.rpc import Call, ProviderPool
from tests.fake_node import FakeNode
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

NONSENSE = "0x" + "ab" * 32
PAUSED = "0xd93c0665"  # EnforcedPause()


def pool_of(app: PartnerApp, *nodes: FakeNode) -> ProviderPool:
    urls = [node.url for node in nodes] or [app.chain.world["rpcUrl"]]
    return evm_pool(urls=urls, chain_id=app.chain.world["chainId"], timeout_seconds=10)


def receipt_of(app: PartnerApp, tx_hash: str) -> Receipt:
    """Return the receipt of a transaction that reverted."""
    (receipt,) = pool_of(app).batch([Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash))])
    assert isinstance(receipt, Receipt)
    assert not receipt.succeeded
    return receipt


def replayed(app: PartnerApp, tx_hash: str, *nodes: FakeNode) -> RevertReason | None:
    height = receipt_of(app, tx_hash).block_number
    return replay(pool=pool_of(app, *nodes), tx_hash=tx_hash, block_number=height, timeout_seconds=5)


@pytest.fixture
def reverted(app: PartnerApp) -> str:
    """The hash of a sweep that was sent without the approval it needs."""
    return app.chain.sign_and_send(app.user, app.build())


def test_a_missing_approval_is_reported_as_permit2s_error(app: PartnerApp, reverted: str) -> None:
    cause = RevertReason("Error", {"message": "TRANSFER_FROM_FAILED"})
    assert replayed(app, reverted) == RevertReason("PullFailed", cause=cause)


def test_a_moved_price_is_reported_with_the_pool_and_what_it_would_have_paid(app: PartnerApp) -> None:
    built = app.build({"DAI": 1, "USDC": 3}, slippageBps=1)
    crash_price(app, "USDC")
    reason = replayed(app, app.execute(built))
    assert reason is not None
    assert (reason.name, reason.leg_index) == ("LegFailed", 1)
    assert reason.arguments["target"] == built["tokens"][1]["route"]["target"]
    assert reason.cause is not None
    assert (reason.cause.name, reason.cause.leg_index) == ("BelowLeast", 1)
    assert int(reason.cause.arguments["got"]) < int(reason.cause.arguments["least"])
    assert abs(int(reason.cause.arguments["least"]) - int(built["tokens"][1]["minOutput"])) <= 1


def test_a_sweep_sent_too_late_is_reported_with_its_deadline(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    app.chain.mine(seconds=5000)
    reason = replayed(app, app.chain.sign_and_send(app.user, built))
    assert reason is not None
    assert (reason.name, reason.arguments["deadline"]) == (
        "AuthorizationExpired",
        built["feeAuthorization"]["deadline"],
    )


def test_a_paused_contract_and_a_cancelled_nonce_are_reported(app: PartnerApp) -> None:
    built = app.build()
    nonce = built["feeAuthorization"]["nonce"]
    app.chain.cancel(int(nonce))
    assert replayed(app, app.execute(built)) == RevertReason("NonceAlreadyUsed", {"nonce": nonce})
    app.chain.pause()
    assert replayed(app, app.execute(built)) == RevertReason("EnforcedPause")


def test_a_transaction_that_ran_out_of_gas_gives_no_reason(app: PartnerApp) -> None:
    built = app.build()
    built["transaction"]["gas"] = "100000"
    assert replayed(app, app.execute(built)) == RevertReason("")


def test_a_sweep_that_would_succeed_on_the_parent_block_gives_no_reason(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    with app.chain.mining_paused():
        app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
        tx_hash = app.chain.sign_and_send(app.user, built)
        app.chain.mine()
    assert replayed(app, tx_hash) is None


def test_a_contract_creation_gives_no_reason(app: PartnerApp) -> None:
    assert replayed(app, app.chain.send(app.user, {"to": "", "data": "0xfe"})) is None


def test_a_provider_without_the_parents_state_gives_no_reason(app: PartnerApp, reverted: str) -> None:
    assert replay(pool=pool_of(app), tx_hash=reverted, block_number=10**9, timeout_seconds=5) is None


def test_a_replay_takes_two_round_trips(app: PartnerApp, reverted: str, start_node: Callable[[], FakeNode]) -> None:
    node = start_node()
    replayed(app, reverted, node)
    assert node.asked == [["eth_chainId", "eth_getTransactionByHash"], ["eth_call"]]


@pytest.mark.parametrize(
    "change",
    [
        lambda _transaction: None,
        lambda _transaction: [],
        lambda _transaction: "0x",
        lambda transaction: transaction | {"hash": NONSENSE},
        lambda transaction: transaction | {"from": "me"},
        lambda transaction: transaction | {"to": None},
        lambda transaction: transaction | {"to": "you"},
        lambda transaction: transaction | {"input": None},
        lambda transaction: transaction | {"input": "0x" + "00" * (MAX_INPUT_BYTES + 1)},
        lambda transaction: transaction | {"value": "1"},
        lambda transaction: transaction | {"gas": "0x" + "f" * 20},
    ],
)
def test_a_malformed_transaction_gives_no_reason(
    app: PartnerApp, reverted: str, start_node: Callable[[], FakeNode], change: Callable[[Any], Any]
) -> None:
    node = start_node()
    node.alter = lambda method, _params, result: change(result) if method == "eth_getTransactionByHash" else result
    assert replayed(app, reverted, node) is None
    assert ["eth_call"] not in node.asked


def test_without_a_provider_that_answers_there_is_no_reason_and_no_long_wait(
    app: PartnerApp, reverted: str, start_node: Callable[[], FakeNode]
) -> None:
    height, node = receipt_of(app, reverted).block_number, start_node()
    started = time.monotonic()
    with node.hung():
        assert replay(pool=pool_of(app, node), tx_hash=reverted, block_number=height, timeout_seconds=0.2) is None
    assert time.monotonic() - started < 2


@pytest.mark.parametrize(
    "error",
    [
        {"code": 3, "message": "execution reverted", "data": PAUSED},  # geth, reth, erigon, anvil
        {"code": -32000, "message": "Execution reverted", "data": PAUSED},  # Besu, Nethermind
        {"code": -32015, "message": "VM execution error.", "data": f"Reverted {PAUSED}"},  # Nethermind before 1.26
        {"code": -32603, "message": "Error: VM Exception", "data": {"message": "reverted", "data": PAUSED}},  # Hardhat
    ],
)
def test_the_returned_bytes_are_found_in_the_errors_of_every_kind_of_node(error: dict[str, Any]) -> None:
    assert read_revert(error) == RevertReason("EnforcedPause")


@pytest.mark.parametrize(
    "error",
    [
        {"code": 3, "message": "execution reverted"},
        {"code": 3, "message": "execution reverted", "data": "0x"},
        {"code": 3, "message": "execution reverted", "data": None},
        {"code": 3, "message": "execution reverted", "data": ["0x01"]},
        {"code": 3, "message": "execution reverted", "data": "0xzz"},
        {"code": 3, "message": "execution reverted", "data": {"data": {"data": PAUSED}}},
        {"code": -32000, "message": "out of gas"},
        {"code": -32015, "message": "VM execution error.", "data": "revert"},
    ],
)
def test_a_revert_without_bytes_has_no_name(error: dict[str, Any]) -> None:
    assert read_revert(error) == RevertReason("")


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32000, "message": "missing trie node 0xab (path )"},
        {"code": -32000, "message": "header not found"},
        {"code": 4444, "message": "pruned history unavailable"},
        {"code": -32005, "message": "daily request count exceeded, request rate limited"},
        {},
        "reverted",
        None,
        7,
    ],
)
def test_an_error_of_the_node_itself_is_not_a_revert_reason(error: object) -> None:
    assert read_revert(error) is None


def test_a_long_reason_does_not_hide_its_leg() -> None:
    cause = keccak(text="Error(string)")[:4] + encode(["string"], ["a" * 2**20])
    failed = keccak(text="LegFailed(uint256,address,bytes)")[:4] + encode(
        ["uint256", "address", "bytes"], [7, "0x" + "ab" * 20, cause]
    )
    reason = read_revert({"code": 3, "data": f"0x{failed.hex()}"})
    assert reason is not None
    assert reason.leg_index == 7
    assert reason.cause == RevertReason("Error", {"message": "a" * MAX_TEXT_CHARACTERS})
