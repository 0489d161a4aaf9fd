"""One token that the swap API or a simulation fails is named, and the others are sold without it."""

from collections.abc import Callable
from typing import Any

import pytest
from solders.instruction import Instruction
from solders.pubkey import Pubkey
from solders.system_program import ID as SYSTEM
from structlog.testing import capture_logs

from dev.solana.swap_api.answers import instruction
from dev.solana.swap_api.orders import Order, RefusedError
from dev.solana.swap_api.server import Response
from sweepapi.errors import SwapUnavailable, SweepApiError, TokensRefused
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.models import Sweep
from tests.solana_discovery import look, reasons
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

Body = dict[str, Any]
Alter = Callable[[Body], Body]


def alter_one(user: SolanaUser, mint: Pubkey, change: Alter) -> None:
    """Change what the swap API answers for one token."""
    user.market.api.alter = lambda query, body: change(body) if query["inputMint"] == str(mint) else body


def named(error: SweepApiError) -> list[tuple[str, str]]:
    return [(detail.field, detail.code) for detail in error.details]


def skipped(built: Body) -> list[tuple[str, str]]:
    return [(token["mint"], token["reason"]) for token in built["skippedTokens"]]


def without_output(body: Body) -> Body:
    """Pay the user nothing, so that the guard fails."""
    return {**body, "otherInstructions": body["otherInstructions"][1:]}


def failing(body: Body) -> Body:
    body["swapInstruction"]["accounts"][1]["pubkey"] = str(SYSTEM)
    return body


# --- answers of the swap API ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda body: {**body, "outAmount": "-1"},
        lambda body: {**body, "swapInstruction": None},
        lambda body: {**body, "tipInstruction": body["swapInstruction"]},
        lambda body: {**body, "setupInstructions": [instruction(Instruction(Pubkey.new_unique(), b"", []))]},
        lambda body: {**body, "addressesByLookupTableAddress": {str(Pubkey.new_unique()): []}},
    ],
    ids=["malformed", "incomplete", "tip", "unknown program", "invented table"],
)
def test_an_answer_that_can_not_be_used_for_one_token_leaves_the_others_theirs(user: SolanaUser, change: Alter) -> None:
    good, bad = user.hold(), user.hold()
    alter_one(user, bad, change)

    with pytest.raises(TokensRefused) as refused:
        user.build({good: 5 * DOLLAR, bad: 5 * DOLLAR})
    assert named(refused.value) == [("tokens[1].mint", "unusable_quote")]

    built = user.build({bad: 5 * DOLLAR, good: 5 * DOLLAR}, leaves_out=True)
    assert skipped(built) == [(str(bad), "unusable_quote")]
    user.send(built)
    assert (user.has_account(good), user.balance(bad)) == (False, 5 * DOLLAR)


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (404, TokensRefused, "unusable_quote"),
        (429, SwapUnavailable, "not_quoted"),
        (500, SwapUnavailable, "not_quoted"),
    ],
)
def test_a_status_other_than_200_for_one_token_names_it(
    user: SolanaUser, status: int, error: type[SweepApiError], code: str
) -> None:
    good, bad = user.hold(), user.hold()
    answer_one(user, bad, Response(status, b"{}", {"Retry-After": "17"}))

    with pytest.raises(error) as refused:
        user.build({good: 5 * DOLLAR, bad: 5 * DOLLAR})
    assert named(refused.value) == [("tokens[1].mint", code)]
    assert refused.value.retry_after_seconds == (17 if status == 429 else 5 if status == 500 else None)

    assert skipped(user.build({good: 5 * DOLLAR, bad: DOLLAR}, leaves_out=True)) == [(str(bad), code)]


def answer_one(user: SolanaUser, mint: Pubkey, response: Response) -> None:
    """Have the swap API answer so for one token."""
    user.market.api.answer = lambda query: response if query["inputMint"] == str(mint) else None


def test_a_late_answer_beside_a_token_without_a_route_is_refused_with_it(user: SolanaUser) -> None:
    good, late, unknown = user.hold(), user.hold(), user.hold()
    del user.market.prices[unknown]
    answer_one(user, late, Response(429))

    with pytest.raises(TokensRefused) as refused:
        user.build({late: DOLLAR, good: 5 * DOLLAR, unknown: DOLLAR})
    assert named(refused.value) == [("tokens[0].mint", "not_quoted"), ("tokens[2].mint", "no_route")]


# --- whose fault it is that nothing is quoted -------------------------------------------------------------------------


@pytest.fixture
def refusing(user: SolanaUser) -> Callable[[Callable[[Order], bool]], None]:
    """Have the swap API answer 400 to some orders."""
    build = user.market.api.build

    def refuse(is_refused: Callable[[Order], bool]) -> None:
        def answer(order: Order) -> Body:
            if is_refused(order):
                raise RefusedError("Could not find any route")
            return build(order)

        user.market.api.build = answer

    return refuse


@pytest.mark.parametrize("output", ["usdc", "sol"])
def test_a_fee_account_of_ours_that_the_swap_api_refuses_is_never_a_token_without_a_route(
    user: SolanaUser, refusing: Callable[[Callable[[Order], bool]], None], output: str
) -> None:
    asset = str(user.cluster.usdc if output == "usdc" else WRAPPED_SOL)
    tokens = {user.hold(): DOLLAR, user.hold(): DOLLAR}
    refusing(lambda order: order.fee_account is not None)

    with capture_logs() as logs, pytest.raises(SwapUnavailable) as refused:
        user.build(tokens, output_asset=asset)
    assert named(refused.value) == []
    assert [log["log_level"] for log in logs if log["event"] == "swap_api_refuses_our_terms"] == ["error"]
    assert set(reasons(look(user, output_asset=asset)).values()) == {(None, "not_quoted")}
    assert not Sweep.objects.exists()


def test_tokens_that_only_the_swap_api_does_not_trade_have_no_route(user: SolanaUser) -> None:
    tokens = {user.hold(): DOLLAR, user.hold(): DOLLAR}
    for mint in tokens:
        del user.market.prices[mint]

    with pytest.raises(TokensRefused) as refused:
        user.build(tokens)
    assert named(refused.value) == [(f"tokens[{i}].mint", "no_route") for i in (0, 1)]


# --- simulations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [failing, without_output], ids=["swap", "guard"])
def test_a_leg_that_fails_in_the_simulation_is_named_or_left_out(
    user: SolanaUser, round_trips: list[list[str]], change: Alter
) -> None:
    good, bad, other = user.hold(), user.hold(), user.hold()
    alter_one(user, bad, change)
    sold = {good: 5 * DOLLAR, bad: 5 * DOLLAR, other: 5 * DOLLAR}

    with pytest.raises(TokensRefused) as refused:
        user.build(sold)
    assert named(refused.value) == [("tokens[1].mint", "simulation_failed")]
    assert len(round_trips) == 4

    round_trips.clear()
    built = user.build(sold, leaves_out=True)
    assert skipped(built) == [(str(bad), "simulation_failed")]
    assert len(round_trips) == 5
    user.send(built)
    assert [user.has_account(mint) for mint in (good, bad, other)] == [False, True, False]


def test_a_leg_that_does_more_than_it_should_is_named_or_left_out(user: SolanaUser) -> None:
    good, bad = user.hold(), user.hold()
    alter_one(user, bad, lambda body: {**body, "otherInstructions": body["otherInstructions"][:1]})  # pays no fee

    with capture_logs() as logs, pytest.raises(TokensRefused) as refused:
        user.build({bad: 5 * DOLLAR, good: 5 * DOLLAR})
    assert named(refused.value) == [("tokens[0].mint", "unusable_quote")]
    (logged,) = (log for log in logs if log["event"] == "unsafe_swap_refused")
    assert (logged["token"], logged["log_level"]) == (str(bad), "error")
    assert skipped(user.build({bad: DOLLAR, good: 5 * DOLLAR}, leaves_out=True)) == [(str(bad), "unusable_quote")]


def test_a_token_that_is_frozen_while_it_is_quoted_is_named_and_not_blamed_on_another(user: SolanaUser) -> None:
    sold, other = user.hold(), user.hold()
    faucet = user.cluster.faucet

    def freeze(body: Body) -> Body:
        faucet.freeze(faucet.associated_account(user.key, sold), sold)
        return body

    alter_one(user, sold, freeze)
    with pytest.raises(TokensRefused) as refused:
        user.build({other: 5 * DOLLAR, sold: 5 * DOLLAR})
    assert named(refused.value) == [("tokens[1].mint", "simulation_failed")]


def test_a_simulation_that_fails_is_refused_with_all_other_problems(user: SolanaUser) -> None:
    good, bad, unknown = user.hold(), user.hold(), user.hold()
    del user.market.prices[unknown]
    alter_one(user, bad, failing)

    with pytest.raises(TokensRefused) as refused:
        user.build({unknown: DOLLAR, good: 5 * DOLLAR, bad: 5 * DOLLAR})
    assert named(refused.value) == [("tokens[0].mint", "no_route"), ("tokens[2].mint", "simulation_failed")]


def test_a_token_that_does_not_pay_its_part_is_named_beside_one_that_fails(
    user: SolanaUser, round_trips: list[list[str]]
) -> None:
    user.cluster.bank.priority_fee = 10**12
    user.cluster.bank.advance(150)
    good, bad, dust = user.hold(), user.hold(), user.hold()
    alter_one(user, bad, failing)
    sold = {good: 5 * DOLLAR, dust: 2_000, bad: 5 * DOLLAR}

    with pytest.raises(TokensRefused) as refused:
        user.build(sold)
    assert named(refused.value) == [("tokens[1].mint", "uneconomic"), ("tokens[2].mint", "simulation_failed")]

    round_trips.clear()
    built = user.build(sold, leaves_out=True)
    assert dict(skipped(built)) == {str(bad): "simulation_failed", str(dust): "uneconomic"}
    assert len(round_trips) == 5


def test_legs_that_fail_only_together_are_sold_apart(user: SolanaUser, round_trips: list[list[str]]) -> None:
    """Both take what the maker put aside for the first one, which is enough for one of them."""
    first, second = user.hold(), user.hold()
    paid: list[Body] = []

    def share(body: Body) -> Body:
        paid.append(body)
        return {**body, "otherInstructions": paid[0]["otherInstructions"]}

    user.market.api.alter = lambda query, body: share(body) if query["inputMint"] != str(WRAPPED_SOL) else body
    built = user.build({first: 5 * DOLLAR, second: 5 * DOLLAR})

    assert [transaction["tokens"] for transaction in built["transactions"]] == [[str(first)], [str(second)]]
    assert len(round_trips) == 5


def test_a_failure_is_explained_without_the_words_of_programs(user: SolanaUser) -> None:
    bad = user.hold()
    alter_one(user, bad, failing)
    with capture_logs() as logs, pytest.raises(TokensRefused) as refused:
        user.build({bad: 5 * DOLLAR})
    (detail,) = refused.value.details
    assert detail.message.startswith("Its sale fails in a simulation: {")
    assert "Program log" not in detail.message
    assert "Program" in str([log for log in logs if log["event"] == "simulation_failed"])
