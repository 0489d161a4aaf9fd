"""A planned sweep on Solana: the tokens with their quotes, and the transactions that would sell them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from solders.message import MessageV0
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction import VersionedTransaction

from sweepapi.fees import Split
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.packing import compute_budget
from sweepapi.solana.packing.packing import Packed
from sweepapi.solana.swap_api import SwapApiQuote
from sweepapi.solana.trial.effects import Effects
from sweeps.protocol.rail import PlannedSweep, PricedToken


def unsigned(message: MessageV0) -> VersionedTransaction:
    """Return the transaction with an empty signature in the place of the wallet's."""
    return VersionedTransaction.populate(message, [Signature.default()])


@dataclass(frozen=True)
class SolanaToken(PricedToken):
    """A token with its account and its quote."""

    holding: Holding
    quote: SwapApiQuote


@dataclass(frozen=True)
class SolanaTransaction:
    """One transaction as the user signs it, and what its simulation showed."""

    packed: Packed
    mints: Sequence[str]  # of the tokens that it sells
    message: MessageV0
    last_valid_block_height: int
    unit_limit: int
    unit_price: int  # micro-lamports
    effects: Effects
    creates: Sequence[Holding]
    closes: Sequence[Holding]

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
    fee_account: Pubkey
    transactions: Sequence[SolanaTransaction]
    blocks_left: int  # until the transactions expire, when their blockhash was read

    @cached_property
    def expected(self) -> Split:
        """The split of what the simulations paid: the user's gain and the fee account's."""
        gains = [transaction.effects for transaction in self.transactions]
        return self.fees.split(sum(gain.user_gain + gain.fee_gain for gain in gains))

    @property
    def placed_tokens(self) -> list[PlacedToken]:
        """The tokens in the order of the request."""
        placed = {leg: index for index, transaction in enumerate(self.transactions) for leg in transaction.packed.legs}
        return [PlacedToken(token, placed[leg]) for leg, token in enumerate(self.tokens)]

    @property
    def network_fee_lamports(self) -> int:
        return sum(transaction.fee_lamports for transaction in self.transactions)

    @property
    def closed_accounts(self) -> list[Holding]:
        """Each once: what every transaction unwraps, only the first that lands finds open."""
        closed = (holding for transaction in self.transactions for holding in transaction.closes)
        return list({holding.key: holding for holding in closed}.values())

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
        """The rent that the closed accounts give back."""
        return sum(holding.rent_lamports for holding in self.closed_accounts)
