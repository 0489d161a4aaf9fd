"""Plans a sweep on an EVM chain: reads the market, refuses what can't work, and sets what each token must give.

A new sweep is refused if one of its tokens can't be swapped. A renewed offer drops such a token, and one that no longer
gives what the user signed, as long as the user allowed that.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from django.conf import settings

from partners.models import Partner
from sweepapi.errors import (
    BuildDisabled,
    ChainUnavailable,
    FieldError,
    InvalidRequest,
    Uneconomic,
)
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.evm.market import routing
from sweepapi.evm.market.reading import Contract, Market, MarketFacts
from sweepapi.evm.market.routing import RoutingOutcome, SignedFloors
from sweepapi.evm.pools.types import PoolHop, Route
from sweepapi.evm.routes.minimums import Minimums
from sweepapi.evm.routes.planning import RoutePlan
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.evm.tokens.listed_tokens import is_listed
from sweepapi.evm.tokens.transfers import TransferProblem
from sweepapi.evm.trial.attempts import Attempt
from sweepapi.evm.trial.blocked_output import blocks, payout_probes
from sweepapi.evm.trial.sweep_gas import TRANSACTION_CAP
from sweepapi.evm.trial.trial_result import NOT_HELD, Simulation, SimulationStatus, simulation_of, skipped
from sweepapi.evm.trial.trying import try_all
from sweepapi.evm.worth.data_costs import DataCosts
from sweepapi.evm.worth.left_out import (
    NOT_A_TOKEN,
    PROBLEMS,
    TAKES_OTHERS,
    unswappable,
)
from sweepapi.evm.worth.valuing import Rates
from sweepapi.evm.worth.ways import ExecutionWay
from sweepapi.networks import Networks
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.worth.left_out import SIMULATION_FAILED, LeftOut, uneconomic
from sweeps.protocol.rail import BelowMinimumError, BuildWarning, FeeTerms, OutputAsset, symbol_warnings
from sweeps.protocol.refusing import refuse, require_all, too_costly
from sweeps.protocol.request import BuildRequest, DiscoverRequest, TokenInput
from sweeps.rails.evm.build.issuing import permit_words
from sweeps.rails.evm.build.sent import SentTransactions
from sweeps.rails.evm.build.stages import (
    EvmPlanned,
    EvmSimulated,
    EvmToken,
    SignedTerms,
    Trial,
    WalletFacts,
    planned_tokens,
)

LOSS = (
    "By {way} it costs {cost} wei for {gas} gas, which is {share} of the output, and brings {user}. It pays below "
    "{break_even} wei a gas."
)
ALONE_GAS = 5_000_000  # to try one token with
MAX_PAYING_POOLS = 4  # to look at where nothing goes through
ROUTER_SWAP = "A router swaps this token after the pools have swapped the others, which may push it to its minimum."
BESIDE_OTHERS = "Its router swaps after the pools have swapped the others, and that fails: {}"
WOULD_REVERT = "The sweep would revert: {}"
SIGNS_NOTHING = (
    "The code of this account does not check signatures (EIP-1271), so Permit2 accepts none of them: the sweep can be "
    "executed in a batch of calls, or by approvals of the contract and a plain transaction."
)
SIGNS_OTHERWISE = (
    "The code that this account delegates to does not accept what its key signs of a digest as it is, so Permit2 "
    "refuses it: the sweep can only be executed without signatures."
)
MAY_BE_REFUSED = (
    "It could not be shown whether the code that this account delegates to accepts its key's signature, as Permit2 "
    "requires. Finalize before you send, or execute the sweep without signatures."
)
OUTPUT_IS_NOT_A_TOKEN = FieldError("outputMint", *NOT_A_TOKEN)
BLOCKING_OUTPUT = FieldError(
    "outputMint", "transfer_refused", "The token refuses transfers to the contract or to this wallet."
)
TAXED_OUTPUT = ("transfer_fee", "The token charges a fee on transfer, so no output can be guaranteed.")


@dataclass(frozen=True)
class Reading:
    """What was read of the market."""

    market: Market
    facts: MarketFacts
    quotes: Quotes


def plan(  # noqa: PLR0913 - what a rail knows of a sweep
    *,
    registry: Networks,
    partner: Partner,
    request: BuildRequest,
    contract: Contract,
    fees: FeeTerms,
    signed: SignedTerms | None = None,
) -> EvmPlanned:
    """Plan a sweep in three round trips; with ``signed``, under what the user signed for it.

    It lacks the tokens of a new sweep that can't be swept, whether or not they may be left out: the trial may find more
    of them, and a refusal names all.

    Raises ``BuildDisabled`` if the contract can't execute sweeps now, ``ChainUnavailable``, ``InvalidRequest`` (an
    output that is not a token, or decimals that contradict the chain), ``TokensRefused`` and ``BelowMinimumError``.
    """
    market = market_for(registry, request, contract)
    floors = None if signed is None else _signed_floors(request, fees, signed)
    facts, quotes, outcome = _read(request, market, floors)
    if outcome.output_problem is not None:
        refuse_output(outcome.output_problem)
    max_skipped = _max_skipped(request, outcome.plan) if signed is None else signed.max_skipped
    reading = Reading(market, facts, quotes)
    minimums = _minimums(request, fees, outcome.plan, floors)
    planned = planned_sweep(request, reading, minimums, partner=partner, fees=fees, max_skipped=max_skipped)
    if signed is None:
        problems = unswappable(request.tokens, facts.tokens, outcome.problems, must_be_held=request.leaves_out)
        return _without_unsweepable(planned, list(problems))
    _require_floors(request, outcome.plan, max_skipped)
    return planned


def market_for(registry: Networks, request: BuildRequest | DiscoverRequest, contract: Contract) -> Market:
    """Return the market of a sweep; one for the native coin swaps tokens into its wrapped one."""
    chain = registry.chain(request.network)
    return Market(
        chain=chain,
        pool=registry.pool(request.network),
        lasting=registry.lasting_facts[request.network],
        wallet=request.wallet,
        contract=contract,
        output=chain.wrapped_native if request.output_asset == NATIVE_COIN else request.output_asset,
    )


def output_of(asset: str, market: Market, facts: MarketFacts) -> OutputAsset:
    """Return what a sweep is paid in."""
    known = facts.tokens[market.output]
    return OutputAsset(asset, market.chain.native_symbol if asset == NATIVE_COIN else known.symbol, known.decimals)


def planned_sweep(  # noqa: PLR0913 - what a plan consists of
    request: BuildRequest, reading: Reading, minimums: Minimums, *, partner: Partner, fees: FeeTerms, max_skipped: int
) -> EvmPlanned:
    """Return the sweep that these minimums plan."""
    market, facts, quotes = reading.market, reading.facts, reading.quotes
    last, rates = minimums.plan.last, Rates.of(market, facts, quotes)
    if request.wallet_says.gas_is_sponsored:
        rates = rates.sponsored
    shown = quotes.approvals
    wallet = WalletFacts(facts.code, shown.answers_eip1271, shown.takes_batches, shown.takes_plain_signature)
    tokens = planned_tokens(request, facts, quotes, minimums, max_skipped=max_skipped)
    planned = EvmPlanned(
        partner=partner,
        request=request,
        output=output_of(request.output_asset, market, facts),
        fees=fees,
        tokens=[token.valued(rates, quotes.transfers, fees) for token in tokens],
        height=facts.head.number,
        market=market,
        last_hop=None if last is None else last.swap,
        max_skipped=max_skipped,
        head=facts.head,
        used_permit_words=facts.used_permit_words,
        warnings=list(_warnings(request, facts, minimums.plan, wallet)),
        wallet=wallet,
        gas_price=facts.gas_price,
        native_balance=facts.native_balance,
        rates=rates,
        is_renewed=minimums.signed is not None,
        left_out=(),
    )
    return planned.costing(planned.ways[0])


def _without_unsweepable(planned: EvmPlanned, unroutable: Sequence[LeftOut]) -> EvmPlanned:
    """Return a new sweep without the tokens that it can't take, that are not worth their gas, or cost too much to sell.

    Raises ``TokensRefused`` if none is left.
    """
    request = planned.request
    worthless = list(uneconomic(planned.tokens, accepted=request.accepts_uneconomic))
    left = planned.leaving_out(worthless)
    costly = too_costly(request, left.tokens)
    left = replace(left.leaving_out(costly), left_out=[*unroutable, *worthless, *costly])
    if not left.tokens:
        refuse(request, left.left_out)
    return left


def _signed_floors(request: BuildRequest, fees: FeeTerms, signed: SignedTerms) -> SignedFloors:
    floors = {token.asset: floor for token, floor in zip(request.tokens, signed.floors, strict=True)}
    return SignedFloors(floors, fees)


def _read(
    request: BuildRequest, market: Market, signed: SignedFloors | None
) -> tuple[MarketFacts, Quotes, RoutingOutcome]:
    words = permit_words(network=market.chain.network, wallet=request.wallet)
    try:
        facts = market.read_facts(swept=[token.asset for token in request.tokens], permit_words=words)
        refuse_disabled(facts)
        _refuse_bad_tokens(request, market, facts, may_drop=signed is not None)
        amounts = {token.asset: token.amount for token in request.tokens if _is_quoted(token, request, facts)}
        quotes = market.read_quotes(amounts=amounts, facts=facts)
        return facts, quotes, routing.find(market, quotes, signed)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error


def refuse_disabled(facts: MarketFacts) -> None:
    """Raise ``BuildDisabled`` if the contract can't execute sweeps now."""
    if facts.refusals:
        raise BuildDisabled(" ".join(facts.refusals), retry_after_seconds=60)


def _refuse_bad_tokens(request: BuildRequest, market: Market, facts: MarketFacts, *, may_drop: bool) -> None:
    problems: list[FieldError] = []
    if not may_drop:
        for i, token in enumerate(request.tokens):
            if token.asset in facts.tokens or not request.leaves_out:
                problems += [
                    replace(problem, field=f"tokens[{i}].{problem.field}") for problem in _contradictions(token, facts)
                ]
    if market.output not in facts.tokens:
        problems.append(OUTPUT_IS_NOT_A_TOKEN)
    if problems:
        raise InvalidRequest(details=problems)


def _is_quoted(token: TokenInput, request: BuildRequest, facts: MarketFacts) -> bool:
    if any(_contradictions(token, facts)):
        return False
    return not request.leaves_out or facts.tokens[token.asset].balance >= token.amount


def _contradictions(token: TokenInput, facts: MarketFacts) -> Iterator[FieldError]:
    known = facts.tokens.get(token.asset)
    if known is None:
        yield FieldError("mint", *NOT_A_TOKEN)
    elif token.decimals is not None and token.decimals != known.decimals:
        yield FieldError("decimals", "contradicts_chain", f"The token has {known.decimals} decimals.")


def refuse_output(problem: TransferProblem) -> NoReturn:
    code, message = TAXED_OUTPUT if problem is TransferProblem.SHORT else PROBLEMS[problem]
    raise InvalidRequest(details=[FieldError("outputMint", code, message)])


def _require_floors(request: BuildRequest, plan: RoutePlan, max_skipped: int) -> None:
    """Raise ``BelowMinimumError`` unless the user allowed to leave out as many tokens as the plan does."""
    if not plan.ways or len(request.tokens) - len(plan.ways) > max_skipped:
        raise BelowMinimumError("At current prices the sweep does not reach the signed minimum.")


def _max_skipped(request: BuildRequest, plan: RoutePlan) -> int:
    """Return how many tokens may be left out: as many as requested, of those that pools swap all but one."""
    swaps = [way.quote.swap for way in plan.ways.values() if way.quote is not None]
    most = max(sum(isinstance(swap, PoolHop) for swap in swaps) - 1, 0)
    return most if request.max_skipped is None else min(request.max_skipped, most)


def _minimums(request: BuildRequest, fees: FeeTerms, plan: RoutePlan, signed: SignedFloors | None) -> Minimums:
    return Minimums(
        plan=plan,
        fees=fees,
        slippage_bps=request.slippage_bps,
        router_slippage_bps=settings.ROUTER_LEG_SLIPPAGE_BPS,
        signed=None if signed is None else signed.floors,
    )


def _warnings(
    request: BuildRequest, facts: MarketFacts, plan: RoutePlan, wallet: WalletFacts
) -> Iterator[BuildWarning]:
    """Yield the warnings about the tokens, and then that about the wallet."""
    known = [token for token in request.tokens if token.asset in facts.tokens]
    yield from symbol_warnings(known, {asset: token.symbol for asset, token in facts.tokens.items()})
    for asset, way in plan.ways.items():
        if way.quote is not None and isinstance(way.quote.swap, Route) and len(plan.ways) > 1:
            yield BuildWarning("router_swap", ROUTER_SWAP, asset)
    if wallet.signs is False:
        yield BuildWarning("no_signatures", SIGNS_NOTHING if wallet.answers_eip1271 is False else SIGNS_OTHERWISE, None)
    elif wallet.signs is None:
        yield BuildWarning("signature_uncertain", MAY_BE_REFUSED, None)


def simulate(planned: EvmPlanned, trial: Trial) -> EvmSimulated:
    """Return the sweep with what the chain does with it now, without the tokens that fail where they may be left out.

    One round trip tries the sweep with rising gas limits, and each token alone; the first limit that suffices is taken
    for the least. If tokens fail, another round trip tries the rest. The user is the caller and approves the contract
    first, because nothing is signed yet; with a signature the same legs run in the same order.

    Raises ``ChainUnavailable``, ``TokensRefused`` with all tokens that plan and trial refuse if they may not be left
    out, ``InvalidRequest`` if all fail because of the output, ``BelowMinimumError`` if more tokens of a renewed sweep
    fail than its user allowed, and ``Uneconomic``.
    """
    sent, swept = SentTransactions(planned, trial), planned.swept
    if not planned.is_held:
        _, fees = _try(planned.market.pool, [], also=sent.reads.calls)
        return _worth_it(planned.simulated(skipped(NOT_HELD)).charged(sent.costs(fees)))
    alone = [_alone(planned, token, trial) for token in swept] if len(swept) > 1 else []
    (whole, *single), fees = _try(
        planned.market.pool, [planned.whole_attempt(trial, planned.gas.limits_to_try), *alone], also=sent.reads.calls
    )
    results = list(zip(swept, single or [whole], strict=True))
    failing = {token.asset: result for token, result in results if result.status is SimulationStatus.REVERTED}
    thieves = {} if planned.is_renewed else _thieves(planned, results)
    if whole.status is SimulationStatus.REVERTED and not failing and (planned.is_renewed or planned.request.leaves_out):
        failing = dict.fromkeys(planned.routed_beside_others, replace(whole, reason=BESIDE_OTHERS.format(whole.reason)))
    # Of a sweep that goes through nothing fails; one that could not be tried may still have tokens that do.
    if (whole.status is SimulationStatus.OK or not failing) and not thieves:
        return _showing(planned, whole, sent.costs(fees))
    if len(failing) == len(swept) and not planned.is_renewed:
        refuse_blocking_output([planned])
    smaller = _without(planned, failing, thieves)
    sent = SentTransactions(smaller, trial)
    (rest,), fees = _try(
        smaller.market.pool, [smaller.whole_attempt(trial, smaller.gas.limits_to_try)], also=sent.reads.calls
    )
    return _showing(smaller, rest, sent.costs(fees))


def _alone(planned: EvmPlanned, token: EvmToken, trial: Trial) -> Attempt:
    """Return the sale of one of the tokens, which is not to take the listed ones of the others."""
    others = (other.asset for other in planned.swept if other is not token)
    kept = [asset for asset in others if is_listed(planned.market.chain, asset)]
    return replace(planned.alone(token).attempt(trial, [ALONE_GAS]), kept=kept)


def _thieves(planned: EvmPlanned, results: Sequence[tuple[EvmToken, Simulation]]) -> dict[str, LeftOut]:
    """Return the tokens whose sale also takes others of the wallet that are worth something."""
    chain, worthy = planned.market.chain, {planned.market.output, *(token.asset for token in planned.swept)}
    taken = [
        (token, sorted(one for one in result.taken if one != token.asset and (one in worthy or is_listed(chain, one))))
        for token, result in results
    ]
    return {
        token.asset: LeftOut.planned(token, "takes_other_tokens", TAKES_OTHERS.format(", ".join(others)))
        for token, others in taken
        if others
    }


def refuse_blocking_output(plans: Sequence[EvmPlanned]) -> None:
    """Raise ``InvalidRequest`` if none of these sweeps goes through because the output blocks who receives it."""
    market, pools = plans[0].market, list(dict.fromkeys(pool for planned in plans for pool in planned.paying_pools))
    recipients = (market.contract.address, market.wallet)
    if market.output == market.chain.wrapped_native:
        return
    calls = payout_probes(market.output, pools=pools[:MAX_PAYING_POOLS], recipients=recipients, chain=market.chain)
    try:
        answers = market.pool.batch(calls)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error
    if blocks(answers):
        raise InvalidRequest(details=[BLOCKING_OUTPUT])


def simulate_sales(
    sales: Sequence[EvmPlanned], together: EvmSimulated | None, trial: Trial, *, kept: Sequence[str]
) -> tuple[list[Simulation], EvmSimulated | None]:
    """Return what becomes of each of these sweeps on its own, and of one of several tokens, in one round trip for all.

    The latter is None unless it goes through and its cost is known. ``kept`` are tokens of the user whose balances are
    believed. Raises ``ChainUnavailable``.
    """
    attempts = [
        replace(sale.attempt(trial, [ALONE_GAS]), kept=[token for token in kept if token != sale.tokens[0].asset])
        for sale in sales
    ]
    pool = sales[0].market.pool
    if together is None:
        return _try(pool, attempts)[0], None
    sent = SentTransactions(together, trial)
    attempts.append(together.whole_attempt(trial, [TRANSACTION_CAP]))
    (*alone, whole), fees = _try(pool, attempts, also=sent.reads.calls)
    costs = sent.costs(fees)
    if whole.gross_output is None or not costs.are_known:
        return alone, None
    return alone, replace(together.with_gross_output(whole.gross_output), simulation=whole).charged(costs)


def _try(
    pool: ProviderPool, attempts: Sequence[Attempt], *, also: Sequence[Call] = ()
) -> tuple[list[Simulation], Sequence[Any]]:
    """Return what becomes of each attempt, and the results of the calls made beside them."""
    try:
        outcomes, answers = try_all(attempts, pool, also=also)
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=5) from error
    results = [simulation_of(outcome, attempt.tokens) for attempt, outcome in zip(attempts, outcomes, strict=True)]
    return results, answers


def _showing(planned: EvmPlanned, result: Simulation, data_costs: DataCosts) -> EvmSimulated:
    """Return the sweep with this result, and with the output that it shows; a renewed sweep must not revert."""
    if planned.is_renewed and result.status is SimulationStatus.REVERTED:
        raise BelowMinimumError(WOULD_REVERT.format(result.reason))
    known = planned if result.gross_output is None else planned.with_gross_output(result.gross_output)
    return _worth_it(known.simulated(result).charged(data_costs))


def _worth_it(simulated: EvmSimulated) -> EvmSimulated:
    """Return the sweep with what each token adds to its cost.

    Raises ``TokensRefused`` if it lacks tokens that may not be left out, and ``Uneconomic`` if a new one costs more
    than it brings, unless the user accepts that.
    """
    require_all(simulated)
    ways = simulated.ways
    net_output = simulated.economics_of(ways[0]).net_output
    is_accepted = simulated.is_renewed or simulated.request.accepts_uneconomic
    if not is_accepted and net_output is not None and net_output < 0:
        raise Uneconomic(details=[_loss(simulated, way) for way in ways])
    return simulated.costing(ways[0])


def _loss(planned: EvmPlanned, way: ExecutionWay) -> FieldError:
    economics, break_even = planned.economics_of(way), planned.break_even_gas_price(way)
    message = LOSS.format(
        way=way.kind,
        cost=economics.cost,
        gas=economics.gas,
        share=economics.gas_share,
        user=planned.expected.user_amount,
        break_even=break_even,
    )
    return FieldError("execution", "uneconomic", message)


def _without(planned: EvmPlanned, failing: Mapping[str, Simulation], thieves: Mapping[str, LeftOut]) -> EvmPlanned:
    if planned.is_renewed:
        smaller = planned.dropping(failing)
        if not smaller.swept or len(smaller.tokens) - len(smaller.swept) > planned.max_skipped:
            raise BelowMinimumError(WOULD_REVERT.format(next(iter(failing.values())).reason))
        return smaller
    left_out = [
        LeftOut.planned(token, SIMULATION_FAILED, failing[token.asset].reason or "")
        for token in planned.tokens
        if token.asset in failing and token.asset not in thieves
    ]
    smaller = planned.leaving_out([*left_out, *thieves.values()])
    require_all(smaller)
    if not smaller.tokens:
        refuse(planned.request, smaller.left_out)
    return smaller
