"""POST /v2/sweep/build: hostile tokens, pools and amounts get a clear code each, and nothing is stored."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from eth_utils.address import to_checksum_address

from dev.chain.sender import calldata
from sweepapi.evm.tokens.erc20 import UNLIMITED
from sweeps.models import SweepToken
from tests.hostile_tokens import Condition, Harm, Treatment, arm, put_contract, treat
from tests.partner_app import PartnerApp, details_of, error_of
from tests.stored_builds import stored_rows
from tests.thin_pools import CREATE_POOL, MINT, NEVER
from tests.wallets import deployed

pytestmark = pytest.mark.django_db

REFUSED, COIN = Treatment.REFUSED, 10**18
PLACE = to_checksum_address("0x" + "b3" * 20)
COINBASE = "0x" + "cb" * 20
# Runtime code that does the same whatever it is asked.
STOPS = "00"
REVERTS = "60006000fd"
RETURNS_SEVEN_BYTES = "60076000f3"
RETURNS_ALL_ONES = "600019600052" + "60206000f3"
RETURNS_ONE = "600160005260206000f3"
RETURNS_A_MEGABYTE = "621000006000f3"
REVERTS_WITH_A_MEGABYTE = "621000006000fd"
BURNS_ALL_GAS = "5b600056"
POOL_FEE, TICK_SPACING = 3000, 60
SECONDS = 5  # in which each answer must come; most take a tenth of a second

Put = Callable[[PartnerApp], str]  # puts a token on the local chain and returns its address


def an_account(app: PartnerApp) -> str:
    return app.chain.users[3].address


def another_contract(app: PartnerApp) -> str:
    return app.chain.contracts["v5"]


def running(code: str) -> Put:
    return lambda app: app.chain.put_code(PLACE, code)


def trap(condition: Condition, harm: Harm = Harm.REFUSE) -> Put:
    """Put a token that harms its holder under this condition."""

    def put(app: PartnerApp) -> str:
        app.chain.rpc("anvil_setCoinbase", COINBASE)
        put_contract(app, "TrapToken")
        return arm(app, condition, harm)

    return put


def blocking_its_holder(app: PartnerApp) -> str:
    put_contract(app, "HoneypotToken")
    return treat(app, app.user.address, as_sender=REFUSED)


def new_token(app: PartnerApp) -> str:
    """Deploy a token, give the user much of it, and return its address."""
    token = deployed(app.chain, "MintableToken", "New", "NEW", 18)
    send(app, token, "mint(address,uint256)", app.user.address, 10**6 * COIN)
    return token


def send(app: PartnerApp, to: str, function: str, *arguments: object) -> None:
    data = calldata(function, *arguments).hex()
    assert app.chain.receipt(app.chain.send(app.user, {"to": to, "data": f"0x{data}"}))["status"] == 1


def with_empty_pools(app: PartnerApp) -> str:
    token, wrapped = new_token(app), app.chain.token("WETH").address
    send(app, app.chain.contracts["uniswapV2Factory"], "createPair(address,address)", token, wrapped)
    pair = sorted((token, wrapped), key=str.lower)
    send(app, app.chain.contracts["positionManager"], CREATE_POOL, *pair, POOL_FEE, 1 << 96)
    return token


def with_one_sided_pools(app: PartnerApp) -> str:
    """Pools of the token and the wrapped coin that hold nothing of the latter, at a price of one."""
    token, wrapped = with_empty_pools(app), app.chain.token("WETH").address
    factory, positions = app.chain.contracts["uniswapV2Factory"], app.chain.contracts["positionManager"]
    lookup = {"to": factory, "data": f"0x{calldata('getPair(address,address)', token, wrapped).hex()}"}
    pool = to_checksum_address("0x" + app.chain.rpc("eth_call", lookup, "latest")[-40:])
    send(app, token, "mint(address,uint256)", pool, 100 * COIN)
    send(app, pool, "sync()")
    pair = sorted((token, wrapped), key=str.lower)
    ticks, amounts = ((60, 120), (COIN, 0)) if pair[0] == token else ((-120, -60), (0, COIN))
    send(app, token, "approve(address,uint256)", positions, COIN)
    send(app, positions, MINT, (*pair, POOL_FEE, *ticks, *amounts, 0, 0, app.user.address, NEVER))
    return token


NOT_A_TOKEN = (400, "invalid_request", "not_a_token")
NO_ROUTE, FEE, REFUSAL, FAILURE = (
    (422, "tokens_refused", reason) for reason in ("no_route", "transfer_fee", "transfer_refused", "simulation_failed")
)
TOKENS: dict[str, tuple[Put, tuple[int, str, str]]] = {
    "an account": (an_account, NOT_A_TOKEN),
    "a contract that is not a token": (another_contract, NOT_A_TOKEN),
    "code that does nothing": (running(STOPS), NOT_A_TOKEN),
    "reverts": (running(REVERTS), NOT_A_TOKEN),
    "returns garbage": (running(RETURNS_SEVEN_BYTES), NOT_A_TOKEN),
    "returns the largest number": (running(RETURNS_ALL_ONES), NOT_A_TOKEN),
    "returns the smallest number": (running(RETURNS_ONE), NO_ROUTE),
    "burns all gas": (running(BURNS_ALL_GAS), NOT_A_TOKEN),
    "returns a megabyte": (running(RETURNS_A_MEGABYTE), NOT_A_TOKEN),
    "reverts with a megabyte": (running(REVERTS_WITH_A_MEGABYTE), NOT_A_TOKEN),
    "lies about balances": (trap(Condition.NEVER, Harm.LIE_ABOUT_BALANCES), REFUSAL),
    "blocks its holder": (blocking_its_holder, REFUSAL),
    "no pool": (new_token, NO_ROUTE),
    "empty pools": (with_empty_pools, NO_ROUTE),
    "one-sided pools": (with_one_sided_pools, NO_ROUTE),
    "a sale burns all gas": (trap(Condition.CONTRACT_CALLS, Harm.BURN_ALL_GAS), FAILURE),
    "a sale reverts with a megabyte": (trap(Condition.CONTRACT_CALLS, Harm.REVERT_WITH_A_MEGABYTE), FAILURE),
    "a sale is taxed in full": (trap(Condition.CONTRACT_CALLS, Harm.TAKE_ALL), FAILURE),
    "a sale is not delivered": (trap(Condition.CONTRACT_CALLS, Harm.DELIVER_NOTHING), FAILURE),
    "every transfer is taxed in full": (trap(Condition.BLOCK_HAS_A_BASE_FEE, Harm.TAKE_ALL), FEE),
    "looks at its holder's code": (trap(Condition.SENDER_HAS_NO_CODE), FAILURE),
    "looks at the gas price": (trap(Condition.GAS_HAS_A_PRICE), FAILURE),
    "looks at the base fee": (trap(Condition.BLOCK_HAS_A_BASE_FEE), REFUSAL),
    "looks at the coinbase": (trap(Condition.BLOCK_HAS_A_COINBASE), REFUSAL),
}


@pytest.fixture
def clock() -> Callable[[], float]:
    """How long the test has run, in seconds."""
    start = time.monotonic()
    return lambda: time.monotonic() - start


def beside_another(app: PartnerApp, token: str) -> dict[str, Any]:
    """Return a request for a token that can be swept and this one: as much of it as its holder claims to have."""
    held = app.chain.balance_of(app.user.address, token) if token == app.chain.token("UNI").address else COIN
    body = app.body({"USDC": 3})
    body["tokens"].append({"mint": token, "amount": "1" if token == PLACE else str(held)})
    return body


@pytest.mark.parametrize("token", TOKENS)
def test_a_hostile_token_is_refused_and_nothing_is_stored(
    app: PartnerApp, token: str, clock: Callable[[], float]
) -> None:
    put, (status, code, reason) = TOKENS[token]
    body = beside_another(app, put(app))
    started = clock()
    response = app.post_build(body)
    assert clock() - started < SECONDS
    assert error_of(response) == (status, code)
    assert details_of(response) == {("tokens[1].mint", reason)}
    assert stored_rows() == []


@pytest.mark.parametrize("token", TOKENS)
def test_a_hostile_token_is_left_out_and_not_stored(app: PartnerApp, token: str, clock: Callable[[], float]) -> None:
    put, (_, _, reason) = TOKENS[token]
    body = beside_another(app, put(app))
    started = clock()
    built = app.build(**body, onUnroutable="skip")
    assert clock() - started < SECONDS
    (skipped,) = built["skippedTokens"]
    assert (skipped["mint"], skipped["reason"]) == (body["tokens"][1]["mint"], reason)
    assert [one.asset for one in SweepToken.objects.all()] == [app.chain.token("USDC").address]
    assert built["issues"]["simulation"]["status"] == "ok"
    assert app.chain.receipt(app.execute(built))["status"] == 1


def test_if_only_hostile_tokens_are_left_the_build_is_refused(app: PartnerApp) -> None:
    tokens = [running(REVERTS)(app), an_account(app)]
    body = app.body(tokens=[{"mint": token, "amount": "1"} for token in tokens], onUnroutable="skip")
    response = app.post_build(body)
    assert error_of(response) == (422, "tokens_refused")
    assert details_of(response) == {("tokens[0].mint", "not_a_token"), ("tokens[1].mint", "not_a_token")}
    assert stored_rows() == []


# --- what it pays in --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("code", [STOPS, REVERTS, RETURNS_SEVEN_BYTES, BURNS_ALL_GAS, RETURNS_A_MEGABYTE])
@pytest.mark.parametrize("choices", [{}, {"onUnroutable": "skip"}], ids=str)
def test_an_output_that_is_not_a_token_is_refused(app: PartnerApp, code: str, choices: dict[str, str]) -> None:
    response = app.post_build(app.body({"USDC": 3}, outputMint=running(code)(app), **choices))
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("outputMint", "not_a_token")}
    assert stored_rows() == []


@pytest.mark.parametrize("recipient", ["user", "contract"])
@pytest.mark.parametrize("choices", [{}, {"onUnroutable": "skip"}], ids=str)
def test_an_output_that_blocks_who_receives_it_is_refused(
    app: PartnerApp, recipient: str, choices: dict[str, str]
) -> None:
    put_contract(app, "HoneypotToken")
    treat(app, app.user.address if recipient == "user" else another_contract(app), as_receiver=REFUSED)
    baskets: list[dict[str, float]] = [{"USDC": 3, "LINK": 1}, {"TFEE": 5}]
    for units in baskets:
        response = app.post_build(app.body(units, output="UNI", **choices))
        assert error_of(response) == (400, "invalid_request")
        assert details_of(response) == {("outputMint", "transfer_refused")}
    assert stored_rows() == []


# --- after the simulation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", [Harm.REFUSE, Harm.DELIVER_NOTHING, Harm.TAKE_ALL])
def test_a_token_that_changes_after_its_simulation_reverts_the_sweep_and_costs_no_other_token(
    app: PartnerApp, harm: Harm
) -> None:
    trap(Condition.NEVER)(app)
    built = app.build({"USDC": 3, "UNI": 1})
    app.approve(built)
    arm(app, Condition.CONTRACT_CALLS, harm)
    before = app.chain.balance(app.user.address, app.chain.token("USDC"))
    tx_hash = app.chain.sign_and_send(app.user, built)
    assert app.chain.receipt(tx_hash)["status"] == 0
    assert error_of(app.post_confirm(built["sweepId"], tx_hash)) == (422, "transaction_reverted")
    assert app.chain.balance(app.user.address, app.chain.token("USDC")) == before


# --- amounts ----------------------------------------------------------------------------------------------------------


def above_supply(app: PartnerApp) -> int:
    call = {"to": app.chain.token("UNI").address, "data": f"0x{calldata('totalSupply()').hex()}"}
    return int(app.chain.rpc("eth_call", call, "latest"), 16) + 1


@pytest.mark.parametrize(
    ("amount", "code", "detail"),
    [
        (above_supply, "tokens_refused", ("tokens[1].mint", "price_impact_too_high")),
        (lambda _app: 2**128, "tokens_refused", ("tokens[1].mint", "no_route")),
        (lambda _app: UNLIMITED, "tokens_refused", ("tokens[1].mint", "no_route")),
    ],
)
def test_an_amount_above_the_supply_is_refused_or_left_out(
    app: PartnerApp, amount: Callable[[PartnerApp], int], code: str, detail: tuple[str, str]
) -> None:
    body = app.body({"USDC": 3})
    body["tokens"].append({"mint": app.chain.token("UNI").address, "amount": str(amount(app))})
    response = app.post_build(body)
    assert error_of(response) == (422, code)
    assert details_of(response) == {detail}
    assert stored_rows() == []
    (skipped,) = app.build(**body, onUnroutable="skip")["skippedTokens"]
    assert skipped["reason"] == "insufficient_balance"
