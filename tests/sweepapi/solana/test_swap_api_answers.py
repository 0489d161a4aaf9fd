"""Every field of a swap API's answer that the client uses is checked, and so are the terms that were requested."""

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from solders.pubkey import Pubkey
from spl.token.constants import WRAPPED_SOL_MINT

from dev.solana.swap_api.orders import Order
from dev.solana.swap_api.server import LocalSwapApi, Response
from sweepapi.solana.swap_api import NoQuote, SwapApiQuote
from tests.solana_swap_api import serving_documented
from tests.swap_attacks import FALSE_TERMS, HOSTILE, changing
from tests.sweepapi.solana.canned_swap_api import (
    BOUGHT,
    FEE_ACCOUNT,
    MAKER,
    REQUEST,
    SOLD,
    TABLE,
    TAKER,
    UNIT_PRICE,
    build,
    client_of,
    deal_of,
    quote_of,
    refusal,
)


@pytest.fixture
def api() -> Iterator[LocalSwapApi]:
    with serving_documented(build) as served:
        yield served


def test_a_quote_has_the_terms_and_the_instructions_of_the_answer(api: LocalSwapApi) -> None:
    quote = quote_of(api)
    deal = deal_of(Order(SOLD, BOUGHT, 1_000_000, TAKER, 50, 75, FEE_ACCOUNT))
    assert quote == SwapApiQuote(
        input_mint=str(SOLD),
        output_mint=str(BOUGHT),
        in_amount=1_000_000,
        out_amount=1_985_000,
        threshold=1_975_075,
        price_impact_bps=12,
        labels=("Local maker",),
        setup=tuple(deal.setup()),
        swap=deal.swap(),
        other=tuple(deal.other()),
        cleanup=None,
        lookup_tables=(str(TABLE),),
        unit_price=UNIT_PRICE,
    )


def test_a_quote_for_sol_ends_with_its_unwrapping(api: LocalSwapApi) -> None:
    quote = quote_of(api, replace(REQUEST, output_mint=str(WRAPPED_SOL_MINT)))
    assert quote.cleanup == deal_of(Order(SOLD, WRAPPED_SOL_MINT, 1_000_000, TAKER)).cleanup() is not None


def test_fields_that_are_not_used_may_be_missing_unknown_or_of_any_type(api: LocalSwapApi) -> None:
    unused = dict.fromkeys(("blockhashWithMetadata", "swapMode", "slippageBps"), 7)
    api.alter = changing(**unused, newField=[{}])
    assert isinstance(quote_of(api), SwapApiQuote)


def test_what_can_be_null_may_be_null_or_missing(api: LocalSwapApi) -> None:
    optional = (
        "priceImpactPct",
        "routePlan",
        "computeBudgetInstructions",
        "setupInstructions",
        "otherInstructions",
        "cleanupInstruction",
        "addressesByLookupTableAddress",
        "tipInstruction",
    )
    api.alter = changing(**dict.fromkeys(optional))
    nulls = quote_of(api)
    api.alter = lambda _query, body: {name: value for name, value in body.items() if name not in optional}
    assert quote_of(api) == nulls
    assert (nulls.price_impact_bps, nulls.labels, nulls.setup, nulls.lookup_tables) == (None, (), (), ())


@pytest.mark.parametrize(
    ("text", "bps"),
    [("0", 0), ("0.001", 10), ("-0.5", 5_000), ("0.00001", 1), ("1", 10_000), ("1e-7", 1), ("0.0012300", 13)],
)
def test_a_price_impact_is_in_basis_points_rounded_up(api: LocalSwapApi, text: str, bps: int) -> None:
    api.alter = changing(priceImpactPct=text)
    assert quote_of(api).price_impact_bps == bps


ACCOUNT = {"pubkey": str(MAKER), "isSigner": False, "isWritable": True}
INSTRUCTION = {"programId": str(MAKER), "accounts": [ACCOUNT], "data": "AA=="}
MALFORMED: list[tuple[str, Any]] = [
    ("inputMint", None),
    ("inputMint", "0x00"),
    ("outputMint", "1" * 33),
    ("outputMint", 7),
    ("inAmount", 1_000_000),
    ("inAmount", "1e6"),
    ("inAmount", "01000000"),
    ("inAmount", "\u0661000000"),
    ("outAmount", None),
    ("outAmount", "-1"),
    ("outAmount", str(2**64)),
    ("outAmount", "9" * 100_000),
    ("otherAmountThreshold", "1.5"),
    ("priceImpactPct", "NaN"),
    ("priceImpactPct", "1e999999999"),
    ("priceImpactPct", 0.1),
    ("routePlan", {}),
    ("routePlan", [None]),
    ("routePlan", [{"swapInfo": {}}]),
    ("routePlan", [{"swapInfo": {"label": "a"}}] * 65),
    ("setupInstructions", INSTRUCTION),
    ("setupInstructions", [INSTRUCTION] * 17),
    ("otherInstructions", [None]),
    ("cleanupInstruction", []),
    ("swapInstruction", None),
    ("swapInstruction", INSTRUCTION | {"programId": "1"}),
    ("swapInstruction", INSTRUCTION | {"data": None}),
    ("swapInstruction", INSTRUCTION | {"data": "AA"}),
    ("swapInstruction", INSTRUCTION | {"data": "A A=="}),
    ("swapInstruction", INSTRUCTION | {"data": "é"}),
    ("swapInstruction", INSTRUCTION | {"data": "AAAA" * 411}),
    ("swapInstruction", INSTRUCTION | {"accounts": [ACCOUNT] * 65}),
    ("swapInstruction", INSTRUCTION | {"accounts": ["key"]}),
    ("swapInstruction", INSTRUCTION | {"accounts": [ACCOUNT | {"pubkey": None}]}),
    ("swapInstruction", INSTRUCTION | {"accounts": [ACCOUNT | {"isSigner": 0}]}),
    ("swapInstruction", INSTRUCTION | {"accounts": [ACCOUNT | {"isWritable": "true"}]}),
    ("addressesByLookupTableAddress", [str(TABLE)]),
    ("addressesByLookupTableAddress", {"table": []}),
    ("addressesByLookupTableAddress", {str(Pubkey.from_bytes(bytes([n] * 32))): [] for n in range(17)}),
]


@pytest.mark.parametrize(("name", "value"), MALFORMED, ids=lambda part: repr(part)[:40])
def test_a_malformed_field_is_refused_and_named(api: LocalSwapApi, name: str, value: Any) -> None:
    api.alter = changing(**{name: value})
    assert str(refusal(api)).startswith(name)


@pytest.mark.parametrize("terms", FALSE_TERMS)
def test_an_answer_with_other_terms_than_requested_is_refused(api: LocalSwapApi, terms: str) -> None:
    api.alter = FALSE_TERMS[terms]
    assert terms in str(refusal(api))


@pytest.mark.parametrize("attack", HOSTILE)
def test_a_well_formed_theft_is_left_to_the_inspection(api: LocalSwapApi, attack: str) -> None:
    honest = quote_of(api)
    api.alter = HOSTILE[attack](MAKER)
    assert quote_of(api) != honest


@pytest.mark.parametrize(
    ("answered", "reason"),
    [
        ("No routes found", "No routes found"),
        ("\x1b[31mred\x00\n\u202eflipped", "[31mredflipped"),
        ("a" * 1_000, "a" * 200),
        (" ", ""),
    ],
)
def test_a_400_means_that_there_is_no_quote_and_its_reason_is_cleaned(
    api: LocalSwapApi, answered: str, reason: str
) -> None:
    api.replace = lambda: Response(400, json.dumps({"error": answered}).encode())
    assert client_of(api).quotes([REQUEST]) == [NoQuote(reason)]


def test_a_400_may_leave_out_its_reason(api: LocalSwapApi) -> None:
    api.replace = lambda: Response(400, b"{}")
    assert client_of(api).quotes([REQUEST]) == [NoQuote("")]


@pytest.mark.parametrize("body", [b'{"error": 7}', b'{"error": null}', b"[]", b"Bad request"])
def test_a_400_with_a_malformed_reason_is_an_error(api: LocalSwapApi, body: bytes) -> None:
    api.replace = lambda: Response(400, body)
    refusal(api)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"null",
        b"[]",
        b"7",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"inAmount": ' + b"9" * 5_000 + b"}",
        b'{"a": ' * 17 + b"7" + b"}" * 17,
    ],
    ids=lambda body: repr(body[:10]),
)
def test_a_body_that_is_not_a_json_object_is_refused(api: LocalSwapApi, body: bytes) -> None:
    api.replace = lambda: Response(200, body)
    refusal(api)
