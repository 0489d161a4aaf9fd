"""What a sweep on Solana says about money is true for its user, and one that costs more than it brings is refused."""

from typing import Any

import pytest
from solders.pubkey import Pubkey

from dev.solana.faucet import LAMPORTS_PER_SOL
from dev.solana.swap_api import answers
from dev.solana.swap_api.orders import RefusedError
from partners.models import Partner
from sweepapi.errors import TokensRefused, Uneconomic
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.protocol.request import TokenInput
from tests.solana_cluster import SolanaCluster
from tests.solana_discovery import look
from tests.solana_swap_api import SwapMarket
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db

RENT, WALLET_RENT, SIGNATURE, MOST_PRIORITY = 2_039_280, 890_880, 5_000, 500_000
MICRO_USD_PER_SOL = 150 * DOLLAR


def in_dollars(lamports: int) -> int:
    """Return what lamports are worth in USDC, rounded up."""
    return -(-lamports * MICRO_USD_PER_SOL // LAMPORTS_PER_SOL)


@pytest.fixture
def crowded(cluster: SolanaCluster) -> None:
    """Blocks so full that every transaction pays the highest priority fee."""
    cluster.bank.priority_fee = 10**12
    cluster.bank.advance(150)


def skipped(built: dict[str, Any]) -> dict[str, str]:
    return {token["mint"]: token["reason"] for token in built["skippedTokens"]}


# --- the figures ------------------------------------------------------------------------------------------------------


def test_what_the_user_has_afterwards_is_what_the_economics_say(user: SolanaUser, cluster: SolanaCluster) -> None:
    mints = {user.hold(): 5 * DOLLAR, user.hold(): 2 * DOLLAR}
    cluster.faucet.create_account(user.key, cluster.faucet.create_mint(6))  # empty, and closed on the way
    before = user.lamports

    built = user.build(mints)
    user.send(built)

    economics = built["economics"]
    assert before - user.lamports == int(economics["cost"])
    assert int(economics["netOutput"]) == int(built["estimatedOutput"]["user"]) - int(economics["gasShare"])
    received = user.balance(cluster.usdc)
    assert int(built["estimatedOutput"]["user"]) <= received < int(built["estimatedOutput"]["user"]) + len(mints)


def test_every_part_of_the_cost_is_named_in_three_units(user: SolanaUser, crowded: None) -> None:  # noqa: ARG001
    built = user.build({user.hold(): 5 * DOLLAR})

    fee = 5 * DOLLAR * 75 // 10_000
    parts = {one["kind"]: (one["lamports"], one["outputAmount"], one["value"]) for one in built["economics"]["costs"]}
    both = {
        "signature_fees": SIGNATURE,
        "priority_fees": MOST_PRIORITY,
        "rent_paid": RENT,
        "route_rent": 0,
        "rent_returned": -RENT,
    }
    expected = {kind: (str(paid), *[str(in_dollars(paid))] * 2) for kind, paid in both.items()}
    platform = (str(fee * LAMPORTS_PER_SOL // MICRO_USD_PER_SOL), str(fee), str(fee))
    assert parts == {**expected, "platform_fee": platform}
    assert built["economics"]["cost"] == str(SIGNATURE + MOST_PRIORITY)
    assert built["economics"]["reference"] == {"symbol": "USDC", "decimals": 6}


def test_a_summary_says_what_is_sold_paid_and_received(user: SolanaUser, crowded: None) -> None:  # noqa: ARG001
    summary = user.build({user.hold(): 5 * DOLLAR})["economics"]["summary"]
    assert summary == (
        "You sell 1 token worth $5.00, pay $0.07 for fees and rent and receive $4.96, which leaves you $4.88."
    )


def test_a_summary_says_what_comes_back(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.faucet.create_account(user.key, cluster.usdc)
    summary = user.build({user.hold(): 5 * DOLLAR})["economics"]["summary"]
    assert summary == "You sell 1 token worth $5.00, receive $4.96 and get $0.30 back, which leaves you $5.26."


def test_each_token_bears_its_part_of_the_fee_less_the_rent_of_its_account(
    user: SolanaUser,
    crowded: None,  # noqa: ARG001
) -> None:
    closed, kept = user.hold(), user.hold()
    built = user.build({closed: 5 * DOLLAR, kept: 3 * DOLLAR})

    half = (SIGNATURE + MOST_PRIORITY) // 2
    shares = {token["mint"]: int(token["gasShare"]) for token in built["tokens"]}
    # Rounded up: what is given back is rounded down.
    assert shares == {str(closed): -((RENT - half) * 150 // 1_000), str(kept): in_dollars(half)}
    for token in built["tokens"]:
        assert int(token["netOutput"]) == int(token["expectedOutput"]) * 9_925 // 10_000 - shares[token["mint"]]
        assert (token["value"], token["netValue"]) == (token["expectedOutput"], token["netOutput"])


def test_an_output_in_sol_is_valued_in_the_stablecoin(user: SolanaUser) -> None:
    built = user.build({user.hold(150 * DOLLAR): 150 * DOLLAR}, output_asset=str(WRAPPED_SOL))
    assert (built["economics"]["value"], built["economics"]["gasShare"]) == (
        str(150 * DOLLAR),
        built["economics"]["cost"],
    )


def test_sol_is_quoted_once_for_many_builds(user: SolanaUser) -> None:
    asked: list[str] = []

    def note(query: Any, body: Any) -> Any:
        asked.append(query["inputMint"])
        return body

    user.market.api.alter = note
    mint = user.hold()
    for amount in (DOLLAR, 2 * DOLLAR, 3 * DOLLAR):  # an equal one would not be quoted again
        user.build({mint: amount})
    assert (asked.count(str(WRAPPED_SOL)), asked.count(str(mint))) == (1, 3)


def test_without_a_price_of_sol_figures_are_unknown_and_nothing_is_refused(user: SolanaUser) -> None:
    mint = user.hold()
    del user.market.prices[Pubkey.from_string(str(WRAPPED_SOL))]
    built = user.build({mint: 2_000})
    economics = built["economics"]
    assert [economics[name] for name in ("gasShare", "gasValue", "netOutput", "netValue", "summary")] == [None] * 5
    assert economics["cost"] == str(RENT + SIGNATURE)
    assert (built["tokens"][0]["gasShare"], built["tokens"][0]["netOutput"]) == (None, None)


def test_a_loss_against_the_price_is_warned_of(user: SolanaUser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "PRICE_IMPACT", "0.08")
    mint = user.hold()
    built = user.build({mint: 5 * DOLLAR})
    assert [(one["code"], one["token"]) for one in built["warnings"]] == [
        ("price_impact_high", str(mint)),
        ("price_impact_high", str(user.cluster.usdc)),
    ]
    assert built["tokens"][0]["valueWarning"] == built["economics"]["valueWarning"] == "price_impact_high"


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("held", [2_000, 5 * DOLLAR])
@pytest.mark.parametrize("output", ["usdc", "sol"])
def test_moving_a_fifth_of_a_cent_for_half_a_million_lamports_is_refused_unless_accepted(
    user: SolanaUser,
    crowded: None,  # noqa: ARG001
    held: int,
    output: str,
) -> None:
    mint, asset = user.hold(held), str(user.cluster.usdc if output == "usdc" else WRAPPED_SOL)
    request = {"output_asset": asset, "close_empty_accounts": False}
    with pytest.raises(Uneconomic) as refused:
        user.build({mint: 2_000}, **request)
    (detail,) = refused.value.details
    assert (detail.field, detail.code) == ("transactions", "uneconomic")
    lamports = SIGNATURE + MOST_PRIORITY + (RENT if output == "usdc" else 0)
    assert f"cost {lamports} lamports in fees and rent" in detail.message

    accepted = user.build({mint: 2_000}, accepts_uneconomic=True, **request)
    assert int(accepted["economics"]["netOutput"]) < 0
    assert accepted["networkFeeLamports"] == str(SIGNATURE + MOST_PRIORITY)


def test_the_rent_that_comes_back_pays_for_the_sweep(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.faucet.create_account(user.key, cluster.usdc)
    built = user.build({user.hold(2_000): 2_000})
    assert int(built["economics"]["cost"]) == SIGNATURE - RENT
    assert int(built["economics"]["netOutput"]) > 0


def test_a_token_that_does_not_pay_its_part_is_refused_or_left_out_alone(
    user: SolanaUser,
    crowded: None,  # noqa: ARG001
) -> None:
    good, dust = user.hold(), user.hold()
    with pytest.raises(TokensRefused) as refused:
        user.build({dust: 2_000, good: 5 * DOLLAR})
    assert [(one.field, one.code) for one in refused.value.details] == [("tokens[0].mint", "uneconomic")]

    built = user.build({dust: 2_000, good: 5 * DOLLAR}, leaves_out=True)
    assert [token["mint"] for token in built["tokens"]] == [str(good)]
    (left,) = built["skippedTokens"]
    assert (left["mint"], left["amount"], left["reason"], left["value"]) == (str(dust), "2000", "uneconomic", "2000")
    user.send(built)
    assert (user.balance(dust), user.has_account(good)) == (5 * DOLLAR, False)


def test_all_problems_of_all_tokens_are_named_at_once(
    user: SolanaUser,
    cluster: SolanaCluster,
    crowded: None,  # noqa: ARG001
) -> None:
    good, dust, frozen, short = (user.hold() for _ in range(4))
    unknown = cluster.faucet.create_mint(6)
    cluster.faucet.give_tokens(user.key, unknown, DOLLAR)
    cluster.faucet.freeze(cluster.faucet.associated_account(user.key, frozen), frozen)
    sold = {frozen: DOLLAR, good: 5 * DOLLAR, unknown: DOLLAR, short: 6 * DOLLAR, dust: 2_000}
    expected = {
        frozen: "frozen",
        unknown: "no_route",
        short: "insufficient_balance",
        dust: "uneconomic",
    }
    with pytest.raises(TokensRefused) as refused:
        user.build(sold)
    at = {mint: f"tokens[{i}].mint" for i, mint in enumerate(sold)}
    assert {one.field: one.code for one in refused.value.details} == {at[mint]: code for mint, code in expected.items()}

    built = user.build(sold, leaves_out=True)
    assert skipped(built) == {str(mint): code for mint, code in expected.items()}
    assert [token["mint"] for token in built["tokens"]] == [str(good)]


def test_a_token_far_below_its_price_is_left_out_if_that_is_allowed(user: SolanaUser) -> None:
    good, thin = user.hold(), user.hold()

    def alter(query: Any, body: Any) -> Any:
        return {**body, "priceImpactPct": "0.98"} if query["inputMint"] == str(thin) else body

    user.market.api.alter = alter
    built = user.build({thin: DOLLAR, good: 5 * DOLLAR}, leaves_out=True)
    assert skipped(built) == {str(thin): "price_impact_too_high"}
    assert user.build({thin: DOLLAR, good: DOLLAR}, accepted_impact_bps=9_800)["skippedTokens"] == []


def test_a_warning_about_a_token_goes_with_it(user: SolanaUser, cluster: SolanaCluster) -> None:
    good, unknown = user.hold(), cluster.faucet.create_mint(6)
    cluster.faucet.give_tokens(user.key, unknown, DOLLAR)
    tokens = [TokenInput(str(unknown), DOLLAR, symbol="XYZ"), TokenInput(str(good), 5 * DOLLAR)]
    assert user.build({}, tokens=tokens, leaves_out=True)["warnings"] == []


def test_the_same_token_is_named_once_though_two_rules_refuse_it(user: SolanaUser) -> None:
    good, bad = user.hold(), user.hold()

    def alter(query: Any, body: Any) -> Any:
        worthless = {"priceImpactPct": "0.98", "otherAmountThreshold": "0"}
        return {**body, **worthless} if query["inputMint"] == str(bad) else body

    user.market.api.alter = alter
    built = user.build({bad: 1, good: 5 * DOLLAR}, leaves_out=True)
    assert skipped(built) == {str(bad): "output_too_small"}


def test_a_swap_api_without_a_route_for_sol_changes_no_sale(user: SolanaUser, monkeypatch: pytest.MonkeyPatch) -> None:
    build = user.market.maker.build

    def refusing(order: Any) -> Any:
        if order.input_mint == WRAPPED_SOL:
            raise RefusedError("No routes found")
        return build(order)

    monkeypatch.setattr(user.market.api, "build", refusing)
    assert user.build({user.hold(): 5 * DOLLAR})["tokens"]


# --- the coin that pays for it ----------------------------------------------------------------------------------------


def test_a_wallet_that_can_not_pay_the_priority_fee_reads_what_it_holds_and_needs(
    swap_api: SwapMarket,
    partner: Partner,
    crowded: None,  # noqa: ARG001
) -> None:
    lamports = RENT + SIGNATURE
    user = SolanaUser(swap_api, partner, lamports=lamports)
    built = user.build({user.hold(): 5 * DOLLAR})
    needed = RENT + SIGNATURE + MOST_PRIORITY
    assert built["issues"] == {"gas": [{"actual": str(lamports), "needed": str(needed)}]}

    rich = SolanaUser(swap_api, partner, lamports=needed)
    fine = rich.build({rich.hold(): 5 * DOLLAR})
    assert fine["issues"] == {"gas": []}
    (landed,) = rich.send(fine)
    assert landed.outcome.err is None


def test_a_wallet_that_would_keep_less_than_its_rent_has_an_issue(
    swap_api: SwapMarket,
    partner: Partner,
    crowded: None,  # noqa: ARG001
) -> None:
    lamports = RENT + WALLET_RENT + SIGNATURE + MOST_PRIORITY - 1
    user = SolanaUser(swap_api, partner, lamports=lamports)
    mint = user.hold()
    kept = user.build({mint: 5 * DOLLAR}, close_empty_accounts=False)
    assert kept["issues"]["gas"] == [{"actual": str(lamports), "needed": str(lamports + 1)}]
    # The account that it closes pays the rest.
    assert user.build({mint: 5 * DOLLAR})["issues"]["gas"] == []


# --- discovery --------------------------------------------------------------------------------------------------------


def test_what_discovery_says_a_token_leaves_is_what_its_build_leaves(user: SolanaUser, cluster: SolanaCluster) -> None:
    cluster.faucet.create_account(user.key, cluster.usdc)
    mint = user.hold()
    (found,) = (one for one in look(user)["tokens"] if one["mint"] == str(mint))
    built = user.build({mint: 5 * DOLLAR})
    assert found["netOutput"] == built["tokens"][0]["netOutput"]
