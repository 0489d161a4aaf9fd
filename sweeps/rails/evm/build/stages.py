"""The stages of a sweep on an EVM chain before it is issued: planned, then simulated, which adds to the plan."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, Self

from django.conf import settings

from sweepapi.evm.chain.fee_models.costs import DataCost
from sweepapi.evm.contracts.batch import EntryPoints
from sweepapi.evm.contracts.batch_account import execute_calldata
from sweepapi.evm.encoding.abi import exported_code
from sweepapi.evm.encoding.responses import Block, GasPrice, Log
from sweepapi.evm.market.reading import Market, MarketFacts
from sweepapi.evm.pools.types import PoolHop, Route
from sweepapi.evm.routes.minimums import Minimums
from sweepapi.evm.routes.planning import shares
from sweepapi.evm.routes.quoting import Quotes
from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.tokens.token_permits import TokenPermits
from sweepapi.evm.tokens.transfers import Transfers
from sweepapi.evm.trial.attempts import MAX_GAS, AccountBatch, Attempt, TrialPayout
from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, WrappedSwap, leg_gas
from sweepapi.evm.trial.sweep_gas import SweepGas
from sweepapi.evm.trial.trial_result import NOT_TRIED, Simulation
from sweepapi.evm.wallet.accounts import AccountCode, delegate_of, kind_of
from sweepapi.evm.worth.data_costs import DataCosts
from sweepapi.evm.worth.economics import WayCost, sweep_economics, token_economics
from sweepapi.evm.worth.valuing import NOTHING, Economics, Rates, TokenEconomics
from sweepapi.evm.worth.ways import (
    ExecutionWay,
    ExecutionWays,
    SentGas,
    WalletAbilities,
    WayKind,
    added_bytes,
    added_gas,
)
from sweepapi.fees import FeeRates
from sweepapi.worth.left_out import LeftOut
from sweeps.protocol.rail import BuildWarning, PlannedSweep, PricedToken
from sweeps.protocol.request import BuildRequest, TokenInput, WalletAtomic

DATA_COST_UNKNOWN = (
    "What the chain charges for the data of a transaction could not be read. Figures that contain it are null, and gas "
    "limits do not: have a node estimate them before the transaction is sent."
)

TRIED_DATA = 2  # the estimate is of a sweep's bytes, and a node adds some for the fields that a call lacks


@dataclass(frozen=True)
class SignedTerms:
    """What the user signed for a sweep in addition to its tokens, and every later offer of it keeps."""

    floors: Sequence[int]  # by position of the token
    max_skipped: int


@dataclass(frozen=True)
class EvmToken(PricedToken):
    """A token with its swap, and the user's balance and allowance; expected and minimum output are before the fee.

    The offer drops a token without a swap: it expects nothing of it, and the token stays with the user.
    """

    swap: LegSwap | None
    floor: int  # what the user signs as the least to receive for it, after the fee
    skippable: bool
    balance: int
    allowance: int  # given to Permit2
    needs_reset: bool  # the token refuses to replace an allowance that is not zero
    contract_allowance: int  # given to the sweep's contract
    permits: TokenPermits | None  # how the allowance of Permit2 can be signed; None if it suffices, or can't be
    economics: TokenEconomics = NOTHING

    @property
    def is_joined(self) -> bool:
        """Whether it is swapped in the last hop."""
        return isinstance(self.swap, PoolSwap | WrappedSwap) and self.swap.joined

    def valued(self, rates: Rates, transfers: Transfers, fees: FeeRates) -> "EvmToken":
        """Return the token with its economics."""
        if self.swap is None:
            return self
        return replace(self, economics=token_economics(self, rates, transfers, fees))

    def dropped(self) -> "EvmToken":
        """Return the token as an offer has it that leaves it with the user."""
        return replace(self, expected_output=0, min_output=0, swap=None, skippable=False, economics=NOTHING)


@dataclass(frozen=True)
class WalletFacts:
    """What the user's account is."""

    code: bytes
    answers_eip1271: bool | None  # whether its code checks signatures; None without code, or if that is unknown
    takes_batches: bool  # whether its code makes batches as ERC-7821 says
    takes_plain_signature: bool | None = None  # of its key; None unless it delegates, or if that is unknown

    @property
    def signs(self) -> bool | None:
        """Whether what the wallet signs is good for Permit2; None if that shows only once it has signed.

        Wallets of contracts sign what the contract takes; those of keys sign the digest as it is.
        """
        if self.answers_eip1271 is False:
            return False
        return self.takes_plain_signature if self.kind is AccountCode.DELEGATED else True

    @property
    def kind(self) -> AccountCode:
        """Which kind of code it has."""
        return kind_of(self.code)

    @property
    def delegate(self) -> str | None:
        """The contract that it delegates to (EIP-7702); None if it does not."""
        return delegate_of(self.code)

    def abilities(self, atomic: WalletAtomic | None) -> WalletAbilities:
        """Return what the wallet can do; ``atomic`` is what it said about batches."""
        is_measured = self.takes_batches or self.kind is AccountCode.NONE
        return WalletAbilities(
            may_batch=atomic is not WalletAtomic.UNSUPPORTED,
            does_batch=atomic in (WalletAtomic.SUPPORTED, WalletAtomic.READY),
            is_upgraded=self.kind is AccountCode.NONE,
            signs=self.signs,
            is_contract=self.kind is AccountCode.CONTRACT,
            batches_as_tried=self.takes_batches,
            code_gas=0 if is_measured else settings.WALLET_CODE_GAS,
        )


@dataclass(frozen=True)
class EvmPlanned(PlannedSweep):
    """A planned sweep on an EVM chain."""

    tokens: Sequence[EvmToken]
    market: Market  # the chain, its providers, and the contract
    last_hop: PoolHop | None  # which swaps the sum of the joined tokens into the output; None if none is joined
    max_skipped: int  # how many tokens the user lets offer and contract leave out together
    head: Block
    used_permit_words: Mapping[int, int]  # Permit2's bitmap of the user by word position
    wallet: WalletFacts
    gas_price: GasPrice | None  # None if the provider did not report it
    native_balance: int  # of the user, in wei
    rates: Rates
    is_renewed: bool

    @property
    def contract(self) -> str:
        """The address of the contract that executes it."""
        return self.market.contract.address

    @property
    def swept(self) -> list[EvmToken]:
        """The tokens that the offer does not drop."""
        return [token for token in self.tokens if token.swap is not None]

    @property
    def paying_pools(self) -> list[str]:
        """The pools that pay the output."""
        last = [] if self.last_hop is None else [self.last_hop]
        taken = [
            token.swap.route if isinstance(token.swap, RouterSwap) else token.swap.hop
            for token in self.swept
            if isinstance(token.swap, RouterSwap | PoolSwap) and not token.is_joined
        ]
        return [swap.pools[-1] for swap in (*last, *taken)]

    @property
    def routed_beside_others(self) -> list[str]:
        """The tokens of routers, which run last, in pools that the others have moved by then."""
        routed = [token.asset for token in self.swept if isinstance(token.swap, RouterSwap)]
        return routed if len(routed) < len(self.swept) else []

    def alone(self, token: EvmToken) -> "EvmPlanned":
        """Return the sweep of one of the tokens."""
        return self._with_tokens([replace(token, skippable=False)], max_skipped=0)

    def leaving_out(self, tokens: Sequence[LeftOut]) -> "EvmPlanned":
        """Return the planned sweep without some of the tokens, as if they had not been requested."""
        assets = {token.asset for token in tokens}
        left = [token for token in self.tokens if token.asset not in assets]
        pools = sum(isinstance(token.swap, PoolSwap) for token in left)
        smaller = self._with_tokens(left, max_skipped=min(self.max_skipped, max(pools - 1, 0)))
        warnings = [warning for warning in self.warnings if warning.token not in assets]
        return replace(smaller, left_out=[*self.left_out, *tokens], warnings=warnings)

    def dropping(self, assets: Collection[str]) -> "EvmPlanned":
        """Return the offer without some of the tokens that the user signed."""
        tokens = [token.dropped() if token.asset in assets else token for token in self.tokens]
        return self._with_tokens(tokens, max_skipped=self.max_skipped)

    def with_gross_output(self, gross_output: int) -> Self:
        """Return the planned sweep with what came out in a simulation.

        Other tokens move the pools of the last hop and of routers, so the joined tokens and those of routers share
        the difference.
        """
        moved = {
            token.asset: token.expected_output
            for token in self.tokens
            if token.is_joined or isinstance(token.swap, RouterSwap)
        }
        others = sum(token.expected_output for token in self.tokens if token.asset not in moved)
        if not moved or gross_output <= others:
            return self
        parts = self._above_minimums(gross_output - others, moved)
        return replace(self, tokens=[self.expecting(token, parts.get(token.asset)) for token in self.tokens])

    def _above_minimums(self, output: int, expected: Mapping[str, int]) -> dict[str, int]:
        """Return the parts of an output: the minimum of each token, because less would have reverted, and the rest."""
        least = {token.asset: token.min_output for token in self.tokens if token.asset in expected}
        above = {asset: max(expected[asset] - minimum, 0) for asset, minimum in least.items()}
        rest = output - sum(least.values())
        if rest < 0 or not any(above.values()):
            return shares(output, expected)
        return {asset: least[asset] + part for asset, part in shares(rest, above).items()}

    def expecting(self, token: EvmToken, output: int | None) -> EvmToken:
        """Return the token with this output; None leaves it as it is."""
        if output is None:
            return token
        economics = token.economics.at(
            expected_output=output, min_output=token.min_output, fees=self.fees, rates=self.rates
        )
        return replace(token, expected_output=output, economics=economics)

    def costing(self, way: ExecutionWay, *, leg: int | None = None) -> Self:
        """Return the sweep whose tokens cost what they add if it is executed in this way.

        ``leg`` is the gas of its only leg, if that was measured.
        """
        return replace(self, tokens=[self._costing(token, way, leg) for token in self.tokens])

    def _costing(self, token: EvmToken, way: ExecutionWay, leg: int | None) -> EvmToken:
        if token.swap is None:
            return token
        gas = added_gas(token, way, leg_gas(token.swap) if leg is None else leg)
        added = replace(token.economics, gas=gas, more_bytes=added_bytes(token, way))
        return self.expecting(replace(token, economics=added), token.expected_output)

    def _with_tokens(self, tokens: Sequence[EvmToken], *, max_skipped: int) -> "EvmPlanned":
        """Return the planned sweep of other tokens; the joined ones keep their shares of the last hop, or get more."""
        last_hop = self.last_hop if any(token.is_joined for token in tokens) else None
        can_skip = max_skipped > sum(token.swap is None for token in tokens)
        kept = [replace(token, skippable=token.skippable and can_skip) for token in tokens]
        return replace(self, tokens=kept, last_hop=last_hop, max_skipped=max_skipped)

    @cached_property
    def ways(self) -> list[ExecutionWay]:
        """The ways to execute it: those that count first, and of these the cheapest."""
        # Last, if the account's code may refuse what is signed.
        doubtful = self.wallet.signs is None
        return sorted(
            self.ways_finder.all(),
            key=lambda way: (doubtful and way.signatures > 0, not way.counts, self._price_of(way), way.prompts),
        )

    @cached_property
    def ways_finder(self) -> ExecutionWays:
        """What the ways depend on."""
        return ExecutionWays(
            tokens=self.tokens,
            permit2=self.market.chain.permit2,
            contract=self.contract,
            unlimited=self.request.unlimited_approvals,
            wallet=self.wallet.abilities(self.request.wallet_says.atomic),
            sweep=self.gas,
            approvals_used=self.tried.approvals_used,
            batch_used=self.tried.batch_used,
        )

    @property
    def tried(self) -> Simulation:
        """What was tried so far: nothing."""
        return NOT_TRIED

    def cost_of(self, way: ExecutionWay) -> WayCost:
        """Return what the user pays for this way to execute it."""
        return WayCost(way.kind, sum(sent.gas for sent in self.sent_of(way)), self.data_fee_of(way))

    def sent_of(self, way: ExecutionWay) -> Sequence[SentGas]:
        """Return the gas of the transactions of a way, as far as it is known with that for their data."""
        return way.sent

    def data_fee_of(self, way: ExecutionWay) -> int | None:
        """Return what is charged for the data of a way in addition to its gas, in wei: estimated for now."""
        fee = self.rates.data_fee
        return None if fee is None else fee.with_bytes(way.more_bytes).total(way.gas)

    def most_data_fees_of(self, way: ExecutionWay) -> Sequence[int]:
        """Return the most that is charged for the data of each transaction of a way in addition to its gas, in wei."""
        return [0] * (len(way.sent) - 1) + [self.data_fee_of(way) or 0]

    def data_gas_of(self, _to: str, _calldata: bytes) -> int:
        """Return the room in the limit of an approval for the gas of its data."""
        return 0

    def sweep_cost(self, _kind: WayKind) -> DataCost | None:
        """Return what the data of the transaction that sweeps costs in a way; None if that was not read."""
        return None

    def needed_coins(self, way: ExecutionWay, price: GasPrice) -> int:
        """Return the wei that the user has to hold: the most that is asked for before one of the transactions.

        A node wants each transaction's limit at the highest fee that it offers; those before it have paid less.
        """
        spent, needed = 0, 0
        for sent, data_fee in zip(self.sent_of(way), self.most_data_fees_of(way), strict=True):
            needed = max(needed, spent + sent.gas_limit * price.most_wei + data_fee)
            spent += sent.gas * price.wei + data_fee
        return needed

    def economics_of(self, way: ExecutionWay) -> Economics:
        """Return what the sweep brings if it is executed in this way."""
        each = [token.economics for token in self.swept]
        return sweep_economics(each, self.rates, expected=self.expected, minimum=self.minimum, cost=self.cost_of(way))

    def break_even_gas_price(self, way: ExecutionWay) -> int | None:
        """Return the price in wei below which it brings more than this way costs; None if prices are not known."""
        cost, coins = self.cost_of(way), self.rates.in_coin(self.expected.user_amount)
        return None if coins is None or cost.data_fee is None else max(coins - cost.data_fee, 0) // cost.gas

    def _price_of(self, way: ExecutionWay) -> int:
        """Return what a way costs: in wei if that is known, otherwise in gas."""
        cost, gas_price = self.cost_of(way), self.rates.gas_price
        return cost.gas * (1 if gas_price is None else gas_price) + (cost.data_fee or 0)

    @property
    def gas(self) -> SweepGas:
        """What the gas of the sweep depends on."""
        swept, pools = self.swept, [token for token in self.tokens if token.skippable]
        return SweepGas(
            swaps=[token.swap for token in swept if token.swap is not None],
            last_hop=self.last_hop,
            signed_token_count=len(self.tokens),
            skippable=[token.swap.hop for token in pools if isinstance(token.swap, PoolSwap)],
            max_skipped=self.max_skipped,
            has_used_word=bool(next(iter(self.used_permit_words.values()), 0)),
            has_code=self.wallet.kind is not AccountCode.NONE,
            tried_least=None,
            tried_used=None,
            untried=0,
        )

    @property
    def economics(self) -> Economics:
        """What the sweep brings in the way that stands first."""
        return self.economics_of(self.ways[0])

    @property
    def min_user(self) -> int:
        """What the user receives at least, whichever tokens the contract leaves out."""
        swept = self.swept
        may_skip = self.max_skipped - (len(self.tokens) - len(swept))
        skippable = sorted((token.floor for token in swept if token.skippable), reverse=True)
        return sum(token.floor for token in swept) - sum(skippable[:may_skip])

    def whole_attempt(self, trial: "Trial", limits: Sequence[int]) -> Attempt:
        """Return the sweep as in ``attempt``, with everything that shows what the ways to execute it cost.

        It skips no token: a pool that pays too little is to be found now.
        """
        tried = replace(self, tokens=[replace(token, skippable=False) for token in self.tokens])
        others = [self.ways_finder.approval(token, self.market.chain.permit2) for token in self.swept]
        attempt = replace(tried.attempt(trial, limits), other_approvals=others)
        if self.request.wallet_says.atomic is WalletAtomic.UNSUPPORTED:
            return attempt
        calls = [(call.to, call.data) for approval in attempt.approvals for call in approval.calls]
        batch = execute_calldata([*calls, (self.contract, attempt.calldata)])
        code = None if self.wallet.takes_batches else exported_code("BatchAccount")
        return replace(attempt, batch=AccountBatch(batch, code))

    def attempt(self, trial: "Trial", limits: Sequence[int]) -> Attempt:
        """Return the sweep as its user's own calls with these gas limits, the missing approvals first."""
        finder = self.ways_finder
        recipients = [self.request.wallet, self.fees.protocol_recipient, self.fees.partner_recipient]
        return Attempt(
            user=self.request.wallet,
            contract=self.contract,
            tokens=[token.asset for token in self.tokens],
            approvals=[finder.approval(token, self.contract) for token in self.swept],
            calldata=trial.entry_points.encode_as_caller(trial.arguments(self)),
            limits=limits,
            codes=trial.codes,
            codes_gas=trial.codes_gas,
            gas_price=self.gas_price,
            native_balance=self.native_balance,
            gross_output=trial.gross_output,
            payout=TrialPayout(
                token=self.output.asset,
                wrapped_native=self.market.chain.wrapped_native,
                recipients=list(dict.fromkeys(filter(None, recipients))),
            ),
            gas=self.gas,
            data_gas=self._tried_data_gas,
        )

    @property
    def _tried_data_gas(self) -> int | None:
        """At most what the chain takes for the data of one call of a trial, out of its gas; None if nothing."""
        if not self.market.chain.fee_model.charges_gas:
            return None
        fee = self.rates.data_fee
        if fee is None or self.gas_price is None or not self.gas_price.wei:
            return MAX_GAS
        return TRIED_DATA * fee.fixed // self.gas_price.wei

    @property
    def is_held(self) -> bool:
        """Whether the user holds enough of every token."""
        return all(token.balance >= token.amount for token in self.swept)

    def simulated(self, simulation: Simulation) -> "EvmSimulated":
        """Return the next stage."""
        return EvmSimulated(**self.facts, simulation=simulation, data_costs=None)

    @property
    def facts(self) -> dict[str, Any]:
        """The values of the fields, without what was derived from them, for the next stage."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True)
class EvmSimulated(EvmPlanned):
    """A planned sweep, and what the chain does with it now."""

    simulation: Simulation
    data_costs: DataCosts | None  # None if they are only estimated

    def charged(self, data_costs: DataCosts) -> Self:
        """Return the sweep with what its data was read to cost, and a warning if that could not be read."""
        known = replace(self, data_costs=data_costs)
        if data_costs.are_known or self.request.wallet_says.gas_is_sponsored:
            return known
        unknown = BuildWarning("data_cost_unknown", DATA_COST_UNKNOWN, None)
        return replace(known, rates=replace(self.rates, data_fee=None), warnings=[*self.warnings, unknown])

    def sent_of(self, way: ExecutionWay) -> Sequence[SentGas]:
        return super().sent_of(way) if self.data_costs is None else list(self.data_costs.sent(way))

    def data_fee_of(self, way: ExecutionWay) -> int | None:
        if self.data_costs is None or self.request.wallet_says.gas_is_sponsored:
            return super().data_fee_of(way)
        return self.data_costs.fee(way)

    def most_data_fees_of(self, way: ExecutionWay) -> Sequence[int]:
        return super().most_data_fees_of(way) if self.data_costs is None else self.data_costs.most_fees(way)

    def data_gas_of(self, to: str, calldata: bytes) -> int:
        cost = None if self.data_costs is None else self.data_costs.approvals.get((to, calldata))
        return 0 if cost is None else cost.most_gas

    def sweep_cost(self, kind: WayKind) -> DataCost | None:
        return None if self.data_costs is None else self.data_costs.sweeps.get(kind)

    @property
    def tried(self) -> Simulation:
        """What the simulation showed."""
        return self.simulation

    @property
    def gas(self) -> SweepGas:
        """The same, with the gas that the simulation used."""
        return replace(super().gas, tried_least=self.simulation.least_gas, tried_used=self.simulation.gas_used)


@dataclass(frozen=True)
class Trial:
    """How a contract version executes a planned sweep before anything is signed."""

    arguments: Callable[[EvmPlanned], Sequence[Any]]  # of ``sweep``, with noise in place of signatures
    entry_points: EntryPoints
    gross_output: Callable[[Log], int | None]  # of the contract's event of an executed sweep; None for another event
    codes: Mapping[str, str]  # of accounts that need another code for the trial, as hex
    codes_gas: int  # that the sweep uses because of these codes


def planned_tokens(
    request: BuildRequest, facts: MarketFacts, quotes: Quotes, minimums: Minimums, *, max_skipped: int
) -> list[EvmToken]:
    """Return each token with its swap and its minimum; a new sweep does not have those without a way."""
    ways, is_renewed = minimums.plan.ways, minimums.signed is not None
    dropped = len(request.tokens) - len(ways) if is_renewed else 0
    return [
        _token(token, facts, quotes, minimums, may_skip=max_skipped > dropped)
        if token.asset in ways
        else _dropped(token, facts, minimums.floor(token.asset))
        for token in request.tokens
        if token.asset in ways or is_renewed
    ]


def _token(token: TokenInput, facts: MarketFacts, quotes: Quotes, minimums: Minimums, *, may_skip: bool) -> EvmToken:
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
        needs_reset=asset in quotes.approvals.needs_reset,
        contract_allowance=known.contract_allowance,
        permits=quotes.approvals.permits.get(asset),
    )


def _swap(asset: str, minimums: Minimums, *, may_skip: bool) -> LegSwap:
    way = minimums.plan.ways[asset]
    if way.quote is None:
        return WrappedSwap(joined=way.is_joined)
    swap = way.quote.swap
    if isinstance(swap, Route):
        return RouterSwap(swap, way.quote.amount_in)
    least = minimums.least_wrapped(asset, skippable=may_skip) if way.is_joined else 0
    return PoolSwap(swap, joined=way.is_joined, least_wrapped=least, price_limit=way.quote.price_limit)


def _dropped(token: TokenInput, facts: MarketFacts, floor: int) -> EvmToken:
    """Return a token that the offer leaves with the user; it may not even answer any more."""
    known = facts.tokens.get(token.asset) or TokenFacts(token.symbol or "", token.decimals or 0, 0, 0, 0)
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
        contract_allowance=known.contract_allowance,
        permits=None,
    )
