"""The demo's step on Solana: from what a wallet has to the line on the partner's statement."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from spl.token.constants import ACCOUNT_LEN

from dev.chain.rpc import Rpc
from dev.demo.context import SLIPPAGE_BPS, WORKER_SECONDS, Context, StepResult
from dev.demo.statements import statement_lines
from dev.processes.waiting import wait_until
from dev.wallets import BASE64, SolanaWallet
from sweepapi_client import token_inputs

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSolanaSweep, FoundToken

SELLABLE_TOKENS = 4
_AMOUNT = slice(64, 72)  # of a token account's data
CONFIRMED = BASE64 | {"commitment": "confirmed"}


@dataclass(frozen=True)
class Holdings:
    """The user's and the fee wallet's USDC, the user's SOL, and the rent of a token account."""

    user: int
    fee_wallet: int
    lamports: int
    rent_lamports: int


@dataclass(frozen=True)
class Scene:
    """The cluster and a user's wallet."""

    context: Context
    rpc: Rpc
    wallet: SolanaWallet
    usdc: str
    fee_wallet: str

    @classmethod
    def of(cls, context: Context) -> Self:
        facts = context.solana
        rpc = Rpc(facts["rpcUrl"])
        return cls(
            context=context,
            rpc=rpc,
            wallet=SolanaWallet(rpc, facts["users"][0]["privateKey"]),
            usdc=facts["mints"]["USDC"]["mint"],
            fee_wallet=facts["feeWallet"]["address"],
        )

    def holdings(self) -> Holdings:
        """Read what the user and the fee wallet have now."""
        return Holdings(
            user=self._usdc_of(self.wallet.address),
            fee_wallet=self._usdc_of(self.fee_wallet),
            lamports=self.rpc.call("getBalance", self.wallet.address, {"commitment": "confirmed"})["value"],
            rent_lamports=self.rpc.call("getMinimumBalanceForRentExemption", ACCOUNT_LEN),
        )

    def _usdc_of(self, owner: str) -> int:
        found = self.rpc.call("getTokenAccountsByOwner", owner, {"mint": self.usdc}, CONFIRMED)["value"]
        accounts = [base64.b64decode(each["account"]["data"][0]) for each in found]
        return sum(int.from_bytes(account[_AMOUNT], "little") for account in accounts)

    def exists(self, account: str) -> bool:
        return self.rpc.call("getAccountInfo", account, CONFIRMED)["value"] is not None

    def wait_for(self, sweep_id: str, field: str, value: object) -> Mapping[str, Any]:
        """Wait until the worker has brought a field of the status object to this value; returns the object."""

        def shown() -> Mapping[str, Any]:
            return self.context.ours.solana.sweep(sweep_id)

        wait_until(
            lambda: bool(shown()[field] == value),
            within_seconds=WORKER_SECONDS,
            what=f"sweep {sweep_id} has {field} {value}",
        )
        return shown()


def four_tokens_on_solana(context: Context, result: StepResult) -> None:
    """Sweep what discover offers into USDC; the user signs and sends, and no transaction is reported."""
    scene = Scene.of(context)
    sellable = _discover(scene, result)
    before = scene.holdings()
    amounts = {token["mint"]: int(token["amount"]) for token in sellable}
    built = context.ours.solana.build(
        {
            "wallet": scene.wallet.address,
            "tokens": token_inputs(amounts),
            "outputMint": scene.usdc,
            "slippageBps": SLIPPAGE_BPS,
        }
    )
    hashes = [scene.wallet.send(each["transaction"]) for each in built["transactions"]]
    sweep = result.sweep = scene.wait_for(built["sweepId"], "status", "completed")
    result.output = built["estimatedOutput"]
    result.gas_used = sum(int(each["gasUsed"]) for each in sweep["transactions"])
    found = {each["txHash"]: each["source"] for each in sweep["transactions"]}
    result.check(found == dict.fromkeys(hashes, "discovered"), "the worker found what the user sent, without a report")
    closed = [each["tokenAccount"] for each in built["closedAccounts"]]
    result.check(len(closed) == len(sellable) + 1, "the sweep closes the emptied accounts, and one that was empty")
    result.check(not any(scene.exists(account) for account in closed), "none of these accounts exists any more")
    _check_balances(result, built, sweep["fees"]["actualFees"], before, scene.holdings())
    _check_fees(scene, result, sweep)
    _check_statement(scene, result, sweep)


def _discover(scene: Scene, result: StepResult) -> list[FoundToken]:
    """Look at the wallet; returns the tokens that lose nothing on the way."""
    look = scene.context.ours.solana.discover({"wallet": scene.wallet.address, "outputMint": scene.usdc})
    sellable = [token for token in look["tokens"] if token["verdict"] == "sellable"]
    result.check(len(sellable) == SELLABLE_TOKENS, "discover offers the four tokens that lose nothing on the way")
    others = {token["symbol"]: (token["verdict"], token["reason"]) for token in look["tokens"] if token not in sellable}
    result.check(others == {"TAXD": ("taxed", "transfer_fee")}, "it says of the fifth that it taxes transfers")
    result.check(len(look["emptyAccounts"]) == 1, "it names the empty account and the rent that closing it gives back")
    return sellable


def _check_balances(
    result: StepResult, built: BuiltSolanaSweep, actual: Mapping[str, str], before: Holdings, after: Holdings
) -> None:
    """Check what the user and the fee wallet received, and what the user paid in SOL."""
    received = (after.user - before.user, after.fee_wallet - before.fee_wallet)
    shown = (int(actual["userAmount"]), int(actual["totalFee"]))
    result.check(received == shown, "the user and the fee wallet received what the status object shows")
    result.check(shown[0] >= int(built["estimatedOutput"]["minUser"]), "the user got at least the minimum")
    paid = int(built["networkFeeLamports"]) + after.rent_lamports  # of the user's account for USDC, which is new
    gained = int(built["reclaimedLamports"]) - paid
    result.check(after.lamports - before.lamports == gained, "the user got the rent of the closed accounts back")


def _check_fees(scene: Scene, result: StepResult, sweep: Mapping[str, Any]) -> None:
    """Check the fee, its split and the postings."""
    fees, actual = sweep["fees"], {name: int(amount) for name, amount in sweep["fees"]["actualFees"].items()}
    exact = actual["grossOutput"] * fees["totalFeeBps"] // 10_000
    result.check(0 <= exact - actual["totalFee"] <= len(sweep["tokens"]), "the fee is exact within one unit per token")
    share = actual["totalFee"] * fees["partnerShareBps"] // 10_000
    result.check(actual["partnerFee"] == share, "the partner's fee is its share of it, rounded down")
    expected = {
        "fees_charged": actual["totalFee"],
        "partner_payable": actual["partnerFee"],
        "protocol_revenue": actual["protocolFee"],
    }
    result.check(_by_account(sweep["ledger"]["entries"]) == expected, "the sweep's postings match the fees to the unit")
    listed = scene.context.listed_postings({each["txHash"] for each in sweep["transactions"]})
    result.check(_by_account(listed) == expected, "GET /v2/ledger/entries has the same postings")


def _check_statement(scene: Scene, result: StepResult, sweep: Mapping[str, Any]) -> None:
    """Let the blocks become final, and check the line on the partner's statement."""
    result.sweep = scene.wait_for(sweep["sweepId"], "open", value=False)
    final = {each["finality"] for each in result.sweep["transactions"]} == {"final"}
    result.check(final, "once its blocks are final, the sweep is closed")
    partner = scene.context.ours.partner()["id"]
    lines = [line for line in statement_lines(scene.context.console, partner) if line["sweep_id"] == sweep["sweepId"]]
    accrued = {(int(line["accrued"]), line["state"]) for line in lines}
    owed = {(int(sweep["fees"]["actualFees"]["partnerFee"]), "final")}
    result.check(accrued == owed, "the partner's statement has a final line with what is owed for it")


def _by_account(postings: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for posting in postings:
        sums[posting["account"]] = sums.get(posting["account"], 0) + int(posting["amount"])
    return sums
