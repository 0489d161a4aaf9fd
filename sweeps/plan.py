"""Deciding what a sweep would do: refusing what can't work, and choosing each token's route and minimum."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sweepapi.errors import FieldError, InsufficientOutput, InvalidRequest, NoRoute
from sweepapi.evm.errors import CallFailedError
from sweepapi.evm.probe import Probe, TransferTest
from sweepapi.evm.routes.types import Route
from sweepapi.evm.v5 import BPS_DENOMINATOR
from sweepapi.fields import UINT256_MAX
from sweeps.amounts import floor_share
from sweeps.market import Facts, Market, Quotes


@dataclass(frozen=True)
class TokenWish:
    """One token of a request; ``decimals`` must not contradict the chain, a ``symbol`` that does is warned of."""

    mint: str
    amount: int
    symbol: str | None = None
    decimals: int | None = None


@dataclass(frozen=True)
class BuildRequest:
    """A checked build request: addresses in EIP-55, amounts in smallest units."""

    chain: str
    wallet: str
    tokens: Sequence[TokenWish]
    output_mint: str
    slippage_bps: int


@dataclass(frozen=True)
class PlannedLeg:
    """One token with the route chosen for it; ``route`` is None where nothing needs swapping."""

    wish: TokenWish
    route: Route | None
    expected_output: int
    min_output: int


def refuse_bad_tokens(request: BuildRequest, market: Market, facts: Facts) -> None:
    """Raise ``InvalidRequest`` for addresses that are no tokens and for decimals that contradict the chain."""
    problems = [
        problem
        for i, wish in enumerate(request.tokens)
        for problem in _contradictions(wish, facts, field=f"tokens[{i}]")
    ]
    if market.output not in facts.tokens:
        problems.append(FieldError("outputMint", "not_a_token", "There is no ERC-20 token at this address."))
    if problems:
        raise InvalidRequest(details=problems)


def _contradictions(wish: TokenWish, facts: Facts, *, field: str) -> Iterator[FieldError]:
    token = facts.tokens.get(wish.mint)
    if token is None:
        yield FieldError(f"{field}.mint", "not_a_token", "There is no ERC-20 token at this address.")
        return
    if wish.decimals is not None and wish.decimals != token.decimals:
        yield FieldError(f"{field}.decimals", "contradicts_chain", f"The token has {token.decimals} decimals.")


def symbol_warnings(request: BuildRequest, facts: Facts) -> list[dict[str, str]]:
    """Return a warning for each token whose symbol is not the requested one: names vary, and the address decides."""
    return [
        {
            "code": "symbol_differs",
            "message": f"The token's symbol is {facts.tokens[wish.mint].symbol!r}, not {wish.symbol!r}.",
            "token": wish.mint,
        }
        for wish in request.tokens
        if wish.symbol is not None and wish.symbol != facts.tokens[wish.mint].symbol
    ]


def refuse_unroutable(
    request: BuildRequest,
    market: Market,
    quotes: Quotes,
    transfers: Mapping[Probe, TransferTest | CallFailedError],
) -> None:
    """Raise ``NoRoute`` for tokens that can't be swapped whole, ``InvalidRequest`` for such an output token."""
    refused_output = _transfer_problem(market.output, transfers, field="outputMint")
    if refused_output is not None:
        raise InvalidRequest(details=[refused_output])
    problems = []
    for i, wish in enumerate(request.tokens):
        if wish.mint != market.output and quotes.best.get(wish.mint) is None:
            problems.append(FieldError(f"tokens[{i}].mint", "no_route", "No router gives anything for this amount."))
            continue
        problem = _transfer_problem(wish.mint, transfers, field=f"tokens[{i}].mint")
        problems += [problem] if problem is not None else []
    if problems:
        raise NoRoute(details=problems)


def transfer_probes(request: BuildRequest, market: Market, facts: Facts, quotes: Quotes) -> list[Probe]:
    """Return the transfers to test: each token's by its first pool and the user who holds it, the output's by the last.

    Every token in between is the wrapped coin, which needs no test.
    """
    probes = []
    for wish in request.tokens:
        quote = quotes.best.get(wish.mint)
        if quote is None:
            continue
        probes.append(Probe(wish.mint, quote.route.pools[0], is_pool=True))
        probes.append(Probe(market.output, quote.route.pools[-1], is_pool=True))
        if facts.tokens[wish.mint].balance > 0:
            probes.append(Probe(wish.mint, request.wallet, is_pool=False))
    return list(dict.fromkeys(probes))


def _transfer_problem(
    token: str, transfers: Mapping[Probe, TransferTest | CallFailedError], *, field: str
) -> FieldError | None:
    """Return the worst that any of the token's tests showed: its pools and its holder must all pass."""
    tests = {probe: test for probe, test in transfers.items() if probe.token == token}
    if any(isinstance(test, TransferTest) and test.taxed for test in tests.values()):
        return FieldError(
            field, "transfer_fee", "The token keeps a part of every transfer, so no output can be promised."
        )
    failed = [probe for probe, test in tests.items() if isinstance(test, CallFailedError)]
    if any(probe.is_pool for probe in failed):
        return FieldError(field, "transfer_refused", "The token refuses transfers from or to the pool of its route.")
    if failed:
        return FieldError(field, "transfer_refused", "The token refuses transfers from or to this wallet.")
    return None


def plan(request: BuildRequest, quotes: Quotes) -> list[PlannedLeg]:
    """Return each token's leg with what it should and must at least give.

    Raises ``InsufficientOutput`` where that is nothing, ``InvalidRequest`` where it is more than a uint256 in all.
    """
    planned = []
    for wish in request.tokens:
        quote = quotes.best.get(wish.mint)
        if quote is None:  # the wrapped coin on its way to native output is unwrapped, not swapped
            planned.append(PlannedLeg(wish, None, wish.amount, wish.amount))
        else:
            least = floor_share(quote.expected_output, BPS_DENOMINATOR - request.slippage_bps)
            planned.append(PlannedLeg(wish, quote.route, quote.expected_output, least))
    nothing = [
        FieldError(f"tokens[{i}].amount", "output_too_small", "The least this amount gives rounds to zero.")
        for i, leg in enumerate(planned)
        if leg.min_output == 0
    ]
    if nothing:
        raise InsufficientOutput(details=nothing)
    if sum(leg.expected_output for leg in planned) > UINT256_MAX:
        raise InvalidRequest(details=[FieldError("tokens", "out_of_range", "The outputs together exceed a uint256.")])
    return planned
