"""Where a provider does not simulate, one call finds the exact output, and the gas that transactions would need."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest

from sweepapi import networks
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import APPROVE
from sweepapi.evm.trial import simulation
from sweepapi.evm.trial.attempts import Attempt, TrialOutcome
from sweepapi.evm.trial.trial_call import CalledAttempt
from sweepapi.evm.trial.trying import try_all
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import CallFailedError
from sweeps.rails.evm.build import planning
from tests.factories.sweeps import LOCAL
from tests.local_chain import Token
from tests.many_tokens import open_market
from tests.partner_app import PartnerApp

TRANSFER = Function("transfer(address,uint256)")

pytestmark = pytest.mark.django_db


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[Attempt]:
    """What builds try, the sweep of all tokens first."""
    attempts: list[Attempt] = []

    def note(
        tries: Sequence[Attempt], pool: ProviderPool, *, also: Sequence[Call]
    ) -> tuple[list[TrialOutcome | None], list[Any]]:
        attempts.extend(tries)
        return try_all(tries, pool, also=also)

    monkeypatch.setattr(planning, "try_all", note)
    return attempts


@pytest.fixture
def calling() -> Iterator[Callable[[Attempt], TrialOutcome]]:
    """Try by ``eth_call``, as if the provider had not simulated the last time."""
    pool = networks.current().pool(LOCAL)

    def call(attempt: Attempt) -> TrialOutcome:
        pool.refused_methods.add(simulation.METHOD)
        (outcome,), _ = try_all([attempt], pool)
        assert outcome is not None
        assert outcome.method == "eth_call"
        return outcome

    yield call
    pool.refused_methods.clear()


def send(app: PartnerApp, token: Token, data: bytes) -> None:
    transaction = {"to": token.address, "data": f"0x{data.hex()}"}
    assert app.chain.receipt(app.chain.send(app.user, transaction))["status"] == 1


def simulated(attempt: Attempt) -> TrialOutcome:
    (outcome,), _ = try_all([attempt], networks.current().pool(LOCAL))
    assert outcome is not None
    assert outcome.method == "eth_simulateV1"
    return outcome


def assert_same_as_transactions(attempt: Attempt, called: TrialOutcome) -> None:
    expected = simulated(attempt)
    assert called.least_gas is not None
    assert called.gross_output == expected.gross_output
    assert abs(called.gas_used - expected.gas_used) <= expected.gas_used // 100
    assert simulated(replace(attempt, limits=[called.least_gas])).least_gas is not None, "suffices"
    assert expected.least_gas is not None
    assert called.least_gas <= expected.least_gas * 105 // 100


@pytest.mark.parametrize("approvals", ["exact", "unlimited"])
@pytest.mark.parametrize(
    "sweep",
    [
        ({"USDC": 3}, "WETH"),
        ({"USDC": 3}, "ETH"),
        ({"WETH": 1}, "ETH"),
        ({"USDT": 3, "DAI": 2, "WBTC": 0.001}, "WETH"),
        ({"GUSD": 2, "WBTC": 0.001, "LINK": 3, "WETH": 1}, "USDC"),
        ({"TFEE": 5, "USDC": 3}, "WETH"),
        ({"TFEE": 500, "GUSD": 300, "LINK": 20}, "USDC"),
    ],
    ids=str,
)
def test_its_figures_are_those_of_transactions(
    app: PartnerApp,
    tried: list[Attempt],
    calling: Callable[[Attempt], TrialOutcome],
    sweep: tuple[dict[str, float], str],
    approvals: str,
) -> None:
    units, output = sweep
    app.build(units, output=output, approvals=approvals)
    assert_same_as_transactions(tried[0], calling(tried[0]))


# So little that no pool crosses ticks: what that may refund, a call does not show.
@pytest.mark.parametrize("output", ["WETH", "USDC"], ids=["direct", "joined"])
@pytest.mark.parametrize("kind", ["uniswap_v3", "uniswap_v2"])
def test_its_figures_are_those_of_transactions_for_many_tokens(
    app: PartnerApp, tried: list[Attempt], calling: Callable[[Attempt], TrialOutcome], kind: str, output: str
) -> None:
    tokens = open_market(app.chain, 30, kind=kind)
    for count in (1, 5, 10, 20, 30):
        tried.clear()
        amounts = [{"mint": one.address, "amount": str(one.units(1_000) // 50_000)} for one in tokens[:count]]
        app.build(output=output, tokens=amounts)
        assert_same_as_transactions(tried[0], calling(tried[0]))


def test_balances_that_are_swept_whole_are_refunded(
    app: PartnerApp, tried: list[Attempt], calling: Callable[[Attempt], TrialOutcome]
) -> None:
    tokens = open_market(app.chain, 10, kind="uniswap_v3")
    app.build(tokens=[{"mint": one.address, "amount": str(one.units(1_000))} for one in tokens])
    assert_same_as_transactions(tried[0], calling(tried[0]))


def test_an_allowance_that_is_there_changes_the_figures(
    app: PartnerApp, tried: list[Attempt], calling: Callable[[Attempt], TrialOutcome]
) -> None:
    allowed = {"USDC": 3.0, "USDT": 1.0, "DAI": 1.0}
    for symbol, units in allowed.items():
        token = app.chain.token(symbol)
        send(app, token, APPROVE.encode(app.chain.contracts["v5"], token.units(units)))
    app.build({"USDC": 3, "USDT": 2, "DAI": 2})
    assert [approval.current > 0 for approval in tried[0].approvals] == [True] * 3
    assert_same_as_transactions(tried[0], calling(tried[0]))


def test_dust_that_the_contract_holds_changes_the_figures(
    app: PartnerApp, tried: list[Attempt], calling: Callable[[Attempt], TrialOutcome]
) -> None:
    send(app, app.chain.token("WETH"), TRANSFER.encode(app.chain.contracts["v5"], 1))
    app.build({"USDC": 3})
    assert_same_as_transactions(tried[0], calling(tried[0]))


def test_one_request_that_goes_through_is_enough(app: PartnerApp, tried: list[Attempt]) -> None:
    tokens = open_market(app.chain, 30, kind="uniswap_v3")
    app.build(tokens=[{"mint": one.address, "amount": str(one.units(1))} for one in tokens])
    trial = CalledAttempt(tried[0])
    *answers, last = networks.current().pool(LOCAL).batch(trial.requests)
    assert trial.outcome([*answers, CallFailedError()]) == trial.outcome([*answers, last]) is not None
    without_success = [replace(answer, gas_limit=0) for answer in answers]
    assert trial.outcome([*without_success, CallFailedError()]) is None
