"""Makes the transactions of one sweep: composes them, and says what each may do and what it costs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from solders.pubkey import Pubkey

from sweepapi.rpc import ProviderPool
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.guard import Output
from sweepapi.solana.packing.packing import Disposal, Packed, SwapLeg, pack
from sweepapi.solana.tokens.mints import Mint
from sweepapi.solana.trial.effects import TransactionTerms
from sweepapi.solana.worth.sentence import Deeds, name_of
from sweepapi.token_amounts import whole_tokens
from sweeps.protocol.rail import FeeTerms
from sweeps.protocol.request import BuildRequest
from sweeps.rails.solana_v1.build.burning import Burn
from sweeps.rails.solana_v1.build.closings import Overfunded, closed_by, closing, emptied, overfunded, withdrawn_by
from sweeps.rails.solana_v1.build.composing import ClusterMarket, extra_closings, legs_of, used_accounts
from sweeps.rails.solana_v1.build.facts import ClusterFacts
from sweeps.rails.solana_v1.build.proving import Proven, Unproven, prove
from sweeps.rails.solana_v1.build.stages import SolanaToken, SolanaTransaction
from sweeps.rails.solana_v1.build.terms import output_of


@dataclass(frozen=True)
class Assembly:
    """What the transactions of one sweep have in common."""

    request: BuildRequest
    facts: ClusterFacts
    fees: FeeTerms
    cluster: Cluster
    output_mint: Mint
    fee_account: Pubkey
    burns: Sequence[Burn] = ()

    def composed(
        self, tokens: Sequence[SolanaToken], market: ClusterMarket, *, apart: Collection[int] = ()
    ) -> list[Packed]:
        """Return as few transactions as possible that sell these tokens, those at the positions ``apart`` alone.

        Raises ``LegsTooLargeError``, and ``UnsafeSwapError`` for minimums that no account can hold.
        """
        closes_accounts = self.request.close_empty_accounts
        legs = legs_of(tokens, market, closes_accounts=closes_accounts)
        closings = [Disposal(closing(holding)) for holding in self.extra_closings(tokens)]
        withdrawals = [Disposal([one.withdrawal], "withdrawal") for one in self.overfunded(tokens)]
        return self._packed(legs, [*self._burns(self.burns, tokens), *closings, *withdrawals], apart)

    def _burns(self, burns: Sequence[Burn], tokens: Sequence[SolanaToken]) -> list[Disposal]:
        """Return the burns beside the sale of these tokens, apart so that one that fails takes no sale with it."""
        closed = self._closed_by_burns(tokens)
        return [
            Disposal([burn.instruction, *(closing(burn.holding) if burn.holding.key in closed else [])], "burn")
            for burn in burns
        ]

    def burnt_alone(self, pool: ProviderPool, burns: Sequence[Burn]) -> list[Proven | Unproven]:
        """Return what simulations show of each of these burns in a transaction of its own."""
        packed = [one for burn in burns for one in self._packed([], self._burns([burn], []))]
        return prove(pool, packed, [self._terms(one, []) for one in packed])

    def _closed_by_burns(self, tokens: Sequence[SolanaToken]) -> set[Pubkey]:
        """Return the accounts that burns empty, and no sale of these tokens uses."""
        emptied_by_burns = {burn.holding.key for burn in self.burns if burn.empties}
        return emptied_by_burns - used_accounts(tokens) if self.request.close_empty_accounts else set()

    def extra_closings(self, tokens: Sequence[SolanaToken]) -> list[Holding]:
        """Return the accounts that are closed in addition to those that the sale of these tokens empties."""
        return extra_closings(tokens, self.facts, self.request)

    def overfunded(self, tokens: Sequence[SolanaToken]) -> list[Overfunded]:
        """Return the accounts that stay open beside the sale of these tokens, and hold more than their rent.

        Their lamports come back apart, so that a cluster whose programs can't do that takes no sale with it.
        """
        if not self.request.close_empty_accounts:
            return []
        closed = {token.holding.key for token in tokens if emptied(token.holding, token.amount)}
        closed |= {holding.key for holding in self.extra_closings(tokens)} | self._closed_by_burns(tokens)
        stay = [holding for key, holding in self.facts.holdings.items() if key not in closed]
        return overfunded(stay, self.facts.token_account_rent)

    def accounts_left(self, tokens: Sequence[SolanaToken], packed: Sequence[Packed]) -> int:
        """Return how many accounts these transactions have no room for."""
        closed = {holding.key for one in packed for holding in self._closes(one)}
        withdrawn = {overfunded.holding.key for one in packed for overfunded in self._withdraws(one)}
        closings = sum(holding.key not in closed for holding in self.extra_closings(tokens))
        return closings + sum(one.holding.key not in withdrawn for one in self.overfunded(tokens))

    def alone(self, tokens: Sequence[SolanaToken], position: int, market: ClusterMarket) -> Packed:
        """Return a transaction that sells one of these tokens."""
        legs = legs_of([tokens[position]], market, closes_accounts=self.request.close_empty_accounts)
        (packed,) = self._packed(legs, [])
        return replace(packed, legs=(position,))

    def _packed(
        self, legs: Sequence[SwapLeg], disposals: Sequence[Disposal], apart: Collection[int] = ()
    ) -> list[Packed]:
        return pack(
            self._output,
            legs,
            disposals=disposals,
            apart=apart,
            existing=self.facts.existing,
        )

    def proven(
        self, pool: ProviderPool, packed: Sequence[Packed], tokens: Sequence[SolanaToken], market: ClusterMarket
    ) -> list[SolanaTransaction | Unproven]:
        """Return each transaction if a simulation shows that it does what it should and no more, and else why not."""
        terms = [self._terms(one, tokens) for one in packed]
        return [
            proven if isinstance(proven, Unproven) else self._transaction(one, proven, tokens, market)
            for one, proven in zip(packed, prove(pool, packed, terms), strict=True)
        ]

    @property
    def _output(self) -> Output:
        holding = self.facts.associated(self.facts.output_mint)
        return Output(
            wallet=self.facts.wallet,
            mint=self.facts.output_mint,
            program=self.output_mint.program,
            decimals=self.output_mint.decimals,
            held=0 if holding is None else holding.token.amount,
            fee_account=self.fee_account,
            dont_front=self.cluster.dont_front,
        )

    def _terms(self, packed: Packed, tokens: Sequence[SolanaToken]) -> TransactionTerms:
        sold, closes = [tokens[position] for position in packed.legs], self._closes(packed)
        unwrapped = {holding.key: holding.token.amount for holding in closes if holding.token.is_native}
        burns = [burn for burn in self.burns if burn.is_in(packed)]
        burnt = {burn.holding.key: burn.wanted.amount for burn in burns}
        burnt_mints = [burn.holding.token.mint for burn in burns]
        harvested_mints = [holding.token.mint for holding in closes if holding.token.has_withheld_fees]
        return TransactionTerms(
            wallet=self.facts.wallet,
            swept=unwrapped | burnt | {token.holding.key: token.amount for token in sold},
            output_mint=self.facts.output_mint,
            minimum=sum(token.quote.threshold for token in sold),
            fee_account=self.fee_account,
            fees=self.fees,
            legs=len(sold),
            closed=frozenset(holding.key for holding in closes),
            changed_mints=frozenset(burnt_mints + harvested_mints),
            fee_lamports=compute_budget.LAMPORTS_PER_SIGNATURE,
            token_account_rent=self.facts.token_account_rent,
            rent_programs=frozenset(public_key(program) for program in self.cluster.rent_programs),
        )

    def _transaction(
        self, packed: Packed, proven: Proven, tokens: Sequence[SolanaToken], market: ClusterMarket
    ) -> SolanaTransaction:
        limit = compute_budget.unit_limit(proven.units)
        sold, closes = [tokens[position] for position in packed.legs], self._closes(packed)
        said = [token.quote.unit_price for token in sold if token.quote.unit_price is not None]
        recent = compute_budget.recent_price(market.recent_prices, self.request.price_percentile)
        price = compute_budget.affordable(
            max(said, default=recent), unit_limit=limit, max_lamports=self.cluster.max_priority_fee_lamports
        )
        return SolanaTransaction(
            packed=packed,
            mints=[token.asset for token in sold],
            sentence=self._sentence(packed, sold, proven.effects.user_gain, closes),
            message=packed.message(market.blockhash.blockhash, unit_limit=limit, unit_price=price),
            last_valid_block_height=market.blockhash.last_valid_block_height,
            unit_limit=limit,
            unit_price=price,
            effects=proven.effects,
            creates=proven.creates,
            closes=closes,
            withdraws=self._withdraws(packed),
        )

    def _sentence(self, packed: Packed, sold: Sequence[SolanaToken], user_gain: int, closes: Sequence[Holding]) -> str:
        output = output_of(self.cluster, self.request.output_asset)
        sold_from = {token.holding.key for token in sold}
        burnt = [burn for burn in self.burns if burn.is_in(packed)]
        withdraws = self._withdraws(packed)
        return Deeds(
            sold=[name_of(token.asset, token.symbol) for token in sold],
            received=f"{whole_tokens(user_gain, output.decimals)} {output.symbol}",
            burnt=[name_of(one.wanted.asset, self.facts.names[one.holding.token.mint].symbol) for one in burnt],
            unwrapped_lamports=sum(
                one.token.amount for one in closes if one.token.is_native and one.key not in sold_from
            ),
            closed=len(closes),
            overfunded=len(withdraws),
            rent_lamports=sum(one.rent_lamports for one in closes) + sum(one.lamports for one in withdraws),
        ).sentence

    def _closes(self, packed: Packed) -> list[Holding]:
        return closed_by(packed, self.facts.holdings)

    def _withdraws(self, packed: Packed) -> list[Overfunded]:
        return withdrawn_by(packed, self.facts.holdings, self.facts.token_account_rent)
