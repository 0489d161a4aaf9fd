"""A partner's app for tests: it builds sweeps over the API, sends them from a wallet, and confirms them."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.test import Client
from eth_account.signers.local import LocalAccount

from sweepapi.evm.encoding.addresses import NATIVE_COIN
from tests.local_chain import LocalChain

BUILD = "/v2/sweep/build"
# For tests of what only V5 has, in modules whose other tests run in each mode.
only_v5 = pytest.mark.parametrize("each_mode", ["v5_partner_fees"], indirect=True)


@dataclass(frozen=True)
class PartnerApp:
    """Calls the API with the key of ``api``; the wallets are users of ``chain``."""

    api: Client
    chain: LocalChain

    @property
    def user(self) -> LocalAccount:
        """The default wallet."""
        return self.chain.users[0]

    def body(self, units: dict[str, float] | None = None, *, output: str = "WETH", **changes: Any) -> dict[str, Any]:
        """Return a valid build request: ``units`` are whole tokens by symbol, ``output`` a symbol or ``ETH``."""
        tokens = [(self.chain.token(symbol), whole) for symbol, whole in (units or {"USDC": 3.0}).items()]
        return {
            "chain": self.chain.world["chain"],
            "wallet": self.user.address,
            "tokens": [{"mint": token.address, "amount": str(token.units(whole))} for token, whole in tokens],
            "outputMint": NATIVE_COIN if output == "ETH" else self.chain.token(output).address,
            "slippageBps": 100,
        } | changes

    def post_build(self, body: dict[str, Any]) -> Any:
        return self.api.post(BUILD, body, content_type="application/json")

    def build(self, units: dict[str, float] | None = None, *, output: str = "WETH", **changes: Any) -> dict[str, Any]:
        """Build a sweep and return the response's data."""
        response = self.post_build(self.body(units, output=output, **changes))
        assert response.status_code == 201, response.content
        data: dict[str, Any] = response.json()["data"]
        return data

    def execute(self, built: dict[str, Any], *, user: LocalAccount | None = None) -> str:
        """Approve what the build asks for, sign and send, as the wallet; returns the hash, mined or not."""
        wallet = user or self.user
        self.approve(built, user=wallet)
        return self.chain.sign_and_send(wallet, built)

    def approve(self, built: dict[str, Any], *, user: LocalAccount | None = None) -> None:
        """Send the approvals that the build asks for, as the wallet."""
        for issue in built["issues"]["allowance"]:
            for approval in filter(None, (issue["resetTransaction"], issue["transaction"])):
                assert self.chain.receipt(self.chain.send(user or self.user, approval))["status"] == 1

    def post_confirm(self, sweep_id: str, tx_hash: object) -> Any:
        return self.api.post(
            f"/v2/sweep/status/{sweep_id}/confirm", {"txHash": tx_hash}, content_type="application/json"
        )

    def confirm(self, built: dict[str, Any], tx_hash: str, *, status: int = 200) -> dict[str, Any]:
        """Confirm a sweep and return the status object."""
        response = self.post_confirm(built["sweepId"], tx_hash)
        assert response.status_code == status, response.content
        data: dict[str, Any] = response.json()["data"]
        return data

    def complete(self) -> tuple[dict[str, Any], str]:
        """Build, send and confirm a sweep; return its status object and the hash."""
        built = self.build()
        tx_hash = self.execute(built)
        return self.confirm(built, tx_hash), tx_hash

    def state(self, sweep_id: str) -> dict[str, Any]:
        """Return the sweep's status object."""
        response = self.api.get(f"/v2/sweep/status/{sweep_id}")
        assert response.status_code == 200, response.content
        data: dict[str, Any] = response.json()["data"]
        return data


def error_of(response: Any) -> tuple[int, str]:
    """Return the HTTP status and the code of an error response."""
    return response.status_code, response.json()["error"]["code"]


def details_of(response: Any) -> set[tuple[str, str]]:
    """Return the field and the code of each detail of an error response."""
    return {(detail["field"], detail["code"]) for detail in response.json()["error"]["details"]}
