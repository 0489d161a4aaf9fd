"""Reads the answers of a swap API, which are hostile input: every field that is used is checked, others are ignored."""

import json
from typing import Any

from solders.instruction import Instruction

from sweepapi.fees import BPS_DENOMINATOR
from sweepapi.limits.nesting import is_nested_deeper
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.swap_api import fields
from sweepapi.solana.swap_api.quotes import NoQuote, QuoteRequest, SwapApiError, SwapApiQuote

MAX_DEPTH = 16
MAX_REASON_CHARACTERS = 200
MAX_LABEL_CHARACTERS = 50
MAX_INSTRUCTIONS = 16  # of a kind
MAX_STEPS = 64


def parsed(body: bytes) -> dict[str, Any]:
    """Return the JSON object of a response's body."""
    return fields.mapping(json_of(body), "the top level")


def json_of(body: bytes) -> Any:  # noqa: ANN401 - JSON of any shape
    """Return the JSON of a response's body."""
    try:
        text = body.decode()
        if is_nested_deeper(text, than=MAX_DEPTH):
            raise SwapApiError("the swap API's answer exceeds the maximum depth")
        return json.loads(text)
    except ValueError:
        raise SwapApiError("the swap API's answer is not JSON") from None


def no_quote(answer: dict[str, Any]) -> NoQuote:
    """Return why the swap API offers no swap, if it says so."""
    return NoQuote(fields.text(answer.get("error", ""), "error", MAX_REASON_CHARACTERS))


def quote(answer: dict[str, Any], request: QuoteRequest) -> SwapApiQuote:
    """Return the quote; raises ``SwapApiError`` if it is malformed, or differs from what was requested."""
    if answer.get("tipInstruction") is not None:
        raise SwapApiError("the swap API asks for a tip, which was not requested")
    read = SwapApiQuote(
        input_mint=str(fields.key(answer.get("inputMint"), "inputMint")),
        output_mint=str(fields.key(answer.get("outputMint"), "outputMint")),
        in_amount=fields.amount(answer.get("inAmount"), "inAmount"),
        out_amount=fields.amount(answer.get("outAmount"), "outAmount"),
        threshold=fields.amount(answer.get("otherAmountThreshold"), "otherAmountThreshold"),
        price_impact_bps=fields.ratio_bps(answer.get("priceImpactPct"), "priceImpactPct"),
        labels=tuple(_label(step) for step in fields.items(answer.get("routePlan"), "routePlan", MAX_STEPS)),
        setup=_instructions(answer, "setupInstructions"),
        swap=fields.instruction(answer.get("swapInstruction"), "swapInstruction"),
        other=_instructions(answer, "otherInstructions"),
        cleanup=_cleanup(answer.get("cleanupInstruction")),
        lookup_tables=fields.lookup_tables(
            answer.get("addressesByLookupTableAddress"), "addressesByLookupTableAddress"
        ),
        unit_price=_unit_price(answer),
    )
    _check_terms(read, request)
    return read


def _check_terms(read: SwapApiQuote, request: QuoteRequest) -> None:
    lowest = read.out_amount * (BPS_DENOMINATOR - request.slippage_bps) // BPS_DENOMINATOR
    for differs, what in (
        (read.input_mint != request.input_mint, "another input mint than requested"),
        (read.output_mint != request.output_mint, "another output mint than requested"),
        (read.in_amount != request.amount, "another amount than requested"),
        (read.threshold > read.out_amount, "a minimum above the expected output"),
        (read.threshold < lowest, "a minimum below what the slippage allows"),
    ):
        if differs:
            raise SwapApiError(f"the swap API quotes {what}")


def _instructions(answer: dict[str, Any], name: str) -> tuple[Instruction, ...]:
    return tuple(fields.instruction(value, name) for value in fields.items(answer.get(name), name, MAX_INSTRUCTIONS))


def _unit_price(answer: dict[str, Any]) -> int | None:
    prices = map(compute_budget.price_in, _instructions(answer, "computeBudgetInstructions"))
    return max((price for price in prices if price is not None), default=None)


def _cleanup(value: object) -> Instruction | None:
    return None if value is None else fields.instruction(value, "cleanupInstruction")


def _label(step: object) -> str:
    swap_info = fields.mapping(fields.mapping(step, "routePlan").get("swapInfo"), "routePlan.swapInfo")
    return fields.text(swap_info.get("label"), "routePlan.swapInfo.label", MAX_LABEL_CHARACTERS)
