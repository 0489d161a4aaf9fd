"""A partner who tries the sandbox with nothing but the API: a fresh wallet, funded and connected through it."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from eth_account import Account
from eth_account.signers.local import LocalAccount

from sweeps.sandbox.outcomes import AMOUNTS, DECIMALS, ForcedOutcome
from tests.local_chain import GAS, signed_data
from tests.partner_app import PartnerApp

COIN: int = 10**DECIMALS
# One of each kind that needs the node.
REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("/advance", {"chain": "local"}),
    ("/fund", {"chain": "local", "wallet": "0x" + "11" * 20}),
    ("/rpc/local", {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber"}),
]


@dataclass(frozen=True)
class SandboxUser:
    """Calls the sandbox with the key of ``app``; ``wallet`` has nothing until ``fund``."""

    app: PartnerApp
    wallet: LocalAccount = field(default_factory=Account.create)

    def post(self, path: str, body: object) -> Any:
        return self.app.api.post(f"/v2/sandbox{path}", body, content_type="application/json")

    def advance(self, **how: int) -> dict[str, Any]:
        response = self.post("/advance", {"chain": "local", **how})
        assert response.status_code == 200, response.content
        data: dict[str, Any] = response.json()["data"]
        return data

    def fund(self) -> dict[str, Any]:
        response = self.post("/fund", {"chain": "local", "wallet": self.wallet.address})
        assert response.status_code == 200, response.content
        data: dict[str, Any] = response.json()["data"]
        return data

    def tokens(self) -> dict[str, str]:
        """Return the addresses of the documented tokens by name."""
        (chain,) = self.app.api.get("/v2/sandbox").json()["data"]["chains"]
        return {token["name"]: token["mint"] for token in chain["tokens"]}

    def rpc(self, method: str, *params: Any) -> Any:
        """Return the result of a call through the RPC proxy."""
        answer = self.answer({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
        assert "error" not in answer, answer
        return answer["result"]

    def answer(self, body: object) -> Any:
        response = self.post("/rpc/local", body)
        assert response.status_code == 200, response.content
        return response.json()

    def clock(self) -> datetime:
        """Return the time of the newest block."""
        block = self.rpc("eth_getBlockByNumber", "latest", False)  # noqa: FBT003 JSON-RPC
        return datetime.fromtimestamp(int(block["timestamp"], 16), tz=UTC)

    def body(self, amounts: dict[str, int], **changes: Any) -> dict[str, Any]:
        """Return a build request for amounts of documented tokens, by name."""
        mints = self.tokens()
        tokens = [{"mint": mints[name], "amount": str(amount)} for name, amount in amounts.items()]
        return self.app.body(tokens=tokens, wallet=self.wallet.address, **changes)

    def build(self, amounts: dict[str, int], **changes: Any) -> dict[str, Any]:
        response = self.app.post_build(self.body(amounts, **changes))
        assert response.status_code == 201, response.content
        data: dict[str, Any] = response.json()["data"]
        return data

    def sign(self, to: str, data: str, *, gas: int = GAS) -> str:
        """Return a signed transaction of the wallet."""
        transaction: Any = {
            "to": to,
            "data": data,
            "value": 0,
            "chainId": int(self.rpc("eth_chainId"), 16),
            "nonce": int(self.rpc("eth_getTransactionCount", self.wallet.address, "pending"), 16),
            "gas": gas,
            "maxFeePerGas": 2 * int(self.rpc("eth_gasPrice"), 16),
            "maxPriorityFeePerGas": 10**9,
        }
        return str(self.wallet.sign_transaction(transaction).raw_transaction.to_0x_hex())

    def send(self, to: str, data: str, *, gas: int = GAS) -> str:
        """Send a transaction of the wallet through the proxy; returns its hash."""
        tx_hash: str = self.rpc("eth_sendRawTransaction", self.sign(to, data, gas=gas))
        return tx_hash

    def scripted(self, outcome: ForcedOutcome) -> str:
        """Return a signed transaction that forces the outcome, and does nothing else."""
        amount = COIN + AMOUNTS[outcome].remainder
        return self.sign(self.wallet.address, f"0x{self.tokens()['script'][2:]:0>64}{amount:064x}", gas=100_000)

    def send_scripted(self, outcome: ForcedOutcome) -> str:
        tx_hash: str = self.rpc("eth_sendRawTransaction", self.scripted(outcome))
        return tx_hash

    def approve(self, built: dict[str, Any]) -> None:
        for issue in built["issues"]["allowance"]:
            approval = issue["transaction"]
            self.app.chain.receipt(self.send(approval["to"], approval["data"], gas=200_000))

    def execute(self, built: dict[str, Any]) -> str:
        """Sign a built sweep and send it through the proxy; returns its hash."""
        transaction = built["transaction"]
        return self.send(transaction["to"], signed_data(self.wallet, built), gas=int(transaction["gas"]))

    def is_mined(self, tx_hash: str) -> bool:
        return self.rpc("eth_getTransactionReceipt", tx_hash) is not None
