"""Every response of the local cluster is parsed by solders as a real node's would be, and every error as its type."""

import base64
import json
from collections.abc import Callable
from typing import Any

import pytest
from solders.keypair import Keypair
from solders.pubkey import Pubkey
from solders.rpc import errors
from solders.rpc import responses as rpc
from solders.system_program import TransferParams, transfer
from solders.transaction import VersionedTransaction
from solders.transaction_status import TransactionConfirmationStatus, TransactionErrorFieldless
from spl.token.constants import TOKEN_PROGRAM_ID, WRAPPED_SOL_MINT

from tests.solana_cluster import SolanaCluster

BASE64 = {"encoding": "base64"}
CONFIRMED = {"commitment": "confirmed"}
Typed = Callable[..., Any]


@pytest.fixture
def typed(cluster: SolanaCluster) -> Typed:
    """Call a method over HTTP and parse the response; it must be of the given type."""

    def call(kind: Any, method: str, *params: Any, parser: Any = None) -> Any:
        response = (parser or kind).from_json(json.dumps(cluster.ask(method, *params)))
        assert type(response) is kind, response
        return response

    return call


@pytest.fixture
def wallet(cluster: SolanaCluster) -> Keypair:
    return cluster.create_wallet(lamports=10**9)


@pytest.fixture
def payment(cluster: SolanaCluster, wallet: Keypair) -> VersionedTransaction:
    """A transfer of SOL that is signed and not sent."""
    return sign_payment(cluster, wallet, lamports=10**8)


def sign_payment(cluster: SolanaCluster, wallet: Keypair, *, lamports: int) -> VersionedTransaction:
    to = TransferParams(from_pubkey=wallet.pubkey(), to_pubkey=Pubkey.new_unique(), lamports=lamports)
    return cluster.sign(wallet, [transfer(to)])


def encoded(transaction: VersionedTransaction) -> str:
    return base64.b64encode(bytes(transaction)).decode()


def test_the_heads_have_the_shapes_of_a_node(cluster: SolanaCluster, typed: Typed) -> None:
    latest = cluster.bank.blocks.latest
    assert str(typed(rpc.GetGenesisHashResp, "getGenesisHash").value) == cluster.genesis_hash
    assert typed(rpc.GetSlotResp, "getSlot", CONFIRMED).value == latest.slot
    epoch = typed(rpc.GetEpochInfoResp, "getEpochInfo", CONFIRMED).value
    assert (epoch.absolute_slot, epoch.block_height) == (latest.slot, latest.height)
    assert typed(rpc.GetFirstAvailableBlockResp, "getFirstAvailableBlock").value <= latest.slot


def test_blockhashes_have_the_shapes_of_a_node(cluster: SolanaCluster, typed: Typed) -> None:
    latest = typed(rpc.GetLatestBlockhashResp, "getLatestBlockhash", CONFIRMED).value
    assert latest.blockhash == cluster.bank.blocks.latest.blockhash
    assert latest.last_valid_block_height == cluster.bank.blocks.latest.height + 150


def test_a_block_has_the_shape_of_a_node(cluster: SolanaCluster, typed: Typed) -> None:
    latest = cluster.bank.blocks.latest
    options = {"transactionDetails": "none", "rewards": False, **CONFIRMED}
    block = typed(rpc.GetBlockResp, "getBlock", latest.slot, options).value
    assert (block.block_height, block.blockhash) == (latest.height, latest.blockhash)
    assert (block.parent_slot, block.previous_blockhash) == (latest.parent_slot, latest.previous_blockhash)


def test_fees_rent_and_slot_times_have_the_shapes_of_a_node(cluster: SolanaCluster, typed: Typed) -> None:
    cluster.bank.priority_fee = 777
    cluster.bank.advance()
    fees = typed(rpc.GetRecentPrioritizationFeesResp, "getRecentPrioritizationFees", [str(cluster.usdc)]).value
    assert (fees[-1].slot, fees[-1].prioritization_fee) == (cluster.bank.blocks.latest.slot, 777)
    rent = typed(rpc.GetMinimumBalanceForRentExemptionResp, "getMinimumBalanceForRentExemption", 165)
    assert rent.value == cluster.bank.svm.minimum_balance_for_rent_exemption(165)
    samples = typed(rpc.GetRecentPerformanceSamplesResp, "getRecentPerformanceSamples", 3).value
    assert [sample.num_slots for sample in samples] == [round(60 / cluster.bank.slot_seconds)] * 3


def test_accounts_have_the_shapes_of_a_node(cluster: SolanaCluster, typed: Typed) -> None:
    account = typed(rpc.GetAccountInfoResp, "getAccountInfo", str(cluster.usdc), BASE64).value
    mint = cluster.bank.account(cluster.usdc)
    assert mint is not None
    assert (account.owner, account.data, account.lamports) == (TOKEN_PROGRAM_ID, mint.data, mint.lamports)
    unknown = str(Pubkey.new_unique())
    assert typed(rpc.GetAccountInfoResp, "getAccountInfo", unknown, BASE64).value is None
    several = typed(rpc.GetMultipleAccountsResp, "getMultipleAccounts", [str(cluster.usdc), unknown], BASE64).value
    assert several == [account, None]


def test_token_accounts_have_the_shapes_of_a_node(cluster: SolanaCluster, typed: Typed, wallet: Keypair) -> None:
    key = cluster.faucet.give_tokens(wallet.pubkey(), cluster.usdc, 5)
    other = cluster.faucet.create_account(wallet.pubkey(), WRAPPED_SOL_MINT)
    owner = str(wallet.pubkey())

    def found(**wanted: str) -> set[Pubkey]:
        response = typed(rpc.GetTokenAccountsByOwnerResp, "getTokenAccountsByOwner", owner, wanted, BASE64)
        return {each.pubkey for each in response.value}

    assert found(programId=str(TOKEN_PROGRAM_ID)) == {key, other}
    assert found(mint=str(cluster.usdc)) == {key}


def test_a_sent_transaction_has_the_shapes_of_a_node(
    typed: Typed, wallet: Keypair, payment: VersionedTransaction
) -> None:
    signature = typed(rpc.SendTransactionResp, "sendTransaction", encoded(payment), BASE64).value
    assert signature == payment.signatures[0]
    status = typed(rpc.GetSignatureStatusesResp, "getSignatureStatuses", [str(signature)]).value[0]
    assert (status.err, status.confirmation_status) == (None, TransactionConfirmationStatus.Confirmed)
    options = {**BASE64, **CONFIRMED, "maxSupportedTransactionVersion": 0}
    landed = typed(rpc.GetTransactionResp, "getTransaction", str(signature), options).value
    assert landed.transaction.transaction == payment
    meta = landed.transaction.meta
    assert (meta.err, meta.fee, meta.pre_balances[0], meta.post_balances[0]) == (None, 5000, 10**9, 9 * 10**8 - 5000)
    listed = typed(rpc.GetSignaturesForAddressResp, "getSignaturesForAddress", str(wallet.pubkey()), CONFIRMED).value
    assert listed[0].signature == signature
    assert listed[0].slot == landed.slot == status.slot
    assert listed[0].block_time == landed.block_time


def test_a_simulation_has_the_shape_of_a_node(
    cluster: SolanaCluster, typed: Typed, wallet: Keypair, payment: VersionedTransaction
) -> None:
    watched = {"encoding": "base64", "addresses": [str(wallet.pubkey())]}
    options = {**BASE64, "sigVerify": True, "accounts": watched}
    done = typed(rpc.SimulateTransactionResp, "simulateTransaction", encoded(payment), options).value
    assert (done.err, done.units_consumed) == (None, 150)
    assert done.accounts[0].lamports == 9 * 10**8 - 5000
    assert cluster.lamports(wallet.pubkey()) == 10**9
    replaced = {**BASE64, "replaceRecentBlockhash": True, **CONFIRMED}
    again = typed(rpc.SimulateTransactionResp, "simulateTransaction", encoded(payment), replaced).value
    assert again.replacement_blockhash.blockhash == cluster.bank.blocks.latest.blockhash


def test_a_failed_simulation_has_the_shape_of_a_node(cluster: SolanaCluster, typed: Typed, wallet: Keypair) -> None:
    unaffordable = encoded(sign_payment(cluster, wallet, lamports=10**12))
    done = typed(rpc.SimulateTransactionResp, "simulateTransaction", unaffordable, BASE64).value
    assert done.err.index == 0
    assert done.err.err.code == 1
    assert "insufficient lamports" in " ".join(done.logs)


def test_a_failed_preflight_is_the_error_of_a_node(
    cluster: SolanaCluster, typed: Typed, payment: VersionedTransaction
) -> None:
    cluster.expire_blockhashes()
    failure = typed(
        errors.SendTransactionPreflightFailureMessage,
        "sendTransaction",
        encoded(payment),
        BASE64,
        parser=rpc.SendTransactionResp,
    )
    assert failure.data.err == TransactionErrorFieldless.BlockhashNotFound


@pytest.mark.parametrize(
    ("kind", "method", "params", "parser"),
    [
        (errors.InvalidParamsMessage, "getAccountInfo", ["no key"], rpc.GetAccountInfoResp),
        (errors.MinContextSlotNotReachedMessage, "getSlot", [{"minContextSlot": 2**40}], rpc.GetSlotResp),
        (errors.BlockNotAvailableMessage, "getBlock", [2**40, {"transactionDetails": "none"}], rpc.GetBlockResp),
        (errors.BlockCleanedUpMessage, "getBlock", [1, {"transactionDetails": "none"}], rpc.GetBlockResp),
    ],
)
def test_an_error_is_parsed_as_its_type(typed: Typed, kind: Any, method: str, params: list[Any], parser: Any) -> None:
    typed(kind, method, *params, parser=parser)
