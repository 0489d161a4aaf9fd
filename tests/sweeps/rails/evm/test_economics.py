"""What a sweep is worth, in numbers computed by hand: at prices, gas and fees that are easy to follow."""

from dataclasses import replace
from fractions import Fraction

import pytest
from django.conf import settings

from sweepapi.evm.chain.chains import Router, SaltRule, Venue
from sweepapi.evm.chain.fee_models.estimates import DataFee
from sweepapi.evm.pools.pricing import MidPrices
from sweepapi.evm.pools.types import Hop, PoolHop, Route
from sweepapi.evm.tokens.probe import Probe, TransferTest
from sweepapi.evm.tokens.transfers import Transfers
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, WrappedSwap, leg_gas
from sweepapi.evm.worth.valuing import NOTHING, Rates, TokenEconomics
from sweepapi.fees import FeeRates
from sweepapi.worth import left_out
from sweepapi.worth.losses import value_loss_bps
from sweepapi.worth.summary import Reference
from sweeps.protocol.refusing import too_costly
from sweeps.protocol.request import BuildRequest, TokenInput
from sweeps.rails.evm.build.stages import EvmToken

TOKEN, OTHER, OUTPUT, WRAPPED, DOLLAR, POOL_ADDRESS = (f"0x{digit * 40}" for digit in "123456")
VENUE = Venue("v2", 2, "uniswap_v2", TOKEN, TOKEN, SaltRule.PACKED_PAIR, 30, bytes(4), "0x" + "12" * 32, TOKEN, ())
ROUTER = Router("v2", "uniswap_v2", TOKEN, TOKEN, TOKEN, ())
GWEI, COIN = 10**9, 10**18
FEES = FeeRates(100, 0)
# A unit of the token is worth two of the output, of which a thousand million are worth a coin, or 2,500 dollars.
PRICES = {
    (TOKEN, OUTPUT): Fraction(2),
    (TOKEN, WRAPPED): Fraction(2 * GWEI),
    (OUTPUT, WRAPPED): Fraction(GWEI),
    (DOLLAR, WRAPPED): Fraction(COIN, 2_500 * 10**6),
}
RATES = Rates(MidPrices(PRICES), WRAPPED, OUTPUT, Reference(DOLLAR, "USD", 6), gas_price=GWEI, data_fee=DataFee(0, 0))
IN_POOL = PoolSwap(PoolHop(VENUE, TOKEN, OUTPUT, None, POOL_ADDRESS), joined=False, least_wrapped=0, price_limit=0)
JOINED = PoolSwap(PoolHop(VENUE, TOKEN, WRAPPED, None, POOL_ADDRESS), joined=True, least_wrapped=1, price_limit=0)
ROUTED = RouterSwap(Route(ROUTER, (Hop(TOKEN, WRAPPED), Hop(WRAPPED, OUTPUT)), (POOL_ADDRESS, OTHER)), 1)


def token(expected: int, swap: LegSwap | None = IN_POOL, *, amount: int = COIN, asset: str = TOKEN) -> EvmToken:
    return EvmToken(
        asset,
        amount,
        "T",
        18,
        expected,
        0,
        swap,
        0,
        skippable=False,
        balance=0,
        allowance=0,
        needs_reset=False,
        contract_allowance=0,
        permits=None,
    )


def probed(at_user: TransferTest, at_pool: TransferTest) -> Transfers:
    return Transfers(
        {Probe(TOKEN, OTHER, 1, is_pool=False): at_user, Probe(TOKEN, POOL_ADDRESS, 1, is_pool=True): at_pool}
    )


IN_FULL = probed(TransferTest(9, 9, 9), TransferTest(9, 9, 9))


def economics(one: EvmToken, *, rates: Rates = RATES, transfers: Transfers = IN_FULL) -> TokenEconomics:
    with_economics = one.valued(rates, transfers, FEES)
    return with_economics.economics


# --- one token --------------------------------------------------------------------------------------------------------


def test_a_token_is_measured_against_the_mid_price() -> None:
    """A coin's worth of units at two each is ideal; 1.96 of them are 2 % less, and 1.9404 are left after the fee."""
    one = economics(token(1_960_000 * 10**12))
    gas = leg_gas(IN_POOL)
    assert (one.price_impact_bps, one.transfer_tax_bps) == (200, 0)
    assert one.gas_share == gas, "a unit of gas costs a gwei, which is a unit of the output"
    assert one.net_output == 1_940_400 * 10**12 - gas
    assert one.value == 1_960_000 * 10**12 * 2_500 * 10**6 // 10**9
    assert value_loss_bps(one) == 299, "of 2.98 %, rounded up"


def test_each_amount_of_a_token_has_its_value_in_the_reference() -> None:
    """A unit of the output is worth 2,500 / 10^9 of a dollar's millionths: 2.5."""
    one = economics(replace(token(1_960_000 * 10**12), min_output=10**18))
    assert one.gas_share is not None
    assert one.net_output is not None
    values = (one.value, one.min_value, one.gas_value, one.net_value)
    amounts = (1_960_000 * 10**12, 10**18, one.gas_share, one.net_output)
    assert values == tuple(amount * 5 // 2 for amount in amounts)


def test_another_output_of_the_same_token_changes_what_depends_on_it() -> None:
    gas = leg_gas(IN_POOL)
    one = economics(token(2 * COIN)).at(expected_output=COIN, min_output=1, fees=FEES, rates=RATES)
    assert (one.price_impact_bps, one.transfer_tax_bps, one.gas_share) == (5_000, 0, gas)
    assert (one.net_output, one.value, one.min_value) == (COIN * 99 // 100 - gas, COIN * 5 // 2, 2)


@pytest.mark.parametrize("swap", [JOINED, ROUTED])
def test_a_way_over_the_wrapped_coin_multiplies_two_prices(swap: LegSwap) -> None:
    prices = {**PRICES, (TOKEN, OUTPUT): Fraction(77)}
    one = economics(token(19 * COIN // 10, swap), rates=replace(RATES, prices=MidPrices(prices)))
    assert one.price_impact_bps == 500


@pytest.mark.parametrize(
    ("asset", "swap", "output", "expected", "impact"),
    [
        (WRAPPED, WrappedSwap(joined=True), OUTPUT, COIN * 97 // 100 // GWEI, 300),
        (
            WRAPPED,
            PoolSwap(PoolHop(VENUE, WRAPPED, OUTPUT, None, OTHER), joined=False, least_wrapped=0, price_limit=0),
            OUTPUT,
            COIN // GWEI,
            0,
        ),
        (WRAPPED, WrappedSwap(joined=False), WRAPPED, COIN, 0),
    ],
)
def test_the_wrapped_coin_is_never_taxed_and_is_worth_itself(
    asset: str, swap: LegSwap, output: str, expected: int, impact: int
) -> None:
    one = economics(token(expected, swap, asset=asset), rates=replace(RATES, output=output), transfers=Transfers({}))
    assert (one.price_impact_bps, one.transfer_tax_bps) == (impact, 0)


def test_a_tax_is_not_a_price_impact() -> None:
    """It keeps 10 % of each of two transfers, and the pool then swaps 81 % for 1 % less than that is worth."""
    kept_twice = probed(TransferTest(100, 90, 81), TransferTest(100, 90, 81))
    one = economics(token(2 * COIN * 81 // 100 * 99 // 100, ROUTED), transfers=kept_twice)
    assert (one.transfer_tax_bps, one.price_impact_bps) == (1_900, 100)


def test_what_no_holder_could_send_has_an_unknown_tax() -> None:
    one = economics(token(2 * COIN), transfers=Transfers({}))
    assert (one.transfer_tax_bps, one.price_impact_bps) == (None, 0)


def test_a_better_price_than_the_mid_price_is_not_an_impact() -> None:
    assert economics(token(3 * COIN)).price_impact_bps == 0


def test_a_dropped_token_brings_and_costs_nothing() -> None:
    one = token(COIN).valued(RATES, IN_FULL, FEES)
    dropped_before = token(COIN).dropped().valued(RATES, IN_FULL, FEES)
    assert one.dropped().economics == dropped_before.economics == NOTHING != one.economics
    assert (NOTHING.price_impact_bps, NOTHING.gas_share, NOTHING.net_output, NOTHING.value) == (None, 0, 0, 0)
    assert value_loss_bps(NOTHING) is None


# --- gas --------------------------------------------------------------------------------------------------------------


def test_the_gas_of_a_leg_depends_on_what_swaps_it() -> None:
    swaps: list[LegSwap | None] = [None, WrappedSwap(joined=True), IN_POOL, ROUTED]
    gas = [leg_gas(swap) for swap in swaps]
    assert gas == sorted(set(gas))
    assert gas[0] == 0


def test_costs_are_rounded_up_and_values_are_rounded_down() -> None:
    assert replace(RATES, gas_price=1).cost(gas=1, data_fee=0) == 1
    assert RATES.cost(gas=2, data_fee=1) == 3
    assert RATES.value(1) == 2, "a gwei at 2,500 dollars a coin is 2.5 millionths of one"
    assert RATES.value(-1) == -3


def test_the_data_of_a_rollups_transaction_is_part_of_what_a_leg_costs() -> None:
    with_data = replace(RATES, data_fee=DataFee(fixed=9 * GWEI, per_token=2 * GWEI))
    assert economics(token(COIN), rates=with_data).gas_share == leg_gas(IN_POOL) + 2


@pytest.mark.parametrize("rates", [replace(RATES, gas_price=None), replace(RATES, data_fee=None)])
def test_costs_are_unknown_if_the_gas_price_or_the_fee_for_the_data_is(rates: Rates) -> None:
    one = economics(token(COIN), rates=rates)
    assert (one.gas_share, one.net_output, one.price_impact_bps) == (None, None, 5_000)
    assert not left_out.costs_more(one)


def test_an_output_that_is_the_reference_is_its_own_value() -> None:
    rates = replace(RATES, output=DOLLAR, prices=MidPrices({}))
    assert (rates.value(123), rates.value(None)) == (123, None)


def test_prices_that_are_not_known_leave_unknown_what_needs_them() -> None:
    one = economics(token(COIN), rates=replace(RATES, prices=MidPrices({})))
    assert (one.price_impact_bps, one.gas_share, one.net_output, one.value) == (None,) * 4
    assert value_loss_bps(one) is None
    assert economics(token(COIN), rates=replace(RATES, reference=None)).value is None


@pytest.mark.parametrize(("gas_price", "uneconomic"), [(GWEI, False), (GWEI + 1, True)])
def test_a_token_is_uneconomic_if_its_leg_costs_more_than_the_user_gets_for_it(
    gas_price: int, *, uneconomic: bool
) -> None:
    gas = leg_gas(IN_POOL)
    expected = -(-gas * 100 // 99)  # of which the fee leaves as many units as the leg needs gas
    one = economics(token(expected), rates=replace(RATES, gas_price=gas_price))
    assert left_out.costs_more(one) == uneconomic


def test_a_token_whose_minimum_rounds_to_zero_is_left_out_for_that_where_the_gas_price_is_unknown() -> None:
    (one,) = left_out.uneconomic([token(1)])
    assert (one.reason, one.message) == ("output_too_small", "The minimum output of this amount rounds to zero.")


# --- refusals ---------------------------------------------------------------------------------------------------------


def request(*, accepted_impact_bps: int | None = None) -> BuildRequest:
    tokens = [TokenInput(OTHER, 1), TokenInput(TOKEN, COIN)]
    return BuildRequest("eip155:1", OTHER, tokens, OUTPUT, slippage_bps=100, accepted_impact_bps=accepted_impact_bps)


def losing(impact_bps: int) -> list[EvmToken]:
    return [token(2 * COIN * (10_000 - impact_bps) // 10_000).valued(RATES, IN_FULL, FEES)]


def test_an_impact_above_the_second_setting_is_refused_with_the_token() -> None:
    assert too_costly(request(), losing(settings.PRICE_IMPACT_REFUSAL_BPS)) == []
    (refused,) = too_costly(request(), losing(settings.PRICE_IMPACT_REFUSAL_BPS + 1))
    assert (refused.asset, refused.reason) == (TOKEN, "price_impact_too_high")
    assert refused.message == "The price impact is 1501 basis points."


def test_an_impact_that_the_user_accepted_is_not_refused() -> None:
    assert too_costly(request(accepted_impact_bps=4_000), losing(4_000)) == []
    assert len(too_costly(request(accepted_impact_bps=3_999), losing(4_000))) == 1


def test_accepting_less_than_the_setting_changes_nothing() -> None:
    assert too_costly(request(accepted_impact_bps=0), losing(settings.PRICE_IMPACT_REFUSAL_BPS)) == []


def test_an_unknown_impact_is_not_refused() -> None:
    assert too_costly(request(), [token(1).valued(replace(RATES, prices=MidPrices({})), IN_FULL, FEES)]) == []
