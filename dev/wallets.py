"""Users' wallets in the local world: private keys that sign and send what the API answers, on EVM chains and Solana."""

import base64
from collections.abc import Mapping
from typing import Any

from eth_account import Account
from solders.keypair import Keypair
from solders.transaction import VersionedTransaction

from dev.chain.rpc import Rpc
from sweepapi.evm.contracts.batch_account import execute_calldata

BASE64 = {"encoding": "base64"}


class Wallet:
    """A wallet on an EVM chain: it signs typed data and sends transactions."""

    def __init__(self, rpc: Rpc, private_key: str) -> None:
        self._rpc = rpc
        self._account = Account.from_key(private_key)
        self.address: str = self._account.address

    def sign(self, typed_data: Mapping[str, Any]) -> bytes:
        """Sign as ``eth_signTypedData_v4`` does; returns 65 bytes."""
        return bytes(self._account.sign_typed_data(full_message=dict(typed_data)).signature)

    def send(self, transaction: Mapping[str, Any]) -> str:
        """Sign and send a transaction from the API, whose numbers are decimal strings; returns its hash."""
        return self._send(
            {
                **self._fees_and_nonce(),
                "to": transaction["to"],
                "value": int(transaction["value"]),
                "data": transaction["data"],
                "gas": int(transaction.get("gas", 100_000)),  # approvals come without a limit and need less
            }
        )

    def send_calls(self, calls: Mapping[str, Any], *, delegate: str, gas: int) -> str:
        """Make the calls of a ``wallet_sendCalls`` in one transaction, with which the account delegates (EIP-7702).

        The delegate is one that ERC-7821 describes. Returns the hash.
        """
        batch = [(call["to"], bytes.fromhex(call["data"][2:])) for call in calls["calls"]]
        transaction = self._fees_and_nonce()
        authorized = {"chainId": transaction["chainId"], "address": delegate, "nonce": transaction["nonce"] + 1}
        return self._send(
            {
                **transaction,
                "type": 4,
                "to": self.address,
                "value": 0,
                "data": f"0x{execute_calldata(batch).hex()}",
                "gas": gas,
                "authorizationList": [self._account.sign_authorization(authorized)],
            }
        )

    def _fees_and_nonce(self) -> dict[str, int]:
        head, tip, nonce, chain_id = self._rpc.batch(
            [
                ("eth_getBlockByNumber", ["latest", False]),
                ("eth_maxPriorityFeePerGas", []),
                ("eth_getTransactionCount", [self.address, "pending"]),
                ("eth_chainId", []),
            ]
        )
        return {
            "chainId": int(chain_id, 16),
            "nonce": int(nonce, 16),
            "maxFeePerGas": 2 * int(head["baseFeePerGas"], 16) + int(tip, 16),
            "maxPriorityFeePerGas": int(tip, 16),
        }

    def _send(self, transaction: dict[str, Any]) -> str:
        signed = self._account.sign_transaction(transaction)
        tx_hash: str = self._rpc.call("eth_sendRawTransaction", signed.raw_transaction.to_0x_hex())
        return tx_hash


class SolanaWallet:
    """A wallet on Solana: it signs a transaction and sends it."""

    def __init__(self, rpc: Rpc, private_key: str) -> None:
        self._rpc = rpc
        self._keypair = Keypair.from_base58_string(private_key)
        self.address = str(self._keypair.pubkey())

    def send(self, transaction: str) -> str:
        """Sign a transaction in base64 in the place that it has for the signature, and send it; returns its hash."""
        unsigned = VersionedTransaction.from_bytes(base64.b64decode(transaction))
        signed = VersionedTransaction(unsigned.message, [self._keypair])
        encoded = base64.b64encode(bytes(signed)).decode()
        signature: str = self._rpc.call("sendTransaction", encoded, BASE64 | {"preflightCommitment": "confirmed"})
        return signature
