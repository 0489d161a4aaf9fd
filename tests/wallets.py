"""What wallets do with the executions of an answer: they fill in signatures, and send batches of calls (EIP-5792)."""

from typing import Any

from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from dev.chain.sender import Sender
from sweepapi.evm.contracts.batch_account import execute_calldata
from tests.local_chain import GAS, LocalChain

DEPLOYER = "0x" + "0e" * 20


def deployed(chain: LocalChain, contract: str, *arguments: object) -> str:
    """Deploy a contract of the local world and return its address."""
    chain.give_coins(DEPLOYER)
    chain.rpc("anvil_impersonateAccount", DEPLOYER)
    sender = Sender(chain.node, DEPLOYER)
    address = sender.create(contract, *arguments)
    with chain.mining_paused():
        sender.flush()
    return address


def code_at(chain: LocalChain, address: str) -> str:
    """Return the code at an address as hex without 0x."""
    code: str = chain.rpc("eth_getCode", address, "latest")
    return code.removeprefix("0x")


def delegate(chain: LocalChain, user: LocalAccount, implementation: str) -> None:
    """Let a user's account run this code, as if the user had done so before."""
    chain.put_code(user.address, f"ef0100{implementation.removeprefix('0x').lower()}")


def executions_of(built: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the executions of an answer by kind, in their order."""
    return {execution["kind"]: execution for execution in built["executions"]}


def completed(user: LocalAccount, execution: dict[str, Any]) -> str:
    """Sign what the execution asks for, in order, and return the calldata with the signatures in their places."""
    signatures = [
        bytes(user.sign_message(encode_typed_data(full_message=typed_data)).signature)
        for typed_data in execution["typedData"]
    ]
    data = bytearray.fromhex(execution["transaction"]["data"][2:])
    for part in execution["signatureParts"]:
        start, length, offset = part["start"], part["length"], part["byteOffset"]
        data[offset : offset + length] = signatures[part["signature"]][start : start + length]
    return f"0x{data.hex()}"


def send(chain: LocalChain, user: LocalAccount, execution: dict[str, Any]) -> str:
    """Send everything of an execution that is not a batch; returns the hash of the sweep."""
    for approval in execution["approvals"]:
        assert chain.receipt(chain.send(user, approval))["status"] == 1
    transaction = execution["transaction"]
    return chain.send(user, transaction | {"data": completed(user, execution)}, gas=int(transaction["gas"]))


def send_calls(
    chain: LocalChain, user: LocalAccount, execution: dict[str, Any], *, upgrade_to: str | None = None
) -> str:
    """Make the batch of calls in one transaction of the delegated account to itself; returns its hash.

    With ``upgrade_to`` the same transaction lets the account run that code (EIP-7702), so it may be its first one.
    """
    calls = [(call["to"], bytes.fromhex(call["data"][2:])) for call in execution["calls"]["calls"]]
    nonce = chain.web3.eth.get_transaction_count(user.address)
    transaction = {
        "to": user.address,
        "data": "0x" + execute_calldata(calls).hex(),
        "value": 0,
        "chainId": chain.world["chainId"],
        "nonce": nonce,
        "gas": GAS,
        "maxFeePerGas": 10**11,
        "maxPriorityFeePerGas": 10**9,
    }
    if upgrade_to is not None:
        authorized = {"chainId": chain.world["chainId"], "address": upgrade_to, "nonce": nonce + 1}
        transaction |= {"type": 4, "authorizationList": [user.sign_authorization(authorized)]}
    raw = user.sign_transaction(transaction).raw_transaction
    tx_hash = chain.web3.eth.send_raw_transaction(raw).to_0x_hex()
    chain.receipt(tx_hash)
    return tx_hash


def calls_status_of(chain: LocalChain, tx_hash: str) -> dict[str, Any]:
    """Return what the wallet says about the batch, as wallet_getCallsStatus does."""
    receipt: dict[str, Any] = chain.rpc("eth_getTransactionReceipt", tx_hash)
    reported = ("logs", "status", "blockHash", "blockNumber", "gasUsed", "transactionHash")
    return {
        "version": "2.0.0",
        "id": tx_hash,
        "chainId": hex(chain.world["chainId"]),
        "status": 200 if receipt["status"] == "0x1" else 500,
        "atomic": True,
        "receipts": [{name: receipt[name] for name in reported}],
    }


def gas_used(chain: LocalChain, user: LocalAccount, *, since: int) -> int:
    """Return the gas of the user's transactions in the blocks after this one."""
    used = 0
    for number in range(since + 1, chain.web3.eth.block_number + 1):
        for tx_hash in chain.rpc("eth_getBlockByNumber", hex(number), False)["transactions"]:  # noqa: FBT003 - hashes only
            receipt = chain.receipt(tx_hash)
            used += receipt["gasUsed"] if receipt["from"] == user.address else 0
    return used
