"""A token that does not arrive in full can't be swapped in a pool, and what does arrive is known for a router."""

from fractions import Fraction

import pytest

from sweepapi.evm.tokens.probe import Probe, TransferTest
from sweepapi.evm.tokens.transfers import Arrival, TransferProblem, Transfers

TOKEN, OTHER, USER, POOL, OTHER_POOL = (f"0x{digit * 40}" for digit in "12345")
IN_FULL, EMPTY = TransferTest(100, 100, 100), TransferTest(0, 0, 0)
KEEPS_ONE_PERCENT = TransferTest(10_000, 9_900, 9_801)


def transfers(*, at_user: TransferTest | None = IN_FULL, at_pool: TransferTest | None = IN_FULL) -> Transfers:
    return Transfers({Probe(TOKEN, USER, 100, is_pool=False): at_user, Probe(TOKEN, POOL, 100, is_pool=True): at_pool})


def test_a_token_that_arrives_in_full_has_no_problem() -> None:
    assert transfers().problem(TOKEN, POOL) is None


@pytest.mark.parametrize(
    "results",
    [
        {"at_user": KEEPS_ONE_PERCENT},
        {"at_pool": KEEPS_ONE_PERCENT},
        {"at_pool": TransferTest(9, 9, 8)},
        {"at_pool": TransferTest(9, 9, 9, parts_arrive=False)},
    ],
)
def test_a_token_that_arrives_short_anywhere_is_short(results: dict[str, TransferTest]) -> None:
    assert transfers(**results).problem(TOKEN, POOL) is TransferProblem.SHORT


def test_refusals_are_told_apart_by_their_place() -> None:
    assert transfers(at_pool=None, at_user=None).problem(TOKEN, POOL) is TransferProblem.REFUSED_AT_POOL
    assert transfers(at_user=None).problem(TOKEN, POOL) is TransferProblem.REFUSED_AT_HOLDER


def test_a_fee_is_the_more_severe_problem() -> None:
    assert transfers(at_user=None, at_pool=KEEPS_ONE_PERCENT).problem(TOKEN, POOL) is TransferProblem.SHORT


def test_other_tokens_and_other_pools_do_not_count() -> None:
    assert transfers(at_pool=None).problem(OTHER, POOL) is None
    assert transfers(at_pool=None).problem(TOKEN, OTHER_POOL) is None


@pytest.mark.parametrize(
    ("results", "arrival"),
    [
        ({}, Arrival(1_000_000, 1_000_000)),
        ({"at_user": KEEPS_ONE_PERCENT}, Arrival(989_998, 989_998)),
        ({"at_pool": KEEPS_ONE_PERCENT}, Arrival(1_000_000, 989_998)),
        ({"at_user": KEEPS_ONE_PERCENT, "at_pool": KEEPS_ONE_PERCENT}, Arrival(989_998, 980_096)),
        ({"at_user": EMPTY, "at_pool": KEEPS_ONE_PERCENT}, Arrival(989_998, 980_096)),
        ({"at_user": TransferTest(100, 101, 101)}, Arrival(999_998, 999_998)),
        ({"at_user": TransferTest(100, 0, 0)}, Arrival(0, 0)),
    ],
)
def test_what_arrives_is_in_proportion_to_what_was_tested_less_a_rounding(
    results: dict[str, TransferTest], arrival: Arrival
) -> None:
    assert transfers(**results).arrival(TOKEN, 1_000_000, POOL) == arrival


@pytest.mark.parametrize(
    "results",
    [
        {"at_user": None},
        {"at_pool": None},
        {"at_user": EMPTY, "at_pool": EMPTY},
        {"at_pool": EMPTY},
        {"at_pool": TransferTest(100, 0, 0)},
    ],
)
def test_nothing_is_known_to_arrive_unless_transfers_were_tested_both_ways(results: dict[str, TransferTest]) -> None:
    assert transfers(**results).arrival(TOKEN, 1_000_000, POOL) is None


def test_a_user_without_a_balance_is_not_tested_and_the_pool_is_taken_for_both() -> None:
    at_pool = Transfers({Probe(TOKEN, POOL, 100, is_pool=True): KEEPS_ONE_PERCENT})
    assert at_pool.arrival(TOKEN, 1_000_000, POOL) == Arrival(989_998, 980_096)
    assert at_pool.arrival(TOKEN, 1_000_000, OTHER_POOL) is None


@pytest.mark.parametrize(
    ("results", "kept"),
    [
        ({}, Fraction(1)),
        ({"at_user": KEEPS_ONE_PERCENT}, Fraction(99, 100)),
        ({"at_user": KEEPS_ONE_PERCENT, "at_pool": KEEPS_ONE_PERCENT}, Fraction(9_801, 10_000)),
        ({"at_user": EMPTY, "at_pool": KEEPS_ONE_PERCENT}, Fraction(9_801, 10_000)),
        ({"at_user": TransferTest(100, 150, 150)}, Fraction(1)),
        ({"at_user": TransferTest(100, 0, 0)}, Fraction(0)),
        ({"at_user": None}, None),
        ({"at_pool": EMPTY}, None),
    ],
)
def test_what_is_kept_of_an_amount_is_that_of_both_transfers(
    results: dict[str, TransferTest | None], kept: Fraction | None
) -> None:
    assert transfers(**results).kept(TOKEN, POOL) == kept
    assert transfers(**results).kept(OTHER, POOL) is None
