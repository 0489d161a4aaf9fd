"""Deciding what a sweep would do: refusing what can't work, and choosing each token's route and minimum."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sweepapi.errors import FieldError, InsufficientOutput, InvalidRequest, NoRoute
from sweepapi.evm.errors import CallFailedError
from sweepapi.evm.probe import TransferTest
from sweepapi.evm.routes.types import Route
from sweepapi.evm.v5 import BPS_DENOMINATOR
from sweepapi.fields import UINT256_MAX
from sweeps.amounts import floor_share
from sweeps.market import Facts, Market, Quotes


@dataclass(frozen=True)
class TokenWish:
    """One token of a request; ``symbol`` and ``decimals`` are hints that must not contradict the chain."""

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
    """Raise ``InvalidRequest`` for addresses that are no tokens and for hints that contradict the chain."""
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
    if wish.symbol is not None and wish.symbol != token.symbol:
        yield FieldError(f"{field}.symbol", "contradicts_chain", f"The token's symbol is {token.symbol!r}.")


def refuse_unroutable(
    request: BuildRequest,
    market: Market,
    quotes: Quotes,
    transfers: Mapping[str, Sequence[TransferTest | CallFailedError]],
) -> None:
    """Raise ``NoRoute`` for tokens that can't be swapped whole, ``InvalidRequest`` for such an output token."""
    refused_output = _transfer_problem(transfers.get(market.output, []), field="outputMint")
    if refused_output is not None:
        raise InvalidRequest(details=[refused_output])
    problems = []
    for i, wish in enumerate(request.tokens):
        if wish.mint != market.output and quotes.best.get(wish.mint) is None:
            problems.append(FieldError(f"tokens[{i}].mint", "no_route", "No router gives anything for this amount."))
            continue
        problem = _transfer_problem(transfers.get(wish.mint, []), field=f"tokens[{i}].mint")
        problems += [problem] if problem is not None else []
    if problems:
        raise NoRoute(details=problems)


def holders(request: BuildRequest, market: Market, facts: Facts, quotes: Quotes) -> dict[str, list[str]]:
    """Return, by token, who is asked to send some of it: the pools of its route, and the user if there is a balance."""
    asked: dict[str, list[str]] = {}
    for wish in request.tokens:
        quote = quotes.best.get(wish.mint)
        if quote is None:
            continue
        owner = [request.wallet] if facts.tokens[wish.mint].balance > 0 else []
        asked[wish.mint] = [quote.route.pools[0], *owner]
        asked.setdefault(market.output, [quote.route.pools[-1]])
    return asked


def _transfer_problem(tests: Sequence[TransferTest | CallFailedError], *, field: str) -> FieldError | None:
    if any(isinstance(test, TransferTest) and test.taxed for test in tests):
        return FieldError(
            field, "transfer_fee", "The token keeps a part of every transfer, so no output can be promised."
        )
    if tests and all(isinstance(test, CallFailedError) for test in tests):
        return FieldError(field, "transfer_refused", "The token refuses to be transferred.")
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
