"""The demo's new wallet: the service tells its good tokens from the bad ones, and one prompt sweeps the good ones."""

from eth_utils.crypto import keccak

from dev.chain.bad_tokens import fill_wallet
from dev.demo.context import SLIPPAGE_BPS, Context, StepResult
from dev.demo.reconciliation import reconcile
from dev.partner_client import Wallet

READY = {"wallet": {"atomic": "ready"}}  # what the wallet says: it makes batches once it is upgraded
SIMULATION_FAILED, UNECONOMIC, NO_ROUTE = "simulation_failed", "uneconomic", "no_route"


def first_timer(context: Context, result: StepResult) -> None:
    """Discover a wallet with a honeypot, a taxed, a worthless and an imitating token, and sweep it with one prompt."""
    wallet = Wallet(context.rpc, f"0x{keccak(b'first-timer').hex()}")
    mixed, output = fill_wallet(context.rpc, context.contracts, context.tokens, wallet.address), context.address("WETH")
    found = context.ours.discover(
        chain=context.chain, wallet=wallet.address, output=output, candidates=mixed.all, execution=READY
    )
    verdicts = {token["mint"]: token["verdict"] for token in found["tokens"]}
    expected = ["sellable", "sellable", "taxed", "uneconomic", "unsellable", "suspect"]
    result.check([verdicts[token] for token in mixed.all] == expected, f"discover says: {', '.join(expected)}")
    basket = {token["mint"] for token in found["bestBasket"]["tokens"]}
    result.check(basket == {*mixed.good, mixed.taxed}, "its best basket has the good tokens and the taxed one")
    built = context.ours.build(
        chain=context.chain,
        wallet=wallet.address,
        amounts={token["mint"]: int(token["amount"]) for token in found["tokens"]},
        output=output,
        slippage_bps=SLIPPAGE_BPS,
        onUnroutable="skip",
        execution=READY,
    )
    reasons = {token["mint"]: token["reason"] for token in built["skippedTokens"]}
    left_out = {mixed.worthless: UNECONOMIC, mixed.honeypot: SIMULATION_FAILED, mixed.imitating: NO_ROUTE}
    result.check(reasons == left_out, "a build of all of them leaves out the bad ones, each with its reason")
    calls = built["executions"][0]
    shown = (calls["kind"], calls["prompts"], calls["transactions"])
    result.check(shown == ("calls", 1, 1), "the wallet can approve and sweep in one batch, with one prompt")
    delegate = context.contracts["delegate"]
    tx_hash = wallet.send_calls(calls["calls"], delegate=delegate, gas=int(calls["gasLimit"]))
    receipt = context.receipt(tx_hash)
    result.check(receipt["status"] == "0x1", "one transaction made the account a delegated one, approved and swept")
    status = {"version": "2.0.0", "id": tx_hash, "chainId": calls["calls"]["chainId"], "status": 200, "atomic": True}
    answer = context.ours.confirm_calls(built["sweepId"], {**status, "receipts": [receipt]})
    result.check((answer.http_status, answer.data["status"]) == (200, "completed"), "its confirm gets 200, completed")
    result.sweep, result.output, result.gas_used = answer.data, built["estimatedOutput"], int(receipt["gasUsed"], 16)
    gross = answer.data["feeAuthorization"]["actualFees"]["grossOutput"]
    result.check(gross == built["issues"]["simulation"]["grossOutput"], "the output is the simulated one to the unit")
    reconcile(context, result, built=built, sweep=answer.data, receipt=receipt)
