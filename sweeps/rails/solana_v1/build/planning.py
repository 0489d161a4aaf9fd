"""Plans a sweep on Solana: facts, quotes, and transactions that simulations have proven.

Three HTTP requests to the cluster, however many tokens (``facts``, ``composing``, ``proving``), and one to the swap API
for each token, and sometimes one for SOL. A fourth one to the cluster if tokens are left out that are not worth it, or
if a transaction is not proven (``trying``), and then a fifth one without the tokens that are to blame. A route that
does not fit into a transaction is asked for again with fewer accounts, twice at most, each time with one more to the
cluster.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import NoReturn

import structlog

from partners.models import Partner
from sweepapi.errors import (
    ChainUnavailable,
    FieldError,
    InvalidRequest,
    SwapUnavailable,
    TokensRefused,
    Uneconomic,
)
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.encoding.errors import LegsTooLargeError, UnsafeSwapError
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.swap_api import QuoteAnswer, SwapApiError
from sweepapi.solana.worth.economics import CoinRates
from sweepapi.worth.left_out import SIMULATION_FAILED, LeftOut, uneconomic
from sweeps.models import Sweep
from sweeps.protocol.rail import FeeTerms, OutputAsset, symbol_warnings
from sweeps.protocol.refusing import refusals, too_costly
from sweeps.protocol.request import BuildRequest
from sweeps.rails.solana_v1.build.assembling import Assembly
from sweeps.rails.solana_v1.build.burning import FAILS as BURN_FAILS
from sweeps.rails.solana_v1.build.burning import find_burns, unaccepted
from sweeps.rails.solana_v1.build.composing import ClusterMarket, problem_of, read_market
from sweeps.rails.solana_v1.build.facts import read_facts
from sweeps.rails.solana_v1.build.proving import Unproven
from sweeps.rails.solana_v1.build.quoting import ask, learn_coin_prices, quoted_tokens, valued, without_quote
from sweeps.rails.solana_v1.build.refusals import (
    Sellable,
    needed_lamports,
    refuse_insufficient_lamports,
    sellable_tokens,
    usable_output,
)
from sweeps.rails.solana_v1.build.stages import SolanaSimulated, SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.build.terms import FEWER_ROUTE_ACCOUNTS, SwapTerms, output_of
from sweeps.rails.solana_v1.build.trying import Trials, Tried
from sweeps.rails.solana_v1.obstacles import NOT_QUOTED, TOO_LARGE, UNUSABLE_QUOTE

log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = 5
NOTHING_TO_CLOSE = "There is nothing to sell, and no account to close or to unwrap."
LOSS = (
    "Its transactions cost {cost} lamports in fees and rent, which is {share} of the output, and bring {user}. It pays "
    "below {break_even} lamports."
)


def plan_v1(
    *, registry: Networks, partner: Partner, request: BuildRequest, renewed: Sweep | None = None
) -> SolanaSimulated:
    """Plan a sweep under the terms of the ``renewed`` one, or those of today.

    Raises ``InvalidRequest``, ``InsufficientBalance``, ``TokensRefused``, ``Uneconomic``, ``BuildDisabled`` if the fee
    can't be paid, ``ChainUnavailable``, and ``SwapUnavailable`` if the swap API fails or wants too much.
    """
    cluster, pool = registry.cluster(request.network), registry.pool(request.network)
    output_of(cluster, request.output_asset)  # which raises for another output than the cluster's
    fees = FeeTerms.of(renewed) if renewed is not None else FeeTerms.of_today(partner, registry.fee_wallet)
    with _failures_named(request):
        facts = read_facts(pool, request, registry.fee_wallet)
        sellable, unsellable = sellable_tokens(request, facts)
        planning = _Planning(registry, pool, partner, Assembly(request, facts, fees, cluster, *usable_output(facts)))
        if request.burns:
            planning = planning.burning()
        if not request.tokens:
            return planning.closing()
        if not sellable:
            raise TokensRefused(details=[*refusals(request, unsellable), *planning.burn_problems])
        refuse_insufficient_lamports(facts, sells=True)
        return planning.planned(sellable, unsellable)


@contextmanager
def _failures_named(request: BuildRequest) -> Iterator[None]:
    """Turn the failures of the cluster and of the swap API into the errors of a build."""
    try:
        yield
    except ChainUnavailableError as error:
        raise ChainUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error
    except SwapApiError as error:
        log.warning("swap_api_failed", network=request.network, error=str(error))
        raise SwapUnavailable(retry_after_seconds=error.retry_after_seconds or RETRY_AFTER_SECONDS) from error
    except UnsafeSwapError as error:
        log.exception("unsafe_swap_refused", network=request.network, wallet=request.wallet, reason=str(error))
        raise SwapUnavailable(retry_after_seconds=RETRY_AFTER_SECONDS) from error


@dataclass(frozen=True)
class _Quoted:
    """The tokens of a request that have a quote, and the others that a swap could have taken."""

    tokens: Sequence[SolanaToken]
    left_out: Sequence[LeftOut]
    retry_after_seconds: int  # if the swap API did not answer for all

    def require_all(
        self, request: BuildRequest, left_out: Sequence[LeftOut], burn_problems: Sequence[FieldError]
    ) -> None:
        """Raise as ``refuse`` does if there are tokens that may not be left out, or burns that can't be made."""
        may_not_be = [] if request.leaves_out else left_out
        if may_not_be or burn_problems:
            self.refuse(request, may_not_be, burn_problems)

    def refuse(
        self, request: BuildRequest, left_out: Sequence[LeftOut], burn_problems: Sequence[FieldError]
    ) -> NoReturn:
        """Raise ``TokensRefused``, or ``SwapUnavailable`` if nothing but a late answer is in the way."""
        details = [*refusals(request, left_out), *burn_problems]
        if not burn_problems and all(one.reason == NOT_QUOTED.code for one in left_out):
            raise SwapUnavailable(details=details, retry_after_seconds=self.retry_after_seconds)
        raise TokensRefused(details=details)


@dataclass(frozen=True)
class _Composed:
    """The tokens whose swaps fit into transactions, these, and the tokens whose swaps do not fit."""

    tokens: Sequence[SolanaToken]
    transactions: Sequence[Packed]
    market: ClusterMarket
    left_out: Sequence[LeftOut] = ()


@dataclass(frozen=True)
class _Planning:
    """One sweep, from quotes to proven transactions."""

    registry: Networks
    pool: ProviderPool
    partner: Partner
    assembly: Assembly
    burn_problems: Sequence[FieldError] = ()  # of what the request wants burnt, and can't be

    def planned(self, sellable: Sequence[Sellable], unsellable: Sequence[LeftOut]) -> SolanaSimulated:
        """Return the sweep of what is worth it among these tokens, with the others beside it.

        Raises ``TokensRefused``, with all tokens that are left out, if that was not allowed or nothing is left, and
        ``Uneconomic``.
        """
        quoted = self._quoted(sellable)
        known = [*unsellable, *quoted.left_out]
        if not quoted.tokens:
            quoted.refuse(self.assembly.request, known, self.burn_problems)
        market = read_market(self.pool, quoted.tokens)
        safe, unsafe = self._safe(quoted.tokens, market.problem_of, are_all=not known)
        composed = self._composed(sellable, safe, market)
        tokens, market = composed.tokens, composed.market
        left_out = [*known, *unsafe, *composed.left_out]
        if not tokens:
            quoted.refuse(self.assembly.request, left_out, self.burn_problems)
        trials = Trials(self.assembly, self.pool, market)
        trial = trials.all(tokens, composed.transactions)
        if not trial.transactions:
            return self._without_failing(trials, trial, tokens, left_out, quoted)
        left = self.assembly.accounts_left(tokens, composed.transactions)
        whole = self._sweep(tokens, trial.transactions, market, left_out, accounts_left=left)
        worthless = list(uneconomic(whole.tokens, accepted=self.assembly.request.accepts_uneconomic))
        if not worthless or len(worthless) == len(tokens):
            return self._accepted(whole, worthless, quoted)
        left_out += worthless
        quoted.require_all(self.assembly.request, left_out, self._burn_problems(trial.transactions))
        worthy = _without(tokens, worthless)
        return self._accepted(
            self._proven(trials, worthy, self.assembly.composed(worthy, market), left_out), [], quoted
        )

    def burning(self) -> "_Planning":
        """Return the planning of a sweep that also burns what the request wants burnt, as far as it can be.

        What is worth more than the request accepts to lose can't be. Raises ``SwapApiError`` if the swap API does not
        say what something is worth.
        """
        request, assembly = self.assembly.request, self.assembly
        found, problems = find_burns(request.burns, assembly.facts)
        reference = assembly.cluster.reference_token
        burns = valued(self.registry, found, self._swap_terms, reference, assembly.fees) if found else []
        problems += unaccepted(burns, request.burns)
        return replace(self, assembly=replace(assembly, burns=burns), burn_problems=problems)

    def closing(self) -> SolanaSimulated:
        """Return a sweep that sells nothing, and burns, closes and unwraps what the request wants.

        Raises ``InvalidRequest`` if there is nothing to do, and ``TokensRefused`` if something can't be burnt.
        """
        refuse_insufficient_lamports(self.assembly.facts, sells=False)
        learn_coin_prices(self.registry, self._swap_terms, self.assembly.cluster.reference_token)
        market = read_market(self.pool, [])
        trials = Trials(self.assembly, self.pool, market)
        sweep = self._proven(trials, [], self.assembly.composed([], market), [])
        sweep = self._accepted(sweep, [], _Quoted([], [], RETRY_AFTER_SECONDS))
        if not sweep.transactions:
            raise InvalidRequest(details=[FieldError("tokens", "too_short", NOTHING_TO_CLOSE)])
        return sweep

    def _without_failing(
        self,
        trials: Trials,
        trial: Tried,
        tokens: Sequence[SolanaToken],
        left_out: Sequence[LeftOut],
        quoted: _Quoted,
    ) -> SolanaSimulated:
        """Return the sweep of the tokens that are not to blame for a transaction that is not proven."""
        request = self.assembly.request
        proven = [tokens[i].costing(one, self._rates, self.assembly.fees) for i, one in trial.sold_by.items()]
        worthless = list(uneconomic(proven, accepted=request.accepts_uneconomic))
        left_out = [*left_out, *trial.failing]
        if not proven:
            quoted.refuse(request, left_out, self.burn_problems)
        quoted.require_all(request, [*left_out, *worthless], self.burn_problems)
        if len(worthless) < len(proven):
            left_out += worthless
        worthy = _without(tokens, left_out)
        apart = [position for position, token in enumerate(worthy) if token.asset in trial.apart]
        packed = self.assembly.composed(worthy, trials.market, apart=apart)
        return self._accepted(self._proven(trials, worthy, packed, left_out), [], quoted)

    def _quoted(self, sellable: Sequence[Sellable]) -> _Quoted:
        """Return the tokens that the swap API buys at a price that the user agrees to, and the others."""
        answers = ask(self.registry, sellable, self._swap_terms, self.assembly.cluster.reference_token)
        return self._judged(sellable, answers, are_all=True)

    def _judged(self, sellable: Sequence[Sellable], answers: Sequence[QuoteAnswer], *, are_all: bool) -> _Quoted:
        """Return the tokens whose quotes can be used, and the others; ``are_all`` as for ``_safe``."""
        request, facts, fees = self.assembly.request, self.assembly.facts, self.assembly.fees
        quoted = quoted_tokens(sellable, answers, facts, self._rates, fees)
        unquoted = without_quote(sellable, answers)
        safe, unsafe = self._safe(
            quoted,
            lambda token: problem_of(token, facts, self.assembly.cluster, fees),
            are_all=are_all and not unquoted,
        )
        worthless = list(uneconomic(safe))
        worthy = _without(safe, worthless)
        costly = too_costly(request, worthy)
        retry_after = [answer.retry_after_seconds or 0 for answer in answers if isinstance(answer, SwapApiError)]
        return _Quoted(
            tokens=_without(worthy, costly),
            left_out=[*unquoted, *unsafe, *worthless, *costly],
            retry_after_seconds=max(retry_after, default=0) or RETRY_AFTER_SECONDS,
        )

    def _safe(
        self,
        tokens: Sequence[SolanaToken],
        problem_of_token: Callable[[SolanaToken], UnsafeSwapError | None],
        *,
        are_all: bool,
    ) -> tuple[list[SolanaToken], list[LeftOut]]:
        """Return the tokens whose quotes are safe, and the others.

        Raises ``UnsafeSwapError`` if none is and the tokens ``are_all`` there are: then it is not the fault of a token.
        """
        problems = {token.asset: problem for token in tokens if (problem := problem_of_token(token)) is not None}
        if problems and are_all and len(problems) == len(tokens):
            raise next(iter(problems.values()))
        for asset, problem in problems.items():
            log.error("unsafe_swap_refused", wallet=self.assembly.request.wallet, token=asset, reason=str(problem))
        unsafe = [
            LeftOut.planned(token, UNUSABLE_QUOTE.code, UNUSABLE_QUOTE.message)
            for token in tokens
            if token.asset in problems
        ]
        return _without(tokens, unsafe), unsafe

    def _composed(
        self,
        sellable: Sequence[Sellable],
        tokens: Sequence[SolanaToken],
        market: ClusterMarket,
        fewer_accounts: Sequence[int] = FEWER_ROUTE_ACCOUNTS,
    ) -> _Composed:
        """Return the transactions of the tokens whose swaps fit into one, if need be by routes of fewer accounts."""
        try:
            return _Composed(tokens, self.assembly.composed(tokens, market), market)
        except LegsTooLargeError as error:
            large = [tokens[position] for position in error.positions]
        if not fewer_accounts:
            left_out = [LeftOut.planned(token, TOO_LARGE.code, TOO_LARGE.message) for token in large]
            fitting = _without(tokens, left_out)
            return _Composed(fitting, self.assembly.composed(fitting, market), market, left_out)
        shorter = self._by_shorter_routes(large, sellable, fewer_accounts[0])
        if not shorter:
            return self._composed(sellable, tokens, market, fewer_accounts[1:])
        tokens = [shorter.get(token.asset, token) for token in tokens]
        market = read_market(self.pool, tokens)
        safe, unsafe = self._safe(tokens, market.problem_of, are_all=False)
        composed = self._composed(sellable, safe, market, fewer_accounts[1:])
        return replace(composed, left_out=[*unsafe, *composed.left_out])

    def _by_shorter_routes(
        self, tokens: Sequence[SolanaToken], sellable: Sequence[Sellable], max_accounts: int
    ) -> dict[str, SolanaToken]:
        """Return those of the tokens, by asset, that can be sold by a route of so many accounts."""
        assets = {token.asset for token in tokens}
        asked = [one for one in sellable if one.token.asset in assets]
        wanted = [
            self._swap_terms.quote_request(one.token.asset, one.token.amount, max_accounts=max_accounts)
            for one in asked
        ]
        try:
            answers = self.registry.swap_api.quotes(wanted)
        except SwapApiError as error:
            log.warning("shorter_routes_not_quoted", error=str(error), tokens=len(wanted))
            return {}
        return {token.asset: token for token in self._judged(asked, answers, are_all=False).tokens}

    def _proven(
        self, trials: Trials, tokens: Sequence[SolanaToken], packed: Sequence[Packed], left_out: Sequence[LeftOut]
    ) -> SolanaSimulated:
        """Return the sweep of these tokens by these transactions; raises as ``Trials.once`` and ``_sweep``."""
        left = self.assembly.accounts_left(tokens, packed)
        return self._sweep(tokens, trials.once(tokens, packed), trials.market, left_out, accounts_left=left)

    def _sweep(
        self,
        tokens: Sequence[SolanaToken],
        transactions: Sequence[SolanaTransaction],
        market: ClusterMarket,
        left_out: Sequence[LeftOut],
        *,
        accounts_left: int,
    ) -> SolanaSimulated:
        """Return the sweep of these tokens with their transactions, which simulations have proven."""
        transactions = [one for one in transactions if one.is_worth_its_fee]
        request, facts, cluster = self.assembly.request, self.assembly.facts, self.assembly.cluster
        output = output_of(cluster, request.output_asset)
        symbols = {token.asset: token.symbol for token in tokens}
        taken = [token for token in request.tokens if token.asset in symbols]
        return SolanaSimulated(
            partner=self.partner,
            request=request,
            output=OutputAsset(output.mint, output.symbol, output.decimals),
            fees=self.assembly.fees,
            tokens=tokens,
            height=facts.slot,
            warnings=list(symbol_warnings(taken, symbols)),
            left_out=left_out,
            cluster=cluster,
            rates=self._rates,
            held_lamports=facts.lamports,
            needed_lamports=needed_lamports(facts, transactions, sells=bool(tokens)),
            fee_account=self.assembly.fee_account,
            transactions=transactions,
            burns=self.assembly.burns,
            accounts_left=accounts_left,
            blocks_left=market.blocks_left,
            slot_seconds=market.slot_seconds,
        ).costing()

    def _accepted(self, simulated: SolanaSimulated, worthless: Sequence[LeftOut], quoted: _Quoted) -> SolanaSimulated:
        """Return the sweep; ``worthless`` are all of its tokens if each costs more than it brings.

        Raises ``TokensRefused`` if it lacks tokens that may not be left out, or burns, and ``Uneconomic`` if it costs
        more than it brings, unless the user accepts that.
        """
        left_out = [*simulated.left_out, *worthless] if simulated.left_out else []
        quoted.require_all(simulated.request, left_out, self._burn_problems(simulated.transactions))
        economics, user_amount = simulated.economics, simulated.expected.user_amount
        if economics.net_output is None or economics.net_output >= 0 or simulated.request.accepts_uneconomic:
            return simulated
        message = LOSS.format(
            cost=economics.cost,
            share=economics.gas_share,
            user=user_amount,
            break_even=simulated.rates.in_lamports(user_amount),
        )
        raise Uneconomic(details=[FieldError("transactions", "uneconomic", message)])

    def _burn_problems(self, transactions: Sequence[SolanaTransaction]) -> list[FieldError]:
        """Return what can't be burnt, with what these transactions lack because it fails in a simulation."""
        lacking = [burn for burn in self.assembly.burns if not any(burn.is_in(one.packed) for one in transactions)]
        # Those in one transaction failed together, so each is tried alone to see which are to blame.
        alone = self.assembly.burnt_alone(self.pool, lacking)
        failing = [burn for burn, result in zip(lacking, alone, strict=True) if isinstance(result, Unproven)] or lacking
        wanted = self.assembly.request.burns
        return [
            *self.burn_problems,
            *(FieldError(f"burn[{wanted.index(burn.wanted)}].mint", SIMULATION_FAILED, BURN_FAILS) for burn in failing),
        ]

    @property
    def _rates(self) -> CoinRates:
        output_mint, reference = self.assembly.request.output_asset, self.assembly.cluster.reference_token
        return CoinRates.of(self.registry.coin_prices, output_mint, reference)

    @property
    def _swap_terms(self) -> SwapTerms:
        request = self.assembly.request
        return SwapTerms(
            wallet=request.wallet,
            output_mint=request.output_asset,
            fee_account=self.assembly.fee_account,
            slippage_bps=request.slippage_bps,
            fee_bps=self.assembly.fees.total_fee_bps,
            price_percentile=request.price_percentile,
        )


def _without(tokens: Sequence[SolanaToken], left_out: Sequence[LeftOut]) -> list[SolanaToken]:
    assets = {one.asset for one in left_out}
    return [token for token in tokens if token.asset not in assets]
