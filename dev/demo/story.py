"""The steps of the story, in their order; each sends real transactions and holds what must be true afterwards."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from dev.chain.sender import calldata
from dev.demo.accounts import check_accounts
from dev.demo.stage import Outcome, Stage
from dev.engines.anvil import SAFE_DEPTH_BLOCKS
from dev.partner_client import finalize

AUTHORIZATION_SECONDS = 900

Step = Callable[[Stage, Outcome], None]


def five_tokens_into_the_wrapped_coin(stage: Stage, outcome: Outcome) -> None:
    """Sweep five tokens of different decimals; the USDT-like one needs its old allowance reset first."""
    wallet = stage.wallets[0]
    old = calldata("approve(address,uint256)", stage.permit2, 1)
    stage.receipt(wallet.send({"to": stage.address("USDT"), "data": "0x" + old.hex(), "value": "0"}))
    built = stage.build(wallet, "WETH", USDC=3, USDT=3, GUSD=3, WBTC=3, LINK=3)
    needed = {issue["token"]: issue for issue in built["issues"]["allowance"]}
    outcome.hold(len(needed) == len(built["tokens"]), "the build names every missing allowance")
    resets = [token for token, issue in needed.items() if issue["resetTransaction"]]
    outcome.hold(resets == [stage.address("USDT")], "only the USDT-like token has its allowance reset to zero first")
    _complete(stage, outcome, built, stage.sign_and_send(wallet, built))


def into_the_native_coin(stage: Stage, outcome: Outcome) -> None:
    """Sweep into the coin itself."""
    wallet = stage.wallets[1]
    built = stage.build(wallet, "ETH", DAI=100, UNI=5)
    _complete(stage, outcome, built, stage.sign_and_send(wallet, built))


def confirmed_while_mining_is_paused(stage: Stage, outcome: Outcome) -> None:
    """Confirm before there is a receipt; the worker completes the sweep without being asked again."""
    wallet = stage.wallets[2]
    built = stage.build(wallet, "USDC", LINK=2, WBTC=1)
    stage.pause_mining()
    tx_hash = stage.sign_and_send(wallet, built)
    answer = stage.ours.confirm(built["sweepId"], tx_hash)
    told = (answer.http_status, answer.data["status"])
    outcome.hold(told == (202, "pending"), "a confirm before the receipt is answered 202, pending")
    stage.resume_mining()
    receipt = stage.receipt(tx_hash)
    outcome.sweep = stage.wait_for_status(built["sweepId"], "completed")
    outcome.note("the worker completed the sweep, unasked")
    _keep(outcome, built, receipt)
    check_accounts(stage, outcome, built=built, sweep=outcome.sweep, receipt=receipt)


def wrong_hashes_do_no_harm(stage: Stage, outcome: Outcome) -> None:
    """Confirm with a stranger's transaction, then the right one, then again, then another."""
    wallet = stage.wallets[3]
    built = stage.build(wallet, "WETH", USDC=50, DAI=50)
    sweep_id = built["sweepId"]
    stranger = wallet.send({"to": wallet.address, "data": "0x", "value": "1"})
    stage.receipt(stranger)
    outcome.refused(lambda: stage.ours.confirm(sweep_id, stranger), 422, "event_mismatch", what="a wrong hash")
    outcome.hold(stage.ours.sweep(sweep_id)["status"] == "pending", "the sweep is still pending")
    tx_hash = stage.sign_and_send(wallet, built)
    _complete(stage, outcome, built, tx_hash)
    again = stage.ours.confirm(sweep_id, tx_hash)
    same = (again.http_status, again.data) == (HTTPStatus.OK, outcome.sweep)
    outcome.hold(same, "the same hash again is answered 200 with the same result")
    refusal = outcome.refused(
        lambda: stage.ours.confirm(sweep_id, stranger), 409, "sweep_already_confirmed", what="another hash"
    )
    named = any(detail["message"] == tx_hash for detail in refusal.details)
    outcome.hold(named, "the refusal names the accepted hash")


def reverted_on_chain(stage: Stage, outcome: Outcome) -> None:
    """Send the sweep with a signature that is not the user's, so that Permit2 reverts it."""
    wallet, stranger = stage.wallets[4], stage.wallets[0]
    built = stage.build(wallet, "WETH", USDC=10)
    tx_hash = wallet.send(finalize(built, stranger.sign(built["permit2"])))
    receipt = stage.receipt(tx_hash)
    outcome.hold(receipt["status"] == "0x0", "the chain reverted the transaction")
    outcome.refused(
        lambda: stage.ours.confirm(built["sweepId"], tx_hash), 422, "transaction_reverted", what="its confirm"
    )
    outcome.sweep = stage.ours.sweep(built["sweepId"])
    _keep(outcome, built, receipt)
    outcome.hold(outcome.sweep["status"] == "failed", "the sweep is failed")
    outcome.hold(outcome.sweep["ledger"]["entries"] == [], "nothing was booked")


def never_submitted(stage: Stage, outcome: Outcome) -> None:
    """Leave a sweep alone until a safe block is past its deadline, with its nonce unused."""
    built = stage.build(stage.wallets[4], "WETH", USDC=10)
    outcome.hold(stage.ours.sweep(built["sweepId"])["status"] == "pending", "a built sweep is pending")
    stage.pass_time(AUTHORIZATION_SECONDS + 60, blocks=1 + SAFE_DEPTH_BLOCKS)
    outcome.sweep = stage.wait_for_status(built["sweepId"], "expired")
    outcome.hold(not outcome.sweep["open"], "the worker has the chain's proof: the sweep is expired and closed")
    late = "0x" + "ab" * 32
    outcome.refused(lambda: stage.ours.confirm(built["sweepId"], late), 409, "sweep_expired", what="a late confirm")


def another_partner_sees_nothing(stage: Stage, outcome: Outcome) -> None:
    """Try everything with the other partner's key."""
    built = stage.build(stage.wallets[1], "WETH", DAI=10)
    tx_hash = stage.sign_and_send(stage.wallets[1], built)
    stage.receipt(tx_hash)
    sweep_id = built["sweepId"]
    outcome.refused(lambda: stage.other.sweep(sweep_id), 404, "sweep_not_found", what="another partner's look")
    outcome.refused(
        lambda: stage.other.confirm(sweep_id, tx_hash), 404, "sweep_not_found", what="another partner's confirm"
    )
    outcome.hold(stage.other.ledger_entries() == [], "the other partner's books are empty")
    _complete(stage, outcome, built, tx_hash)


def _complete(stage: Stage, outcome: Outcome, built: dict[str, Any], tx_hash: str) -> None:
    """Confirm a mined sweep and compare all accounts of it."""
    receipt = stage.receipt(tx_hash)
    outcome.hold(receipt["status"] == "0x1", "the chain executed the sweep in one transaction")
    answer = stage.ours.confirm(built["sweepId"], tx_hash)
    told = (answer.http_status, answer.data["status"])
    outcome.hold(told == (200, "completed"), "its confirm is answered 200, completed")
    outcome.sweep = answer.data
    _keep(outcome, built, receipt)
    check_accounts(stage, outcome, built=built, sweep=answer.data, receipt=receipt)


def _keep(outcome: Outcome, built: dict[str, Any], receipt: dict[str, Any]) -> None:
    outcome.output = built["estimatedOutput"]
    outcome.gas_used = int(receipt["gasUsed"], 16)


STORY: tuple[tuple[str, str, Step], ...] = (
    ("a", "five tokens into the wrapped coin", five_tokens_into_the_wrapped_coin),
    ("b", "two tokens into the native coin", into_the_native_coin),
    ("c", "confirmed while mining is paused", confirmed_while_mining_is_paused),
    ("d", "wrong hash, right hash, again, another", wrong_hashes_do_no_harm),
    ("e", "reverted on chain", reverted_on_chain),
    ("f", "never submitted", never_submitted),
    ("g", "another partner's key", another_partner_sees_nothing),
)
