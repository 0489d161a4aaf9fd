"""The compute budget of a transaction: enough units, a price that recent blocks accepted, and never above the cap."""

from typing import Any

import pytest
from solders.instruction import Instruction
from solders.pubkey import Pubkey

from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.compute_budget import (
    affordable,
    fee_lamports,
    price_in,
    recent_fees_call,
    recent_price,
    unit_limit,
)
from tests.solana_cluster import SolanaCluster


@pytest.mark.parametrize(
    ("consumed", "limit"),
    [(0, 40_000), (1, 40_002), (100_000, 160_000), (1_133_333, 1_400_000), (1_400_000, 1_400_000)],
)
def test_the_limit_leaves_a_margin_up_to_what_a_transaction_can_ask_for(consumed: int, limit: int) -> None:
    assert unit_limit(consumed) == limit


@pytest.mark.parametrize(("percentile", "price"), [("medium", 200), ("high", 300), ("veryHigh", 400)])
def test_the_recent_price_is_one_that_so_many_blocks_did_not_exceed(percentile: str, price: int) -> None:
    assert recent_price([500, 100, 400, 200, 300], percentile) == price


def test_without_recent_fees_nothing_is_paid_for_priority() -> None:
    assert recent_price([], "veryHigh") == 0


@pytest.mark.parametrize(("limit", "cap"), [(200_000, 500), (1_400_000, 500_000), (3, 1), (0, 5)])
def test_the_price_never_costs_more_than_the_cap(limit: int, cap: int) -> None:
    price = affordable(2**64 - 1, unit_limit=limit, max_lamports=cap)

    assert fee_lamports(unit_limit=limit, unit_price=price) - 5_000 <= cap


def test_the_price_uses_the_cap() -> None:
    price = affordable(2**64 - 1, unit_limit=200_000, max_lamports=1_000)

    assert fee_lamports(unit_limit=200_000, unit_price=price) == 6_000


def test_the_price_that_an_instruction_sets_is_read_and_no_other_instruction_has_one() -> None:
    limit, price = compute_budget.instructions(unit_limit=7, unit_price=123_456)
    longer = Instruction(price.program_id, bytes(price.data) + b"\x00", [])
    elsewhere = Instruction(Pubkey.new_unique(), bytes(price.data), [])
    assert [price_in(one) for one in (price, limit, longer, elsewhere)] == [123_456, None, None, None]


def test_a_fraction_of_a_lamport_is_rounded_up() -> None:
    assert fee_lamports(unit_limit=1, unit_price=1) == 5_001


def test_the_instructions_have_the_same_size_whatever_their_values() -> None:
    sizes = {
        tuple(len(each.data) for each in compute_budget.instructions(unit_limit=limit, unit_price=price))
        for limit, price in [(0, 0), (1_400_000, 2**64 - 1)]
    }

    assert len(sizes) == 1


def test_recent_fees_are_read_from_the_cluster(cluster: SolanaCluster) -> None:
    call = recent_fees_call([cluster.create_wallet().pubkey() for _ in range(200)])

    prices = call.decode(cluster.rpc(call.method, *call.params))

    assert len(call.params[0]) == 128
    assert prices
    assert set(prices) == {cluster.bank.priority_fee}


@pytest.mark.parametrize(
    "answer",
    [None, {}, [5], [{}], *([{"slot": 1, "prioritizationFee": fee}] for fee in (None, -1, 2**64, True, "5", 1.5))],
)
def test_impossible_fees_are_refused(answer: Any) -> None:
    with pytest.raises(BadResponseError):
        recent_fees_call([]).decode(answer)
