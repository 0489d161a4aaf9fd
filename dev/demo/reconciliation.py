"""Reconciles one sweep to the unit: the event on chain, the balances that changed, the status object and the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eth_abi.abi import decode
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from dev.chain.sender import calldata
from dev.demo.context import Context, StepResult
from sweepapi_client import NATIVE_COIN

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep, BuiltToken, FeeSummary, SweepState

SKIPPED = "LegSkipped(uint256,uint256,address,uint8)"
ROUNDED_UNITS = 10
EVENTS = {
    "v5": "SweepExecutedV5(uint256,address,bytes32,address,address,address,uint256,uint256,uint256,uint256,uint256,"
    "uint256)",
    "v4": "SweepExecutedV4(bytes32,address,address,uint256,uint256,uint256,uint256)",
}


@dataclass(frozen=True)
class Executed:
    """What the event says, in the output token's smallest unit, and whom the contract paid with it."""

    output_token: str
    token_count: int
    gross_output: int
    total_fee: int
    partner_fee: int
    user_amount: int
    paid: dict[str, tuple[str, int]]  # account and amount, by role
    partner_account: str  # of the ledger

    def amounts(self) -> dict[str, str]:
        """Return the amounts as the status object names them."""
        return {
            "grossOutput": str(self.gross_output),
            "totalFee": str(self.total_fee),
            "partnerFee": str(self.partner_fee),
            "protocolFee": str(self.total_fee - self.partner_fee),
            "userAmount": str(self.user_amount),
        }


def reconcile(
    context: Context, result: StepResult, *, built: BuiltSweep, sweep: SweepState, receipt: dict[str, Any]
) -> None:
    """Check that event, balances, status object and ledger agree."""
    event = read_event(context, built, receipt)
    split_holds = (event.total_fee, event.partner_fee) == split(event.gross_output, built["feeSummary"])
    split_holds &= sum(amount for _, amount in event.paid.values()) == event.gross_output
    result.check(split_holds, "the fees follow the formula, rounded down, and the split adds up to the gross output")
    result.check(event.token_count == len(built["tokens"]), "the event counts every token that was signed")
    swept = _check_outcomes(result, built, sweep, receipt)
    floors = sum(int(token["floor"]) for token in built["tokens"] if token["mint"] in swept)
    spent = {token["mint"]: _spent(token, is_swept=token["mint"] in swept) for token in built["tokens"]}
    result.check(event.user_amount >= floors, "the user got at least the floors of the tokens that were swept")
    _check_balances(context, result, event, receipt, spent)
    result.check(
        sweep["feeAuthorization"]["actualFees"] == event.amounts(), "the status object shows the event's amounts"
    )
    _check_ledger(context, result, event, sweep, receipt["transactionHash"])


def read_event(context: Context, built: BuiltSweep, receipt: dict[str, Any]) -> Executed:
    """Decode the only event that the sweep's contract emitted in this transaction."""
    version = built["contractVersion"]
    topic = "0x" + keccak(text=EVENTS[version]).hex()
    ours = [log for log in receipt["logs"] if log["address"] == built["contractAddress"].lower()]
    (log,) = [log for log in ours if log["topics"][0] == topic]
    user, data = to_checksum_address("0x" + log["topics"][2][-40:]), bytes.fromhex(log["data"][2:])
    return _of_v5(user, data) if version == "v5" else _of_v4(context, built, user, data)


def _of_v5(user: str, data: bytes) -> Executed:
    partner, protocol, output, count, gross, total_fee, partner_fee, protocol_fee, user_amount = decode(
        ["address", "address", "address", *["uint256"] * 6], data
    )
    paid = {
        "user": (user, user_amount),
        "partner": (to_checksum_address(partner), partner_fee),
        "protocol recipient": (to_checksum_address(protocol), protocol_fee),
    }
    return Executed(
        to_checksum_address(output), count, gross, total_fee, partner_fee, user_amount, paid, "partner_settled"
    )


def _of_v4(context: Context, built: BuiltSweep, user: str, data: bytes) -> Executed:
    output, count, gross, fee, user_amount = decode(["address", *["uint256"] * 4], data)
    request = {"to": built["contractAddress"], "data": "0x" + calldata("feeRecipient()").hex()}
    protocol = to_checksum_address("0x" + context.rpc.call("eth_call", request, "latest")[-40:])
    _, partner_fee = split(gross, built["feeSummary"])  # accounted for later; the contract pays the protocol it all
    paid = {"user": (user, user_amount), "protocol recipient": (protocol, fee)}
    return Executed(to_checksum_address(output), count, gross, fee, partner_fee, user_amount, paid, "partner_payable")


def split(gross_output: int, summary: FeeSummary) -> tuple[int, int]:
    """Return the total fee and the partner's fee on a gross output, both rounded down."""
    total_fee = gross_output * summary["totalFeeBps"] // 10_000
    return total_fee, total_fee * summary["partnerShareBps"] // 10_000


def _check_outcomes(result: StepResult, built: BuiltSweep, sweep: SweepState, receipt: dict[str, Any]) -> set[str]:
    """Check which tokens the status object says were left out, and return the others."""
    topic = "0x" + keccak(text=SKIPPED).hex()
    ours = [log for log in receipt["logs"] if log["address"] == built["contractAddress"].lower()]
    emitted = {
        to_checksum_address(decode(["uint256", "address", "uint8"], bytes.fromhex(log["data"][2:]))[1])
        for log in ours
        if log["topics"][0] == topic
    }
    shown = {token["mint"] for token in sweep["tokens"] if token["outcome"] != "swept"}
    result.check(shown == emitted, "the status object shows the tokens as left out that the events name, and no others")
    return {token["mint"] for token in sweep["tokens"]} - emitted


def _spent(token: BuiltToken, *, is_swept: bool) -> range:
    """Return what may leave the user of a token; the contract gives back what a router's rounding leaves."""
    if not is_swept:
        return range(1)
    amount = int(token["amount"])
    is_routed = token["route"] is not None and token["route"]["kind"] == "router"
    return range(amount - (ROUNDED_UNITS if is_routed else 0), amount + 1)


def _check_balances(
    context: Context, result: StepResult, event: Executed, receipt: dict[str, Any], spent: dict[str, range]
) -> None:
    """Check what the block changed: the user's tokens by what was spent of each, and what was paid."""
    block = int(receipt["blockNumber"], 16)
    gas_paid = int(receipt["gasUsed"], 16) * int(receipt["effectiveGasPrice"], 16)
    gas_in_output = gas_paid if event.output_token == NATIVE_COIN else 0  # the user also pays gas in the coin

    def moved(token: str, holder: str) -> int:
        return balance(context, token, holder, block) - balance(context, token, holder, block - 1)

    user, _ = event.paid["user"]
    fell = all(-moved(token, user) in amounts for token, amounts in spent.items())
    result.check(fell, "the user's balances fell by exactly the signed amounts of the tokens that were swept")
    for role, (holder, amount) in event.paid.items():
        received = moved(event.output_token, holder) + (gas_in_output if role == "user" else 0)
        result.check(received == amount, f"the {role}'s balance rose by the event's amount")


def balance(context: Context, token: str, holder: str, block: int) -> int:
    """Return a balance of a token or the native coin at the end of a block."""
    if token == NATIVE_COIN:
        return int(context.rpc.call("eth_getBalance", holder, hex(block)), 16)
    request = {"to": token, "data": "0x" + calldata("balanceOf(address)", holder).hex()}
    return int(context.rpc.call("eth_call", request, hex(block)), 16)


def _check_ledger(context: Context, result: StepResult, event: Executed, sweep: SweepState, tx_hash: str) -> None:
    expected = {
        ("fees_charged", "debit", str(event.total_fee)),
        (event.partner_account, "credit", str(event.partner_fee)),
        ("protocol_revenue", "credit", str(event.total_fee - event.partner_fee)),
    }
    of_sweep = sweep["ledger"]["entries"]
    listed = context.listed_postings([tx_hash])
    for postings, where in ((of_sweep, "the sweep's postings"), (listed, "GET /v2/ledger/entries")):
        booked = {(posting["account"], posting["direction"], posting["amount"]) for posting in postings}
        complete = len(postings) == len(expected) and booked == expected
        result.check(complete, f"{where} match the event's fees to the unit, in one balanced entry")
