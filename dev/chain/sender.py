"""Sends many transactions from one account at once, and predicts the addresses of the contracts they create.

The transactions are queued with explicit nonces and mined together; the node impersonates the account, so none is
signed.
"""

from eth_abi.abi import encode
from eth_abi.grammar import parse
from eth_utils.abi import function_signature_to_4byte_selector
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak
from rlp import encode as rlp_encode

from dev.chain.artifacts import artifact
from dev.chain.rpc import Rpc
from dev.processes.errors import NodeError

GAS = 12_000_000  # no transaction needs more; a fixed limit saves estimating each


def calldata(signature: str, *arguments: object) -> bytes:
    """Encode a call of ``name(type,…)``; a tuple's type is ``(type,…)``."""
    parameters = signature[signature.index("(") :]
    types = [] if parameters == "()" else [part.to_type_str() for part in parse(parameters).components]
    return function_signature_to_4byte_selector(signature) + encode(types, arguments)


class Sender:
    """The account that deploys everything."""

    def __init__(self, rpc: Rpc, address: str) -> None:
        self.address = address
        self._rpc = rpc
        self._nonce = int(rpc.call("eth_getTransactionCount", address, "latest"), 16)
        self._queue: list[dict[str, str]] = []

    def create(self, name: str, *arguments: object) -> str:
        """Queue the creation of a contract; returns its future address."""
        compiled = artifact(name)
        address = to_checksum_address(keccak(rlp_encode([bytes.fromhex(self.address[2:]), self._nonce]))[12:])
        self._add({"data": "0x" + (compiled.creation_code + encode(compiled.constructor_types, arguments)).hex()})
        return address

    def call(self, to: str, signature: str, *arguments: object, value: int = 0) -> None:
        self.send(to, calldata(signature, *arguments), value=value)

    def send(self, to: str, data: bytes, *, value: int = 0) -> None:
        self._add({"to": to, "data": "0x" + data.hex(), "value": hex(value)})

    def read_address(self, to: str, signature: str, *arguments: object) -> str:
        """Call a function that returns an address, without a transaction."""
        request = {"to": to, "data": "0x" + calldata(signature, *arguments).hex()}
        return to_checksum_address(self._rpc.call("eth_call", request, "latest")[-40:])

    def flush(self) -> None:
        """Mine the queue into one block; raises NodeError with the first transaction that reverted."""
        hashes = self._rpc.batch([("eth_sendTransaction", [transaction]) for transaction in self._queue])
        self._rpc.call("evm_mine")
        receipts = self._rpc.batch([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes])
        for transaction, receipt in zip(self._queue, receipts, strict=True):
            if int(receipt["status"], 16) != 1:
                raise NodeError(f"reverted: to {transaction.get('to')}, data {transaction['data'][:74]}…")
        self._queue.clear()

    def _add(self, transaction: dict[str, str]) -> None:
        self._queue.append({"from": self.address, "gas": hex(GAS), "nonce": hex(self._nonce), **transaction})
        self._nonce += 1
