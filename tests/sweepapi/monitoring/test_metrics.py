"""Builds are counted by outcome, under the codes that partners see."""

import pytest
from prometheus_client import REGISTRY

from sweepapi.api.errors.error_table import ERROR_TABLE
from sweepapi.errors import SweepApiError, TokensRefused
from sweepapi.monitoring.metrics import code_of, counted_build

NETWORK = "eip155:8453"


def count(outcome: str) -> float:
    return REGISTRY.get_sample_value("sweepapi_builds_total", {"network": NETWORK, "outcome": outcome}) or 0


def build(error: Exception | None = None) -> None:
    with counted_build(NETWORK):
        if error is not None:
            raise error


def test_a_build_is_counted_as_built() -> None:
    before = count("built")
    build()
    assert count("built") == before + 1


@pytest.mark.parametrize(
    ("error", "outcome"), [(TokensRefused(), "tokens_refused"), (RuntimeError(), "internal_error")]
)
def test_a_build_that_fails_is_counted_under_its_error(error: Exception, outcome: str) -> None:
    before = count("built"), count(outcome)
    with pytest.raises(type(error)):
        build(error)
    assert (count("built"), count(outcome)) == (before[0], before[1] + 1)


@pytest.mark.parametrize("error", ERROR_TABLE, ids=lambda error: error.__name__)
def test_the_code_of_each_error_is_that_of_the_api(error: type[SweepApiError]) -> None:
    assert code_of(error()) == ERROR_TABLE[error].code
