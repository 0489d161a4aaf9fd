"""A partner's integration on Solana in one file: look at a wallet, build a sweep, let the user sign and send it.

Like `dev.partner_client` it uses nothing internal to the service. Nothing is reported: the service finds the
transactions on chain.
"""

import base64
from typing import Any

from solders.keypair import Keypair
from solders.transaction import VersionedTransaction

from dev.chain.rpc import Rpc
from dev.partner_client import SweepApi

BASE64 = {"encoding": "base64"}


class SolanaApi:
    """The partner API's endpoints for Solana."""

    def __init__(self, api: SweepApi) -> None:
        self._api = api

    def discover(self, wallet: str, output: str) -> dict[str, Any]:
        """Return what a wallet has, and what each token would become in the output token."""
        return self._api.call("POST", "/v1/sweep/discover", json={"wallet": wallet, "outputMint": output}).data

    def build(self, *, wallet: str, amounts: dict[str, int], output: str, slippage_bps: int) -> dict[str, Any]:
        """Build a sweep into the output token; `amounts` are in smallest units, by mint."""
        tokens = [{"mint": mint, "amount": str(amount)} for mint, amount in amounts.items()]
        body = {"wallet": wallet, "tokens": tokens, "outputMint": output, "slippageBps": slippage_bps}
        return self._api.call("POST", "/v1/sweep/build", json=body).data

    def sweep(self, sweep_id: str) -> dict[str, Any]:
        """Return the sweep's status object."""
        return self._api.call("GET", f"/v1/sweep/status/{sweep_id}").data


class SolanaWallet:
    """What a user's wallet does: sign a transaction and send it."""

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
