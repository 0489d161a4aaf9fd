"""Every answer that the swap API documents goes through a build: it becomes a sweep that completes, or a refusal.

The variants are made from the facts of its document: each field that it may leave out, and each that can be null.
"""

import json
from collections.abc import Iterator
from typing import Any, TypeAlias

import pytest
from solders.pubkey import Pubkey

from dev.solana.swap_api.server import Response
from sweepapi.errors import SwapUnavailable, TokensRefused
from sweepapi.solana.encoding.addresses import WRAPPED_SOL
from sweeps.models import Sweep
from tests.solana_sweeps import looked_at
from tests.solana_user import DOLLAR, SolanaUser
from tests.swap_document import FACTS

pytestmark = pytest.mark.django_db

Body: TypeAlias = dict[str, Any]
Path: TypeAlias = tuple[str, ...]

# A swap can't be built without these, although the document lets them be missing.
NEEDED = {"inputMint", "outputMint", "inAmount", "outAmount", "otherAmountThreshold", "swapInstruction"}
ALL = "[]"  # of a path: each item of a list


def variants(fact: Any, path: Path = ()) -> Iterator[tuple[str, Path, bool]]:
    """Yield what an answer of this fact may lack or have as null: a name, its path, and whether it is null there."""
    if isinstance(fact, list):
        yield from variants(fact[0], (*path, ALL))
    if not isinstance(fact, dict) or "*" in fact:
        return
    for marked, inner in fact.items():
        here = (*path, marked.rstrip("!?"))
        if not marked.endswith("!"):
            yield f"no {'.'.join(here)}", here, False
        if marked.endswith("?"):
            yield f"null {'.'.join(here)}", here, True
        yield from variants(inner, here)


def holders(body: Any, path: Path) -> list[Body]:
    """Return the objects of a body that have what this path ends with."""
    found = [body]
    for name in path[:-1]:
        found = [item for one in found for item in (one if name == ALL else [one[name]])]
    return found


VARIANTS = {name: (path, is_null) for name, path, is_null in variants(FACTS["answers"][200])}


def varied(body: Body, path: Path, *, is_null: bool) -> Body:
    """Return the answer without what this path ends with, or with null there."""
    if path == ("otherInstructions",):
        # The maker pays in these; the document does not say what belongs into which part.
        *body["setupInstructions"], body["swapInstruction"] = instructions_of(body)
    for holder in holders(body, path):
        if is_null:
            holder[path[-1]] = None
        else:
            holder.pop(path[-1], None)
    return body


def instructions_of(body: Body) -> list[Body]:
    return [*body["setupInstructions"], body["swapInstruction"], *body["otherInstructions"]]


@pytest.fixture
def sold(user: SolanaUser) -> Pubkey:
    """A token that the user holds and the maker buys through SOL, so that the route has two steps."""
    return user.hold(through=WRAPPED_SOL)


@pytest.mark.parametrize("variant", VARIANTS)
def test_what_an_answer_may_lack_is_not_missed_or_is_refused(user: SolanaUser, sold: Pubkey, variant: str) -> None:
    path, is_null = VARIANTS[variant]
    user.cluster.faucet.give_tokens(user.key, user.cluster.usdc, 1)  # so that no setup is needed
    user.market.api.alter = lambda _query, body: varied(body, path, is_null=is_null)
    if path[0] in NEEDED:
        with pytest.raises(SwapUnavailable):
            user.build({sold: 5 * DOLLAR})
        assert not Sweep.objects.exists()
    else:
        built = user.build({sold: 5 * DOLLAR})
        user.send(built)
        assert looked_at().status == "completed"
        assert user.balance(user.cluster.usdc) == 1 + int(built["estimatedOutput"]["user"])


@pytest.mark.parametrize("variant", [name for name in VARIANTS if "cleanupInstruction" in name])
def test_sol_is_unwrapped_even_if_the_answer_does_not_say_how(user: SolanaUser, sold: Pubkey, variant: str) -> None:
    path, is_null = VARIANTS[variant]
    user.market.api.alter = lambda _query, body: varied(body, path, is_null=is_null)
    built = user.build({sold: 5 * DOLLAR}, output_asset=str(WRAPPED_SOL))
    before = user.lamports
    user.send(built)
    received = user.lamports - before - int(built["reclaimedLamports"]) + int(built["networkFeeLamports"])
    assert received == int(built["estimatedOutput"]["user"])
    assert not user.has_account(WRAPPED_SOL)
    assert looked_at().status == "completed"


def test_an_answer_may_split_a_route_and_value_its_steps(user: SolanaUser, sold: Pubkey) -> None:
    def split(body: Body) -> Body:
        parts = ((60, 6_000), (40.0, 4_000))
        steps = [
            step | {"percent": percent, "bps": bps, "usdValue": 0.25}
            for percent, bps in parts
            for step in body["routePlan"]
        ]
        return body | {"routePlan": steps, "slippageBps": 50.0}

    user.market.api.alter = lambda _query, body: split(body)
    user.send(user.build({sold: 5 * DOLLAR}))
    assert looked_at().status == "completed"


@pytest.mark.usefixtures("nothing_is_stored")
@pytest.mark.parametrize("body", [{"error": "No routes found"}, {}])
def test_a_refusal_needs_no_reason(user: SolanaUser, body: Body) -> None:
    mint, refusal = user.hold(), Response(400, json.dumps(body).encode())
    user.market.api.answer = lambda query: refusal if query["inputMint"] == str(mint) else None
    with pytest.raises(TokensRefused) as refused:
        user.build({mint: 5 * DOLLAR})
    assert [(detail.field, detail.code) for detail in refused.value.details] == [("tokens[0].mint", "no_route")]


@pytest.mark.usefixtures("nothing_is_stored")
@pytest.mark.parametrize("status", [401, 404, 429, 500, 502, 503, 504])
def test_a_status_that_says_nothing_about_the_token_is_not_taken_for_no_route(user: SolanaUser, status: int) -> None:
    user.market.api.replace = lambda: Response(status, b"{}")
    with pytest.raises(SwapUnavailable):
        user.build({user.hold(): 5 * DOLLAR})
