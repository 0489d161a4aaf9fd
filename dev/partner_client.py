"""A partner's integration in one file: build a sweep, let the user sign and send it, confirm it, read the ledger.

It uses nothing internal to the service: HTTP to the API, JSON-RPC to the chain, and a private key in place of the
user's wallet.
"""

from dataclasses import dataclass
from typing import Any

import requests
from eth_account import Account

from dev.chain.rpc import Rpc
from sweepapi.evm.contracts.batch_account import execute_calldata

NATIVE_COIN = "0xEeeeeEeeeEeEeeEeEeEeeEEEeeeeEeeeeeeeEEeE"
TIMEOUT_SECONDS = 30


class RefusedError(Exception):
    """The API answered with an error: the HTTP status, the stable code, and details by field."""

    def __init__(self, http_status: int, error: dict[str, Any]) -> None:
        super().__init__(f"{http_status} {error['code']}: {error['message']}")
        self.http_status = http_status
        self.code: str = error["code"]
        self.details: list[dict[str, str]] = error["details"]


@dataclass(frozen=True)
class Answer:
    """A success: 200 and 201 are final, 202 of a confirm means that the service keeps checking the transaction."""

    http_status: int
    data: dict[str, Any]


class SweepApi:
    """The partner API, called with one partner's key."""

    def __init__(self, base_url: str, api_key: str) -> None:
        self._base_url = base_url
        self._session = requests.Session()
        self._session.headers["x-api-key"] = api_key

    def build(
        self, *, chain: str, wallet: str, amounts: dict[str, int], output: str, slippage_bps: int, **choices: object
    ) -> dict[str, Any]:
        """Build a sweep into the output token; `amounts` are in smallest units, by token address.

        Tokens whose pools pay too little by then stay with the user; by default they would revert the whole sweep.
        `choices` are optional fields of the body.
        """
        tokens = [{"mint": mint, "amount": str(amount)} for mint, amount in amounts.items()]
        body = {"chain": chain, "wallet": wallet, "tokens": tokens, "outputMint": output, "slippageBps": slippage_bps}
        return self.call("POST", "/v2/sweep/build", json=body | {"onLegFailure": "skip"} | choices).data

    def discover(
        self, *, chain: str, wallet: str, output: str, candidates: list[str], execution: dict[str, Any]
    ) -> dict[str, Any]:
        """Return which tokens of the wallet are worth sweeping as it can, also those whose names deceive."""
        body = {
            "chain": chain,
            "wallet": wallet,
            "outputMint": output,
            "candidates": candidates,
            "execution": execution,
        }
        return self.call("POST", "/v2/sweep/discover", json={**body, "includeHidden": True}).data

    def confirm(self, sweep_id: str, tx_hash: str) -> Answer:
        """Report the transaction that the user sent; safe to repeat."""
        return self.call("POST", f"/v2/sweep/status/{sweep_id}/confirm", json={"txHash": tx_hash})

    def confirm_calls(self, sweep_id: str, calls_status: dict[str, Any]) -> Answer:
        """Report the batch of calls that the user sent, as the wallet's ``wallet_getCallsStatus`` answers."""
        return self.call("POST", f"/v2/sweep/status/{sweep_id}/confirm", json={"callsStatus": calls_status})

    def sweep(self, sweep_id: str) -> dict[str, Any]:
        """Return the sweep's status object."""
        return self.call("GET", f"/v2/sweep/status/{sweep_id}").data

    def answers(self) -> bool:
        """Return whether the API answers, and its database too."""
        try:
            self.partner()
        except (RefusedError, requests.RequestException):
            return False
        return True

    def partner(self) -> dict[str, Any]:
        """Return the partner that the key belongs to."""
        return self.call("GET", "/v2/partner").data

    def ledger_entries(self) -> list[dict[str, Any]]:
        """Return all postings of the partner, newest first, from every page."""
        items: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = self.call("GET", "/v2/ledger/entries", params={"cursor": cursor} if cursor else {}).data
            items += page["items"]
            cursor = page["nextCursor"]
            if cursor is None:
                return items

    def statement(self, month: str) -> dict[str, Any]:
        """Return the first 200 entries of a month that is over, with the signed state of the tree at its end."""
        return self.call("GET", f"/v2/statements/{month}", params={"limit": 200}).data

    def proof_keys(self) -> dict[str, Any]:
        """Return the keys that receipts and statements are signed with, as a JSON Web Key Set."""
        response = self._session.get(f"{self._base_url}/.well-known/jwks.json", timeout=TIMEOUT_SECONDS)
        response.raise_for_status()
        keys: dict[str, Any] = response.json()
        return keys

    def call(self, method: str, path: str, **options: Any) -> Answer:  # noqa: ANN401 - options of requests
        """Make one request; raises RefusedError unless it succeeds."""
        response = self._session.request(method, self._base_url + path, timeout=TIMEOUT_SECONDS, **options)
        envelope = response.json()
        if not envelope["ok"]:
            raise RefusedError(response.status_code, envelope["error"])
        return Answer(response.status_code, envelope["data"])


def finalize(built: dict[str, Any], signature: bytes) -> dict[str, Any]:
    """Put the user's Permit2 signature into the transaction that the build prepared."""
    template = built["transactionTemplate"]
    data = bytearray.fromhex(template["data"][2:])
    start, length = template["signature"]["byteOffset"], template["signature"]["length"]
    if len(signature) != length:
        raise ValueError(f"a signature of {len(signature)} bytes must be encoded with the template's abi and args")
    data[start : start + length] = signature
    return {**built["transaction"], "data": "0x" + data.hex()}


class Wallet:
    """What a user's wallet does: sign typed data, send transactions."""

    def __init__(self, rpc: Rpc, private_key: str) -> None:
        self._rpc = rpc
        self._account = Account.from_key(private_key)
        self.address: str = self._account.address

    def sign(self, typed_data: dict[str, Any]) -> bytes:
        """Sign as ``eth_signTypedData_v4`` does; returns 65 bytes."""
        return bytes(self._account.sign_typed_data(full_message=typed_data).signature)

    def send(self, transaction: dict[str, Any]) -> str:
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

    def send_calls(self, calls: dict[str, Any], *, delegate: str, gas: int) -> str:
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
