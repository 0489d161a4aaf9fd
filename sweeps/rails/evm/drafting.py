"""Drafts a sweep on an EVM chain: reads the market, refuses what can't work, and sets what each token must give.

A new sweep is refused if one of its tokens can't be swapped. A renewed offer drops such a token, and one that no longer
gives what the user signed, as long as the user allowed that.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NoReturn

from django.conf import settings

from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import BuildDisabled, ChainUnavailable, FieldError, InsufficientOutput, InvalidRequest, NoRoute
from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import TokenFacts
from sweepapi.evm.market import Contract, Facts, Market, Quotes
from sweepapi.evm.routes.minimums import Minimums
from sweepapi.evm.routes.planning import Plan
from sweepapi.evm.routes.routing import Outcome, Routing, SignedFloors
from sweepapi.evm.routes.types import PoolHop, Route
from sweepapi.evm.transfers import Problem
from sweepapi.rpc.errors import ChainUnavailableError
from sweeps.rails.evm.draft import EvmDraft, EvmToken, PoolSwap, RouterSwap, SignedTerms, Swap, WrappedSwap
from sweeps.rails.evm.sealing import permit_words
from sweeps.rails.rail import BuildRequest, BuildWarning, FeeTerms, OutputAsset, TokenInput, symbol_warnings

ROUTER_SWAP = "A router swaps this token after the pools have swapped the others, which may push it to its minimum."
PROBLEMS = {
    Problem.NO_ROUTE: ("no_route", "No pool or router can swap this amount."),
    Problem.SHORT: ("transfer_fee", "The token charges a fee on transfer, and no router can swap what arrives."),
    Problem.REFUSED_AT_POOL: ("transfer_refused", "The token refuses transfers from or to the pool of its route."),
    Problem.REFUSED_AT_HOLDER: ("transfer_refused", "The token refuses transfers from or to this wallet."),
}
TAXED_OUTPUT = ("transfer_fee", "The token charges a fee on transfer, so no output can be guaranteed.")


def draft(  # noqa: PLR0913 - what a rail knows of a sweep
    *,
    partner: Partner,
    request: BuildRequest,
    chain: Chain,
    contract: Contract,
    fees: FeeTerms,
    signed: SignedTerms | None = None,
) -> EvmDraft:
    """Plan a sweep in at most four round trips; with ``signed``, under what the user signed for it.

    Raises ``BuildDisabled`` if the contract can't execute sweeps now, ``ChainUnavailable``, ``InvalidRequest`` (an
    address that is not a token, or decimals that contradict the chain), ``NoRoute`` and ``InsufficientOutput``.
    """
    native = request.output_asset == NATIVE_COIN
    market = Market(
        chain=chain,
        pool=networks.current().pool(chain.network),
        wallet=request.wallet,
        contract=contract,
        output=chain.wrapped_native if native else request.output_asset,
    )
    floors = None if signed is None else _signed_floors(request, fees, signed)
    facts, quotes, outcome = _read(request, market, floors)
    plan = outcome.plan
    if outcome.output_problem is not None:
        _refuse_output(outcome.output_problem)
    if signed is None:
        _refuse_tokens(request, outcome.problems)
        max_skipped = _max_skipped(request, plan)
    else:
        max_skipped = signed.max_skipped
        _require_floors(request, plan, max_skipped)
    output = facts.tokens[market.output]
    return EvmDraft(
        partner=partner,
        request=request,
        output=OutputAsset(request.output_asset, chain.native_symbol if native else output.symbol, output.decimals),
        fees=fees,
        tokens=_tokens(request, facts, quotes, _minimums(request, fees, plan, floors), max_skipped=max_skipped),
        height=facts.head.number,
        chain=chain,
        contract=contract.address,
        output_token=market.output,
        last_hop=None if plan.last is None else plan.last.swap,
        max_skipped=max_skipped,
        head=facts.head,
        used_permit_words=facts.used_permit_words,
        warnings=[*_symbol_warnings(request, facts), *_router_warnings(plan)],
    )


def _signed_floors(request: BuildRequest, fees: FeeTerms, signed: SignedTerms) -> SignedFloors:
    floors = {token.asset: floor for token, floor in zip(request.tokens, signed.floors, strict=True)}
    return SignedFloors(floors, fees.total_fee_bps)


def _read(request: BuildRequest, market: Market, signed: SignedFloors | None) -> tuple[Facts, Quotes, Outcome]:
    words = permit_words(network=market.chain.network, wallet=request.wallet)
    try:
        facts = market.read_facts(swept=[token.asset for token in request.tokens], permit_words=words)
        if facts.refusals:
            raise BuildDisabled(" ".join(facts.refusals), retry_after_seconds=60)
        _refuse_bad_tokens(request, market, facts, may_drop=signed is not None)
        amounts = {token.asset: token.amount for token in request.tokens if not any(_contradictions(token, facts))}
        quotes = market.read_quotes(amounts=amounts, facts=facts)
        return facts, quotes, Routing(market, facts, amounts, signed).find(quotes.ways)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error


def _refuse_bad_tokens(request: BuildRequest, market: Market, facts: Facts, *, may_drop: bool) -> None:
    problems: list[FieldError] = []
    if not may_drop:
        for i, token in enumerate(request.tokens):
            problems += [
                replace(problem, field=f"tokens[{i}].{problem.field}") for problem in _contradictions(token, facts)
            ]
    if market.output not in facts.tokens:
        problems.append(FieldError("outputMint", "not_a_token", "This is not the address of an ERC-20 token."))
    if problems:
        raise InvalidRequest(details=problems)


def _contradictions(token: TokenInput, facts: Facts) -> Iterator[FieldError]:
    known = facts.tokens.get(token.asset)
    if known is None:
        yield FieldError("mint", "not_a_token", "This is not the address of an ERC-20 token.")
    elif token.decimals is not None and token.decimals != known.decimals:
        yield FieldError("decimals", "contradicts_chain", f"The token has {known.decimals} decimals.")


def _refuse_output(problem: Problem) -> NoReturn:
    code, message = TAXED_OUTPUT if problem is Problem.SHORT else PROBLEMS[problem]
    raise InvalidRequest(details=[FieldError("outputMint", code, message)])


def _refuse_tokens(request: BuildRequest, problems: Mapping[str, Problem]) -> None:
    """Raise ``NoRoute`` if a token can't be swapped."""
    details = [
        FieldError(f"tokens[{i}].mint", *PROBLEMS[problems[token.asset]])
        for i, token in enumerate(request.tokens)
        if token.asset in problems
    ]
    if details:
        raise NoRoute(details=details)


def _require_floors(request: BuildRequest, plan: Plan, max_skipped: int) -> None:
    """Raise ``InsufficientOutput`` unless the user allowed to leave out as many tokens as the plan does."""
    if not plan.ways or not plan.is_quoted or len(request.tokens) - len(plan.ways) > max_skipped:
        raise InsufficientOutput("At current prices the sweep does not reach the signed minimum.")


def _max_skipped(request: BuildRequest, plan: Plan) -> int:
    """Return how many tokens may be left out: as many as requested, of those that pools swap all but one."""
    swaps = [way.quote.swap for way in plan.ways.values() if way.quote is not None]
    most = max(sum(isinstance(swap, PoolHop) for swap in swaps) - 1, 0)
    return most if request.max_skipped is None else min(request.max_skipped, most)


def _minimums(request: BuildRequest, fees: FeeTerms, plan: Plan, signed: SignedFloors | None) -> Minimums:
    return Minimums(
        plan=plan,
        fee_bps=fees.total_fee_bps,
        slippage_bps=request.slippage_bps,
        router_slippage_bps=settings.ROUTER_LEG_SLIPPAGE_BPS,
        signed=None if signed is None else signed.floors,
    )


def _tokens(
    request: BuildRequest, facts: Facts, quotes: Quotes, minimums: Minimums, *, max_skipped: int
) -> list[EvmToken]:
    """Return each token with its swap and its minimum; raises ``InsufficientOutput`` if a floor is zero."""
    dropped = len(request.tokens) - len(minimums.plan.ways)
    tokens = [
        _token(token, facts, quotes, minimums, may_skip=max_skipped > dropped)
        if token.asset in minimums.plan.ways
        else _dropped(token, facts, minimums.floor(token.asset))
        for token in request.tokens
    ]
    nothing = [
        FieldError(f"tokens[{i}].amount", "output_too_small", "The minimum output of this amount rounds to zero.")
        for i, token in enumerate(tokens)
        if token.floor == 0
    ]
    if nothing:
        raise InsufficientOutput(details=nothing)
    return tokens


def _token(token: TokenInput, facts: Facts, quotes: Quotes, minimums: Minimums, *, may_skip: bool) -> EvmToken:
    known, asset, plan = facts.tokens[token.asset], token.asset, minimums.plan
    swap = _swap(asset, minimums, may_skip=may_skip)
    return EvmToken(
        asset=asset,
        amount=token.amount,
        symbol=known.symbol,
        decimals=known.decimals,
        expected_output=plan.expected_output(asset),
        min_output=minimums.min_output(asset),
        swap=swap,
        floor=minimums.floor(asset),
        skippable=may_skip and isinstance(swap, PoolSwap),
        balance=known.balance,
        allowance=known.allowance,
        needs_reset=quotes.needs_reset.get(asset, False),
    )


def _swap(asset: str, minimums: Minimums, *, may_skip: bool) -> Swap:
    way = minimums.plan.ways[asset]
    if way.quote is None:
        return WrappedSwap(joined=way.is_joined)
    swap = way.quote.swap
    if isinstance(swap, Route):
        return RouterSwap(swap, way.quote.amount_in)
    least = minimums.least_wrapped(asset, skippable=may_skip) if way.is_joined else 0
    return PoolSwap(swap, joined=way.is_joined, least_wrapped=least, price_limit=way.quote.price_limit)


def _dropped(token: TokenInput, facts: Facts, floor: int) -> EvmToken:
    """Return a token that the offer leaves with the user; it may not even answer any more."""
    known = facts.tokens.get(token.asset) or TokenFacts(token.symbol or "", token.decimals or 0, 0, 0)
    return EvmToken(
        asset=token.asset,
        amount=token.amount,
        symbol=known.symbol,
        decimals=known.decimals,
        expected_output=0,
        min_output=0,
        swap=None,
        floor=floor,
        skippable=False,
        balance=known.balance,
        allowance=known.allowance,
        needs_reset=False,
    )


def _symbol_warnings(request: BuildRequest, facts: Facts) -> Iterator[BuildWarning]:
    known = [token for token in request.tokens if token.asset in facts.tokens]
    return symbol_warnings(known, {asset: token.symbol for asset, token in facts.tokens.items()})


def _router_warnings(plan: Plan) -> Iterator[BuildWarning]:
    for asset, way in plan.ways.items():
        if way.quote is not None and isinstance(way.quote.swap, Route) and len(plan.ways) > 1:
            yield BuildWarning("router_swap", ROUTER_SWAP, asset)
