"""How far an output falls short of what it would be at mid prices."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweepapi.worth.losses import loss_bps

POSITIVE = st.integers(min_value=1, max_value=2**112 - 1)


@pytest.mark.parametrize(
    ("ideal", "actual", "loss"),
    [
        (Fraction(10_000), 10_000, 0),
        (Fraction(10_000), 10_001, 0),
        (Fraction(10_000), 9_970, 30),
        (Fraction(10_000), 0, 10_000),
        (Fraction(10_000), -1, 10_001),
        (Fraction(1, 3), 0, 10_000),
        (Fraction(100_001, 10), 10_000, 1),
        (Fraction(0), 0, 0),
    ],
)
def test_a_loss_is_rounded_up_and_a_gain_is_none(ideal: Fraction, actual: int, loss: int) -> None:
    assert loss_bps(ideal=ideal, actual=actual) == loss


@given(POSITIVE, POSITIVE, POSITIVE)
def test_a_loss_is_the_least_that_covers_the_difference(numerator: int, denominator: int, actual: int) -> None:
    ideal = Fraction(numerator, denominator)
    loss = loss_bps(ideal=ideal, actual=actual)
    assert ideal * (10_000 - loss) <= actual * 10_000
    assert loss == 0 or ideal * (10_000 - loss + 1) > actual * 10_000
