"""A planned sweep on Solana: the tokens with their quotes, and the transactions that would sell them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from sweepapi.fees import FeeRates, Split
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.swap_api import SwapApiQuote
from sweepapi.solana.trial.effects import Effects
from sweepapi.solana.worth.economics import (
    CoinRates,
    LegEconomics,
    QuotedLeg,
    SweepEconomics,
    SweepLamports,
    leg_economics,
    sweep_economics,
)
from sweeps.protocol.issues import GasIssue
from sweeps.protocol.rail import PlannedSweep, PricedToken
from sweeps.rails.solana_v1.build.burning import Burn
from sweeps.rails.solana_v1.build.closings import Overfunded


def unsigned(message: MessageV0) -> VersionedTransaction:
    """Return the transaction with an empty signature in the place of the wallet's."""
    return VersionedTransaction.populate(message, [Signature.default()])


@dataclass(frozen=True)
class SolanaToken(PricedToken):
    """A token with its account, its quote and what it brings."""

    holding: Holding
    quote: SwapApiQuote
    transfer_tax_bps: int  # which the quote counts already
    economics: LegEconomics

    @property
    def floor(self) -> int:
        """The least that the user receives for it after the fee."""
        return self.quote.threshold

    def costing(self, transaction: "SolanaTransaction", rates: CoinRates, fees: FeeRates) -> "SolanaToken":
        """Return the token with what it leaves after its part of a transaction's cost, less the rent of its account."""
        returned = sum(holding.rent_lamports for holding in transaction.closes if holding.key == self.holding.key)
        shared = transaction.fee_lamports + transaction.effects.route_rent
        lamports = -(-shared // len(transaction.packed.legs)) - returned
        leg = QuotedLeg(self.expected_output, self.min_output, self.quote.price_impact_bps)
        return replace(self, economics=leg_economics(leg, rates, fees, lamports=lamports))


@dataclass(frozen=True)
class SolanaTransaction:
    """One transaction as the user signs it, and what its simulation showed."""

    packed: Packed
    mints: Sequence[str]  # of the tokens that it sells
    sentence: str  # what it does, for people
    message: MessageV0
    last_valid_block_height: int
    unit_limit: int
    unit_price: int  # micro-lamports
    effects: Effects
    creates: Sequence[Holding]
    closes: Sequence[Holding]
    withdraws: Sequence[Overfunded]

    @property
    def is_worth_its_fee(self) -> bool:
        """Whether it does more than withdrawing lamports, or withdraws more than it costs."""
        only_withdraws = len(self.packed.instructions) == len(self.withdraws) + 1  # the marker
        return not only_withdraws or sum(one.lamports for one in self.withdraws) > self.fee_lamports

    @property
    def fee_lamports(self) -> int:
        """What the wallet pays for it, successful or not."""
        return compute_budget.fee_lamports(unit_limit=self.unit_limit, unit_price=self.unit_price)

    @property
    def priority_fee_lamports(self) -> int:
        return self.fee_lamports - compute_budget.LAMPORTS_PER_SIGNATURE

    @property
    def unsigned(self) -> bytes:
        """The transaction as wallets take it."""
        return bytes(unsigned(self.message))


@dataclass(frozen=True)
class PlacedToken:
    """A token, and the position of the transaction that sells it."""

    token: SolanaToken
    transaction_index: int


@dataclass(frozen=True)
class SolanaSimulated(PlannedSweep):
    """A planned sweep on a Solana cluster."""

    tokens: Sequence[SolanaToken]
    cluster: Cluster
    rates: CoinRates
    held_lamports: int  # by the wallet
    needed_lamports: int
    fee_account: Pubkey
    transactions: Sequence[SolanaTransaction]
    burns: Sequence[Burn]
    accounts_left: int  # that could give lamports back as well, had the sweep room for more transactions
    blocks_left: int  # until the transactions expire, when their blockhash was read
    slot_seconds: float  # as measured then

    @property
    def swept(self) -> Sequence[SolanaToken]:
        """The tokens that it takes: all of them."""
        return self.tokens

    @cached_property
    def economics(self) -> SweepEconomics:
        """What the sweep brings."""
        paid = SweepLamports(
            signature_fees=self.network_fee_lamports - self.priority_fee_lamports,
            priority_fees=self.priority_fee_lamports,
            rent_paid=self.rent_lamports,
            route_rent=sum(transaction.effects.route_rent for transaction in self.transactions),
            rent_returned=self.reclaimed_lamports,
        )
        each = [token.economics for token in self.tokens]
        return sweep_economics(each, self.rates, paid, expected=self.expected, minimum=self.minimum)

    @property
    def gas_issues(self) -> list[GasIssue]:
        """What the wallet lacks for the fees and rents."""
        if self.held_lamports >= self.needed_lamports:
            return []
        return [GasIssue(self.held_lamports, self.needed_lamports)]

    def costing(self) -> "SolanaSimulated":
        """Return the sweep whose tokens cost their parts of fees and rent, less what their accounts give back."""
        sold_by = {leg: transaction for transaction in self.transactions for leg in transaction.packed.legs}
        tokens = [token.costing(sold_by[i], self.rates, self.fees) for i, token in enumerate(self.tokens)]
        return replace(self, tokens=tokens)

    @cached_property
    def expected(self) -> Split:
        """The split of what the simulations paid: the user's gain and the fee account's, which each swap rounds."""
        gains = [transaction.effects for transaction in self.transactions]
        fee = sum(gain.fee_gain for gain in gains)
        return self.fees.split_paid(sum(gain.user_gain for gain in gains) + fee, fee)

    @property
    def seconds_left(self) -> float:
        """About how long the transactions can land: longer if slots are skipped, which have no block."""
        return self.blocks_left * self.slot_seconds

    @property
    def placed_tokens(self) -> list[PlacedToken]:
        """The tokens in the order of the request."""
        placed = {leg: index for index, transaction in enumerate(self.transactions) for leg in transaction.packed.legs}
        return [PlacedToken(token, placed[leg]) for leg, token in enumerate(self.tokens)]

    @property
    def network_fee_lamports(self) -> int:
        return sum(transaction.fee_lamports for transaction in self.transactions)

    @property
    def priority_fee_lamports(self) -> int:
        return sum(transaction.priority_fee_lamports for transaction in self.transactions)

    @property
    def closed_accounts(self) -> list[Holding]:
        """Each once: what every transaction unwraps, only the first that lands finds open."""
        closed = (holding for transaction in self.transactions for holding in transaction.closes)
        return list({holding.key: holding for holding in closed}.values())

    @property
    def overfunded_accounts(self) -> list[Overfunded]:
        """Those whose lamports above the rent it withdraws."""
        return [one for transaction in self.transactions for one in transaction.withdraws]

    @property
    def unwrapped_lamports(self) -> int:
        """The wrapped SOL that becomes SOL without being sold."""
        sold = {token.holding.key for token in self.tokens}
        closed = (holding.token for holding in self.closed_accounts if holding.key not in sold)
        return sum(token.amount for token in closed if token.is_native)

    @property
    def created_accounts(self) -> list[Holding]:
        """The token accounts that the wallet gets; each is created by the first transaction that lands."""
        created = (holding for transaction in self.transactions for holding in transaction.creates)
        return list({holding.key: holding for holding in created}.values())

    @property
    def rent_lamports(self) -> int:
        """The rent that the wallet pays for the created accounts."""
        return sum(holding.rent_lamports for holding in self.created_accounts)

    @property
    def reclaimed_lamports(self) -> int:
        """The rent that the closed accounts give back, and what the overfunded ones held above theirs."""
        closed = sum(holding.rent_lamports for holding in self.closed_accounts)
        return closed + sum(one.lamports for one in self.overfunded_accounts)
