"""The wallet stand-in answers as wallets do, also what it refuses."""

from typing import Any

import pytest

from dev import local_wallet
from dev.chain.sender import calldata
from dev.local_wallet import LocalWallet, RefusedError
from sweepapi.evm.tokens.erc20 import BALANCE_OF
from tests.local_chain import LocalChain

HASH = "0x" + "ab" * 32
TRANSFER = "transfer(address,uint256)"


@pytest.fixture
def wallet(chain: LocalChain) -> LocalWallet:
    return local_wallet.of_world(chain.world)


def refusal(wallet: LocalWallet, method: str, *params: Any) -> int:
    with pytest.raises(RefusedError) as refused:
        wallet.answer(method, params)
    return refused.value.code


def batch(chain: LocalChain, **changed: Any) -> dict[str, Any]:
    user = chain.users[0].address
    call = {"to": chain.token("WETH").address, "data": f"0x{BALANCE_OF.encode(user).hex()}", "value": "0x0"}
    return {"version": "2.0.0", "chainId": hex(chain.world["chainId"]), "from": user, "calls": [call], **changed}


def test_its_accounts_are_the_users_and_a_contract_wallet(wallet: LocalWallet, chain: LocalChain) -> None:
    contract = chain.world["contracts"]["contractWallet"]
    assert wallet.answer("eth_requestAccounts", []) == [*(user.address for user in chain.users), contract]


def test_the_contract_wallet_sends_batches_and_transactions_through_its_owner(
    wallet: LocalWallet, chain: LocalChain
) -> None:
    contract, usdc = chain.world["contracts"]["contractWallet"], chain.token("USDC")
    paid = {"to": usdc.address, "data": f"0x{calldata(TRANSFER, chain.users[1].address, 7).hex()}", "value": "0x0"}
    before = chain.balance(contract, usdc)
    chain_id = hex(chain.world["chainId"])
    assert wallet.answer("wallet_getCapabilities", [contract]) == {chain_id: {"atomic": {"status": "supported"}}}
    sent = wallet.answer("wallet_sendCalls", [batch(chain, calls=[paid, paid], **{"from": contract})])
    assert chain.receipt(sent["id"])["status"] == 1
    assert before - chain.balance(contract, usdc) == 14
    assert chain.receipt(wallet.answer("eth_sendTransaction", [paid | {"from": contract}]))["status"] == 1
    assert before - chain.balance(contract, usdc) == 21


def test_a_batch_makes_the_account_a_delegated_one_and_its_status_has_the_receipt(
    wallet: LocalWallet, chain: LocalChain
) -> None:
    user, chain_id = chain.users[0].address, hex(chain.world["chainId"])
    assert wallet.answer("wallet_getCapabilities", [user]) == {chain_id: {"atomic": {"status": "ready"}}}
    sent = wallet.answer("wallet_sendCalls", [batch(chain)])
    assert chain.receipt(sent["id"])["status"] == 1
    assert wallet.answer("wallet_getCapabilities", [user]) == {chain_id: {"atomic": {"status": "supported"}}}
    status = wallet.answer("wallet_getCallsStatus", [sent["id"]])
    assert (status["status"], [one["transactionHash"] for one in status["receipts"]]) == (200, [sent["id"]])


def test_a_batch_that_is_not_mined_yet_is_pending(wallet: LocalWallet, chain: LocalChain) -> None:
    with chain.mining_paused():
        sent = wallet.answer("wallet_sendCalls", [batch(chain)])
        status = wallet.answer("wallet_getCallsStatus", [sent["id"]])
    assert (status["status"], "receipts" in status) == (100, False)


def test_what_it_does_not_know_goes_to_the_node(wallet: LocalWallet, chain: LocalChain) -> None:
    assert int(wallet.answer("eth_chainId", []), 16) == chain.world["chainId"]


def test_refusals_have_the_codes_of_wallets(wallet: LocalWallet, chain: LocalChain) -> None:
    stranger = "0x" + "11" * 20
    assert refusal(wallet, "wallet_sendCalls", batch(chain, **{"from": stranger})) == local_wallet.UNAUTHORIZED
    assert refusal(wallet, "wallet_sendCalls", batch(chain, chainId="0x1")) == local_wallet.UNSUPPORTED_CHAIN
    assert refusal(wallet, "wallet_getCallsStatus", HASH) == local_wallet.UNKNOWN_BUNDLE
    assert refusal(wallet, "wallet_sendCalls", {}) == local_wallet.INVALID_PARAMS
    assert refusal(wallet, "eth_nothing") == local_wallet.FAILED
