"""What is said of the tokens of a wallet, in the same words on every rail."""

from dataclasses import dataclass
from enum import StrEnum

TAX = "It keeps {} basis points of what is transferred."


class TokenVerdict(StrEnum):
    """Whether a token is worth sweeping."""

    SELLABLE = "sellable"
    TAXED = "taxed"  # sellable, although it keeps a part of transfers
    UNECONOMIC = "uneconomic"
    NO_ROUTE = "no_route"
    UNSELLABLE = "unsellable"
    SUSPECT = "suspect"  # its name is made to deceive; it was not tried
    BROKEN = "broken"  # not a token


class Exclusion(StrEnum):
    """Why a token that can be sold is not in the best basket."""

    PRICE_IMPACT_TOO_HIGH = "price_impact_too_high"
    PRICE_UNKNOWN = "price_unknown"  # so that nothing says whether it is worth its gas
    BASKET_UNECONOMIC = "basket_uneconomic"  # all tokens that are worth their gas do not pay for the sweep together
    TOO_MANY_TOKENS = "too_many_tokens"  # others bring more
    LAST_HOP_UNECONOMIC = "last_hop_uneconomic"  # the tokens that need the last hop do not pay for it
    OTHER_WAY = "other_way"  # the basket is executed in a way in which this token can't be approved


@dataclass(frozen=True)
class ExplainedVerdict:
    """A verdict; reason and message are None if there is nothing to explain."""

    verdict: TokenVerdict
    reason: str | None = None  # a stable code
    message: str | None = None


def taxed(tax_bps: int) -> ExplainedVerdict:
    """Return the verdict on a token that is sellable, and keeps this part of transfers."""
    return ExplainedVerdict(TokenVerdict.TAXED, "transfer_fee", TAX.format(tax_bps))


SELLABLE = ExplainedVerdict(TokenVerdict.SELLABLE)
