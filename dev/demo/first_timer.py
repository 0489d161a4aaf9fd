"""The demo's new wallet: the service tells its good tokens from the bad ones, and one prompt sweeps the good ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from eth_utils.crypto import keccak

from dev.chain.bad_tokens import fill_wallet
from dev.demo.context import SLIPPAGE_BPS, Context, StepResult
from dev.demo.reconciliation import reconcile
from dev.wallets import Wallet
from sweepapi_client import token_inputs

if TYPE_CHECKING:
    from sweepapi_client.types import CallsStatus, ExecutionRequest, SendCalls

READY: ExecutionRequest = {"wallet": {"atomic": "ready"}}  # what the wallet says: it makes batches once it is upgraded
SIMULATION_FAILED, UNECONOMIC, NO_ROUTE = "simulation_failed", "uneconomic", "no_route"


def first_timer(context: Context, result: StepResult) -> None:
    """Discover a wallet with a honeypot, a taxed, a worthless and an imitating token, and sweep it with one prompt."""
    wallet = Wallet(context.rpc, f"0x{keccak(b'first-timer').hex()}")
    mixed, output = fill_wallet(context.rpc, context.contracts, context.tokens, wallet.address), context.address("WETH")
    found = context.ours.discover(
        {
            "chain": context.chain,
            "wallet": wallet.address,
            "outputMint": output,
            "candidates": [*mixed.all],
            "execution": READY,
            "includeHidden": True,
        }
    )
    verdicts = {token["mint"]: token["verdict"] for token in found["tokens"]}
    expected = ["sellable", "sellable", "taxed", "uneconomic", "unsellable", "suspect"]
    result.check([verdicts[token] for token in mixed.all] == expected, f"discover says: {', '.join(expected)}")
    basket = {token["mint"] for token in found["bestBasket"]["tokens"]}
    result.check(basket == {*mixed.good, mixed.taxed}, "its best basket has the good tokens and the taxed one")
    built = context.ours.build(
        {
            "chain": context.chain,
            "wallet": wallet.address,
            "tokens": token_inputs({token["mint"]: int(token["amount"] or 0) for token in found["tokens"]}),
            "outputMint": output,
            "slippageBps": SLIPPAGE_BPS,
            "onLegFailure": "skip",
            "onUnroutable": "skip",
            "execution": READY,
        }
    )
    reasons = {token["mint"]: token["reason"] for token in built["skippedTokens"]}
    left_out = {mixed.worthless: UNECONOMIC, mixed.honeypot: SIMULATION_FAILED, mixed.imitating: NO_ROUTE}
    result.check(reasons == left_out, "a build of all of them leaves out the bad ones, each with its reason")
    best = built["executions"][0]
    shown = (best["kind"], best["prompts"], best["transactions"])
    result.check(shown == ("calls", 1, 1), "the wallet can approve and sweep in one batch, with one prompt")
    calls = cast("SendCalls", best["calls"])  # which only this kind has
    tx_hash = wallet.send_calls(calls, delegate=context.contracts["delegate"], gas=int(best["gasLimit"]))
    receipt = context.receipt(tx_hash)
    result.check(receipt["status"] == "0x1", "one transaction made the account a delegated one, approved and swept")
    status = {"version": "2.0.0", "id": tx_hash, "chainId": calls["chainId"], "status": 200, "atomic": True}
    of_the_wallet = cast("CallsStatus", {**status, "receipts": [receipt]})
    sweep = context.ours.confirm(built["sweepId"], {"callsStatus": of_the_wallet})
    result.check(sweep["status"] == "completed", "its confirm is answered: completed")
    result.sweep, result.output, result.gas_used = sweep, built["estimatedOutput"], int(receipt["gasUsed"], 16)
    fees, simulated = sweep["feeAuthorization"]["actualFees"], built["issues"]["simulation"]["grossOutput"]
    result.check(fees is not None and fees["grossOutput"] == simulated, "the output is the simulated one to the unit")
    reconcile(context, result, built=built, sweep=sweep, receipt=receipt)
