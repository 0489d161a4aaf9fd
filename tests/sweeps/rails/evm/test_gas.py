"""The gas limit of a build suffices, however deep its pools are nested, and is within 5 % of the least that does."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from partners.models import Partner
from sweepapi import networks
from sweepapi.evm.pools.types import Hop, Route
from sweepapi.evm.trial.legs import PoolSwap, RouterSwap
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.evm.build.stages import EvmPlanned
from sweeps.rails.registry import RAILS
from tests.factories.sweeps import LOCAL
from tests.local_chain import LocalChain, Token, signed_data
from tests.many_tokens import open_market
from tests.partner_app import PartnerApp
from tests.wallets import completed, executions_of

pytestmark = pytest.mark.django_db

TRANSACTION_CAP = 16_777_216  # EIP-7825
MOST_TOKENS = 30
PRECISION = 1_000


def build(app: PartnerApp, tokens: list[Token], *, output: str, units: int = 1_000, **changes: Any) -> dict[str, Any]:
    """Build a sweep of as much of each token; a user has 1,000 units."""
    amounts = [{"mint": one.address, "amount": str(one.units(units))} for one in tokens]
    return app.build(output=output, tokens=amounts, **changes)


def least_gas(app: PartnerApp, built: dict[str, Any]) -> int:
    """Return the least gas limit with which a sweep succeeds, in whole thousands."""
    return least_of(app, built["transaction"] | {"data": signed_data(app.user, built)})


def least_of(app: PartnerApp, transaction: dict[str, Any]) -> int:
    call = {"from": app.user.address, "to": transaction["to"], "data": transaction["data"]}
    too_little, enough = 0, int(transaction["gas"]) // PRECISION
    assert succeeds(app.chain, call, enough)
    while enough - too_little > 1:
        middle = (too_little + enough) // 2
        if succeeds(app.chain, call, middle):
            enough = middle
        else:
            too_little = middle
    return enough * PRECISION


def succeeds(chain: LocalChain, call: dict[str, Any], thousands: int) -> bool:
    request = call | {"gas": hex(thousands * PRECISION)}
    answer = chain.web3.provider.make_request("eth_call", [request, "latest"])  # type: ignore[arg-type]
    return "error" not in answer


@pytest.mark.parametrize("kind", ["uniswap_v3", "uniswap_v2"])
@pytest.mark.parametrize(("output", "units"), [("WETH", 1_000), ("WETH", 1), ("USDC", 1)])
def test_the_limit_suffices_and_is_at_most_5_percent_above_the_least(
    app: PartnerApp, kind: str, output: str, units: int
) -> None:
    """One unit does not move a pool to another tick, which saves it an observation; a thousand do."""
    tokens = open_market(app.chain, MOST_TOKENS, kind=kind)
    for count in (1, 10, MOST_TOKENS):
        built = build(app, tokens[:count], output=output, units=units)
        assert {token["route"]["venue"] for token in built["tokens"]} == {kind}
        assert (built["lastHop"] is None) == (output == "WETH")
        app.approve(built)
        limit = int(built["transaction"]["gas"])
        assert limit <= least_gas(app, built) * 105 // 100, f"{count} legs"
        assert limit <= TRANSACTION_CAP
    receipt = app.chain.receipt(app.chain.sign_and_send(app.user, built))
    assert receipt["status"] == 1


@pytest.mark.parametrize("symbols", [["USDC"], ["USDC", "UNI"], ["USDC", "UNI", "DAI"]], ids=len)
def test_the_limit_after_permits_suffices_and_is_at_most_10_percent_above_the_least(
    app: PartnerApp, symbols: list[str]
) -> None:
    """DAI's permit allows any amount."""
    built = app.build(dict.fromkeys(symbols, 5.0), output="WETH", approvals="unlimited")
    execution = executions_of(built)["permits"]
    transaction = execution["transaction"] | {"data": completed(app.user, execution)}
    assert int(transaction["gas"]) <= least_of(app, transaction) * 110 // 100


def test_v4_has_the_same_limit(app: PartnerApp, use_mode: Callable[[str], object]) -> None:
    use_mode("v4_fallback")
    built = build(app, open_market(app.chain, MOST_TOKENS, kind="uniswap_v3"), output="USDC")
    app.approve(built)
    assert int(built["transaction"]["gas"]) <= least_gas(app, built) * 105 // 100


def test_pools_that_are_tried_and_left_out_cost_no_more_than_the_limit_covers(app: PartnerApp) -> None:
    tokens = open_market(app.chain, MOST_TOKENS, kind="uniswap_v3")
    ours = build(app, tokens, output="WETH", slippageBps=1, onLegFailure="skip")
    other = app.chain.users[1]
    app.execute(build(app, tokens[:-1], output="WETH", wallet=other.address), user=other)
    tx_hash = app.execute(ours)
    assert app.chain.receipt(tx_hash)["status"] == 1
    outcomes = [token["outcome"] for token in app.confirm(ours, tx_hash)["tokens"]]
    assert outcomes == ["skipped"] * (MOST_TOKENS - 1) + ["swept"]


def test_the_most_expensive_sweeps_stay_below_the_cap_of_a_transaction(partner: Partner, chain: LocalChain) -> None:
    weth = chain.token("WETH").address
    request = BuildRequest(
        network=LOCAL,
        wallet=chain.users[0].address,
        tokens=[TokenInput(chain.token("WBTC").address, 10**6)],
        output_asset=chain.token("UNI").address,
        slippage_bps=100,
    )
    planned = RAILS["evm_v5"].plan(registry=networks.current(), partner=partner, request=request)
    assert isinstance(planned, EvmPlanned)
    (token,) = planned.tokens
    assert isinstance(token.swap, PoolSwap)
    assert planned.last_hop is not None
    assert replace(planned, tokens=[token] * MOST_TOKENS).gas.limit() <= TRANSACTION_CAP
    router = networks.current().chains["local"].routers[0]
    routed = RouterSwap(Route(router, (Hop(token.asset, weth, 3000),), (token.swap.hop.pool,)), token.amount)
    most_calls = replace(planned, last_hop=None, tokens=[replace(token, swap=routed)] * MOST_TOKENS)
    assert most_calls.gas.limit() <= TRANSACTION_CAP
