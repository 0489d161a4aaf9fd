"""Amounts are shown exactly, whatever their size."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweepapi.fields import UINT256_MAX
from sweepapi.token_amounts import token_amount, whole_tokens


@pytest.mark.parametrize(
    ("units", "decimals", "shown"),
    [
        (0, 18, "0"),
        (1, 0, "1"),
        (1_500_000, 6, "1.5"),
        (10, 0, "10"),
        (10, 1, "1"),
        (-5, 2, "-0.05"),
        (-100, 2, "-1"),
        (1, 18, "0.000000000000000001"),
        (UINT256_MAX * 1_000, 3, str(UINT256_MAX)),
    ],
)
def test_an_amount_is_shown_in_whole_tokens(units: int, decimals: int, shown: str) -> None:
    assert whole_tokens(units, decimals) == shown


@settings(derandomize=True, database=None)
@given(units=st.integers(-(UINT256_MAX**2), UINT256_MAX**2), decimals=st.integers(0, 255))
def test_no_digit_is_lost(units: int, decimals: int) -> None:
    assert Fraction(whole_tokens(units, decimals)) * 10**decimals == units


def test_the_smallest_unit_comes_first() -> None:
    assert token_amount(7_500, 4, "TKN") == "7500 (0.75 TKN)"
    assert token_amount(7_500, 4, "") == "7500 (0.75)"
