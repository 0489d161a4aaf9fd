"""What was found in a wallet on an EVM chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.wallet.holdings.coverage import Coverage
from sweepapi.evm.worth.valuing import Economics
from sweepapi.worth.summary import Reference
from sweeps.protocol.rail import OutputAsset
from sweeps.protocol.verdicts import Exclusion, ExplainedVerdict, TokenVerdict
from sweeps.rails.evm.build.stages import EvmSimulated, EvmToken


class TokenNote(StrEnum):
    """What to know of a token beside its verdict."""

    LISTED_SYMBOL = "symbol_of_listed_token"  # which may be another token of that name, or one that poses as it


@dataclass(frozen=True)
class FoundToken:
    """A token of the wallet; its name and symbol are not to be trusted unless it is listed."""

    asset: str
    facts: TokenFacts | None  # None if it is not a token
    is_listed: bool
    finding: ExplainedVerdict
    sale: EvmSimulated | None = None  # of the whole balance, with its simulation; None if there is no way to sell it
    excluded_because: Exclusion | None = None  # None if it is in the basket, or can't be sold
    notes: Sequence[TokenNote] = ()

    @property
    def token(self) -> EvmToken | None:
        """The token as it is sold."""
        return None if self.sale is None else self.sale.tokens[0]

    @property
    def gas(self) -> int | None:
        """What it adds to a sweep, its approval or permit included."""
        return None if self.token is None else self.token.economics.gas

    @property
    def is_hidden(self) -> bool:
        """Whether it is only shown on request."""
        return self.finding.verdict is TokenVerdict.SUSPECT


@dataclass(frozen=True)
class BestBasket:
    """The tokens that are worth sweeping together, the best first, and what they bring."""

    tokens: Sequence[FoundToken] = ()
    sweep: EvmSimulated | None = None  # of these tokens; this and the next one are None if it is empty
    economics: Economics | None = None

    @property
    def expected_output(self) -> int:
        """What it brings before the fee."""
        return 0 if self.sweep is None else self.sweep.expected.gross_output


@dataclass(frozen=True)
class EvmDiscovery:
    """What one read a wallet found."""

    chain: Chain
    wallet: str
    output: OutputAsset
    reference: Reference | None
    tokens: Sequence[FoundToken]
    hidden_count: int  # tokens that were found and are not shown
    coverage: Coverage
    best_basket: BestBasket
