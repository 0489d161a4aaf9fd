"""What was found in a wallet on an EVM chain."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.trial.legs import leg_gas
from sweepapi.evm.worth.valuing import Economics, Reference
from sweeps.protocol.rail import OutputAsset
from sweeps.rails.evm.build.stages import EvmSimulated, EvmToken


class TokenVerdict(StrEnum):
    """Whether a token is worth sweeping."""

    SELLABLE = "sellable"
    TAXED = "taxed"  # sellable, although it keeps a part of transfers
    UNECONOMIC = "uneconomic"
    NO_ROUTE = "no_route"
    UNSELLABLE = "unsellable"
    SUSPECT = "suspect"  # its name is made to deceive; it was not tried
    BROKEN = "broken"  # not a token


@dataclass(frozen=True)
class ExplainedVerdict:
    """A verdict; reason and message are None if there is nothing to explain."""

    verdict: TokenVerdict
    reason: str | None = None  # a stable code
    message: str | None = None


@dataclass(frozen=True)
class FoundToken:
    """A token of the wallet; its name and symbol are not to be trusted unless the chains file lists it."""

    asset: str
    facts: TokenFacts | None  # None if it is not a token
    is_listed: bool
    finding: ExplainedVerdict
    sale: EvmSimulated | None = None  # of the whole balance, with its simulation; None if there is no way to sell it

    @property
    def token(self) -> EvmToken | None:
        """The token as it is sold."""
        return None if self.sale is None else self.sale.tokens[0]

    @property
    def gas(self) -> int | None:
        """What its swap adds to a sweep."""
        return None if self.token is None else leg_gas(self.token.swap)

    @property
    def is_hidden(self) -> bool:
        """Whether it is only shown on request."""
        return self.finding.verdict is TokenVerdict.SUSPECT


@dataclass(frozen=True)
class BestBasket:
    """The tokens that are worth sweeping together, the best first, and what they bring."""

    tokens: Sequence[FoundToken]
    expected_output: int  # before the fee
    economics: Economics | None  # None if it is empty


@dataclass(frozen=True)
class EvmDiscovery:
    """What one read a wallet found."""

    chain: Chain
    wallet: str
    output: OutputAsset
    reference: Reference | None
    tokens: Sequence[FoundToken]
    hidden_count: int  # tokens that were found and are not shown
    omitted_count: int  # candidates that were not read
    logs_read: bool
    best_basket: BestBasket
