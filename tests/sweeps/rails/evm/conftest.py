"""Fixtures for the tests of what EVM rails share."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest

from partners.models import Partner
from sweepapi.rpc import Call, Provider
from tests.local_chain import LocalChain
from tests.sweeps.rails.evm.planner import Planner


@pytest.fixture
def planner(chain: LocalChain, partner: Partner) -> Planner:
    return Planner(chain, partner)


@pytest.fixture
def before_trip(monkeypatch: pytest.MonkeyPatch) -> Callable[[int, Callable[[], object]], None]:
    """Let something happen before a coming round trip, which is the first if its number is 1."""

    def arrange(number: int, act: Callable[[], object]) -> None:
        trips: list[int] = []
        post = Provider._post  # noqa: SLF001 every request goes through it

        def acted(provider: Provider, calls: Sequence[Call], timeout_seconds: float) -> Mapping[int, Any]:
            trips.append(len(calls))
            if len(trips) == number:
                act()
            return post(provider, calls, timeout_seconds)

        monkeypatch.setattr(Provider, "_post", acted)

    return arrange
