"""The demo's steps, in order; each sends real transactions and checks what must be true afterwards."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from dev.chain.sender import calldata
from dev.demo.context import Context, StepResult
from dev.demo.first_timer import first_timer
from dev.demo.reconciliation import reconcile
from dev.demo.solana import four_tokens_on_solana
from dev.engines.anvil import SAFE_DEPTH_BLOCKS
from sweepapi_client import finalized

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep

AUTHORIZATION_SECONDS = 900

Step = Callable[[Context, StepResult], None]


def five_tokens_into_the_wrapped_coin(context: Context, result: StepResult) -> None:
    """Sweep five tokens with different decimals; the USDT-like one needs its allowance reset first."""
    wallet = context.wallets[0]
    old = calldata("approve(address,uint256)", context.permit2, 1)
    context.receipt(wallet.send({"to": context.address("USDT"), "data": "0x" + old.hex(), "value": "0"}))
    built = context.build(wallet, "WETH", USDC=3, USDT=3, GUSD=3, WBTC=3, LINK=3)
    needed = {issue["token"]: issue for issue in built["issues"]["allowance"]}
    result.check(len(needed) == len(built["tokens"]), "the build names every missing allowance")
    resets = [token for token, issue in needed.items() if issue["resetTransaction"]]
    result.check(
        resets == [context.address("USDT")], "only the USDT-like token needs its allowance reset to zero first"
    )
    routed = [(token["symbol"], token["route"]) for token in built["tokens"]]
    pools = [f"{symbol} {route['venue']}" for symbol, route in routed if route and route["venue"]]
    result.check(len(pools) == len(needed), f"the contract calls the pools itself: {', '.join(pools)}")
    _complete(context, result, built, context.sign_and_send(wallet, built))


def into_the_native_coin(context: Context, result: StepResult) -> None:
    wallet = context.wallets[1]
    built = context.build(wallet, "ETH", DAI=100, UNI=5)
    _complete(context, result, built, context.sign_and_send(wallet, built))


def confirmed_while_mining_is_paused(context: Context, result: StepResult) -> None:
    """Confirm before there is a receipt; the worker completes the sweep without another confirm."""
    wallet = context.wallets[2]
    built = context.build(wallet, "USDC", LINK=2, WBTC=1)
    kinds = [token["route"] and token["route"]["kind"] for token in built["tokens"]]
    last = built["lastHop"] or {"venue": None}
    result.check(kinds == ["joined", "joined"], f"both are joined, and share one last hop, through {last['venue']}")
    context.pause_mining()
    tx_hash = context.sign_and_send(wallet, built)
    confirmed = context.ours.confirm(built["sweepId"], {"txHash": tx_hash})
    result.check(confirmed["status"] == "pending", "a confirm before the receipt is answered: pending")
    context.resume_mining()
    receipt = context.receipt(tx_hash)
    result.sweep = sweep = context.wait_for_status(built["sweepId"], "completed")
    result.record("the worker completed the sweep without another confirm")
    _record(result, built, receipt)
    reconcile(context, result, built=built, sweep=sweep, receipt=receipt)


def wrong_hashes_do_no_harm(context: Context, result: StepResult) -> None:
    """Confirm an unrelated transaction, then the right one twice, then the unrelated one again."""
    wallet = context.wallets[3]
    built = context.build(wallet, "WETH", USDC=50, DAI=50)
    sweep_id = built["sweepId"]
    unrelated = wallet.send({"to": wallet.address, "data": "0x", "value": "1"})
    context.receipt(unrelated)
    confirm_unrelated = partial(context.ours.confirm, sweep_id, {"txHash": unrelated})
    result.check_refused(confirm_unrelated, 422, "event_mismatch", what="a wrong hash")
    result.check(context.ours.sweep(sweep_id)["status"] == "pending", "the sweep is still pending")
    tx_hash = context.sign_and_send(wallet, built)
    _complete(context, result, built, tx_hash)
    before, again = context.ours.sweep(sweep_id), context.ours.confirm(sweep_id, {"txHash": tx_hash})
    # The worker may have looked at the sweep in between, which the times and the number of checks show.
    same = [(one["status"], one["flags"], one["ledger"]) for one in (before, again)]
    result.check(same[0] == same[1], "the same hash again gets the same result")
    refusal = result.check_refused(confirm_unrelated, 409, "sweep_already_confirmed", what="another hash")
    named = any(detail["message"] == tx_hash for detail in refusal.details)
    result.check(named, "the refusal names the accepted hash")


def reverted_on_chain(context: Context, result: StepResult) -> None:
    """Send the sweep with another user's signature, so that Permit2 reverts."""
    wallet, stranger = context.wallets[4], context.wallets[0]
    built = context.build(wallet, "WETH", USDC=10)
    tx_hash = wallet.send(finalized(built, stranger.sign(built["permit2"])))
    receipt = context.receipt(tx_hash)
    result.check(receipt["status"] == "0x0", "the chain reverted the transaction")
    confirm = partial(context.ours.confirm, built["sweepId"], {"txHash": tx_hash})
    result.check_refused(confirm, 422, "transaction_reverted", what="its confirm")
    result.sweep = context.ours.sweep(built["sweepId"])
    _record(result, built, receipt)
    result.check(result.sweep["status"] == "failed", "the sweep is failed")
    result.check(result.sweep["ledger"]["entries"] == [], "nothing was booked")


def never_submitted(context: Context, result: StepResult) -> None:
    """Never send a sweep, and wait until a safe block is past its deadline with the nonce unused."""
    built = context.build(context.wallets[4], "WETH", USDC=10)
    result.check(context.ours.sweep(built["sweepId"])["status"] == "pending", "a built sweep is pending")
    context.pass_time(AUTHORIZATION_SECONDS + 60, blocks=1 + SAFE_DEPTH_BLOCKS)
    result.sweep = context.wait_for_status(built["sweepId"], "expired")
    result.check(not result.sweep["open"], "the worker proved it unused: the sweep is expired and closed")
    late = "0x" + "ab" * 32
    result.check_refused(
        lambda: context.ours.confirm(built["sweepId"], {"txHash": late}), 409, "sweep_expired", what="a late confirm"
    )


def another_partner_sees_nothing(context: Context, result: StepResult) -> None:
    """Read and confirm a sweep with another partner's key."""
    built = context.build(context.wallets[1], "WETH", DAI=10)
    tx_hash = context.sign_and_send(context.wallets[1], built)
    context.receipt(tx_hash)
    sweep_id = built["sweepId"]
    result.check_refused(
        lambda: context.other.sweep(sweep_id), 404, "sweep_not_found", what="another partner's status request"
    )
    confirm = partial(context.other.confirm, sweep_id, {"txHash": tx_hash})
    result.check_refused(confirm, 404, "sweep_not_found", what="another partner's confirm")
    result.check(list(context.other.ledger_entries()) == [], "the other partner's ledger is empty")
    _complete(context, result, built, tx_hash)


def rolled_back_to_v4(context: Context, result: StepResult) -> None:
    """Run the same client against an API that builds on V4; the other API and the worker follow the sweep."""
    wallet = context.wallets[3]
    on_v5, built = (context.build(wallet, "WETH", api=api, USDC=20, DAI=20) for api in (None, context.rolled_back))
    facts = (built["contractVersion"], built["feeMode"], built["feeAuthorization"])
    result.check(facts == ("v4", "offchain_accounting", None), "the API in v4_fallback builds on V4")
    result.check(list(built) == list(on_v5), "its answer has the fields of V5's, in their order")
    _complete(context, result, built, context.sign_and_send(wallet, built))
    result.check(result.sweep is not None and result.sweep["mode"] == "v4_fallback", "the other API completed it as V4")


def one_price_falls(context: Context, result: StepResult) -> None:
    """Sell much of one token after a build, so that the contract leaves it with the user."""
    wallet, whale = context.wallets[0], context.wallets[1]
    built = context.build(wallet, "WETH", USDC=50, WBTC=1)
    allowed = (built["maxSkipped"], built["permit2"]["message"]["witness"]["maxSkipped"])
    result.check(allowed == (1, "1"), "the user signs that one of the two may be left out")
    sale = context.build(whale, "WETH", accept_impact_bps=10_000, WBTC=3_000)
    context.receipt(context.sign_and_send(whale, sale))
    _complete(context, result, built, context.sign_and_send(wallet, built))
    outcomes = {token["symbol"]: (token["outcome"], token["skipReason"]) for token in (result.sweep or {})["tokens"]}
    result.check(
        outcomes == {"USDC": ("swept", None), "WBTC": ("skipped", "below_least")},
        "the token whose price fell is shown as skipped, and the other as swept",
    )


def _complete(context: Context, result: StepResult, built: BuiltSweep, tx_hash: str) -> None:
    """Confirm a mined sweep and reconcile it."""
    receipt = context.receipt(tx_hash)
    result.check(receipt["status"] == "0x1", "the chain executed the sweep in one transaction")
    result.sweep = sweep = context.ours.confirm(built["sweepId"], {"txHash": tx_hash})
    result.check(sweep["status"] == "completed", "its confirm is answered: completed")
    _record(result, built, receipt)
    reconcile(context, result, built=built, sweep=sweep, receipt=receipt)


def _record(result: StepResult, built: BuiltSweep, receipt: dict[str, Any]) -> None:
    result.output = built["estimatedOutput"]
    result.gas_used = int(receipt["gasUsed"], 16)


STEPS: tuple[tuple[str, str, Step], ...] = (
    ("a", "five tokens into the wrapped coin", five_tokens_into_the_wrapped_coin),
    ("b", "two tokens into the native coin", into_the_native_coin),
    ("c", "confirmed while mining is paused", confirmed_while_mining_is_paused),
    ("d", "wrong hash, right, again, another", wrong_hashes_do_no_harm),
    ("e", "reverted on chain", reverted_on_chain),
    ("f", "never submitted", never_submitted),
    ("g", "another partner's key", another_partner_sees_nothing),
    ("h", "rolled back to V4, the same client", rolled_back_to_v4),
    ("i", "a price falls, its token stays", one_price_falls),
    ("j", "four tokens on Solana into USDC", four_tokens_on_solana),
    ("k", "a first-timer's wallet, one prompt", first_timer),
)
