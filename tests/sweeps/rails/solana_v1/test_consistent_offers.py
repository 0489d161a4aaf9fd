"""Whatever is built on Solana, the figures of an offer hold together, and the wallet pays and receives just that."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dev.solana.swap_api import answers
from sweepapi.errors import TokensRefused, Uneconomic
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.models import Sweep
from sweeps.protocol.consistency import ContradictoryOfferError
from sweeps.rails.solana_v1.build.consistency import require_consistency
from sweeps.rails.solana_v1.build.stages import SolanaSimulated
from tests.solana_user import DOLLAR, SolanaUser

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("seed", range(20))
def test_a_random_sweep_pays_and_costs_what_its_answer_says(
    user: SolanaUser, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    chance = random.Random(seed)  # noqa: S311 - not a secret
    cluster, to_sol = user.cluster, chance.random() < 0.3
    monkeypatch.setattr(answers, "PRICE_IMPACT", chance.choice(["0", "0.0012", "0.04"]))
    cluster.bank.priority_fee = chance.choice([0, 10**5, 10**12])
    cluster.bank.advance(150)
    if chance.random() < 0.5:
        cluster.faucet.create_account(user.key, cluster.usdc)
    for _ in range(chance.randint(0, 3)):
        cluster.faucet.create_account(user.key, cluster.faucet.create_mint(6))
    sold = {}
    for _ in range(chance.randint(1, 8)):
        held = int(10 ** chance.uniform(0, 7))
        sold[user.hold(held)] = held if chance.random() < 0.7 else chance.randint(1, held)
    before, had = user.lamports, user.balance(cluster.usdc)

    try:
        built = user.build(
            sold,
            output_asset=str(WRAPPED_SOL) if to_sol else str(cluster.usdc),
            leaves_out=chance.random() < 0.7,
            accepts_uneconomic=chance.random() < 0.4,
            close_empty_accounts=chance.random() < 0.8,
            slippage_bps=chance.choice([1, 50, 1_000]),
        )
    except (TokensRefused, Uneconomic):
        assert not Sweep.objects.exists()
        return

    assert all(landed.outcome.err is None for landed in user.send(built))
    economics, promised = built["economics"], int(built["estimatedOutput"]["user"])
    rounding = len(built["tokens"])
    paid = before - user.lamports
    if to_sol:
        assert abs(promised - int(economics["cost"]) + paid) <= rounding
        assert abs(int(economics["netOutput"]) + paid) <= rounding
    else:
        assert paid == int(economics["cost"])
        assert abs(user.balance(cluster.usdc) - had - promised) <= rounding
    assert {token["mint"] for token in (*built["tokens"], *built["skippedTokens"])} == {str(mint) for mint in sold}


@pytest.fixture
def planned(user: SolanaUser) -> SolanaSimulated:
    return user.plan({user.hold(): 5 * DOLLAR, user.hold(): 3 * DOLLAR})


def with_first(planned: SolanaSimulated, **changed: Any) -> SolanaSimulated:
    first, *others = planned.tokens
    return replace(planned, tokens=[replace(first, **changed), *others])


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: with_first(one, min_output=one.tokens[0].expected_output + 1), "is above the expected"),
        (lambda one: with_first(one, min_output=0), "are of other outputs or at other prices"),
        (lambda one: with_first(one, economics=replace(one.tokens[0].economics, net_output=1)), "leaves"),
        (lambda one: replace(one, transactions=[]), "do not sell each token once"),
        (lambda one: replace(one, tokens=one.tokens[:1]), "do not sell each token once"),
        (lambda one: with_first(one, asset=one.tokens[1].asset), "neither sold nor left out, or both"),
    ],
)
def test_a_sweep_that_contradicts_itself_is_not_shown(
    planned: SolanaSimulated, spoil: Callable[[SolanaSimulated], SolanaSimulated], message: str
) -> None:
    require_consistency(planned)
    with pytest.raises(ContradictoryOfferError, match=message):
        require_consistency(spoil(planned))
