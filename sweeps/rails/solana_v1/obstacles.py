"""What keeps a wallet's tokens from being swept, as discovery and builds say it."""

from dataclasses import dataclass

from sweepapi.solana.encoding.accounts import Holding
from sweepapi.solana.tokens.mints import Mint
from sweepapi.worth.left_out import INSUFFICIENT_BALANCE
from sweeps.protocol.verdicts import TokenVerdict


@dataclass(frozen=True)
class Obstacle:
    """A stable code and a sentence."""

    code: str
    message: str


UNKNOWN_MINT = Obstacle("not_a_token", "This is not the mint of a token.")
FROZEN = Obstacle("frozen", "The token's issuer froze the wallet's account.")
PAUSED = Obstacle("paused", "The token's issuer paused its transfers.")
NON_TRANSFERABLE = Obstacle("non_transferable", "The token can't be transferred.")
TRANSFER_HOOK = Obstacle("transfer_hook", "The token calls another program on each transfer.")
NOT_ASSOCIATED = Obstacle("not_associated", "Swaps take from the wallet's associated token account only.")
REFUSES_PROGRAMS = Obstacle("refuses_programs", "The wallet forbids programs to transfer from this account.")
NO_ROUTE = Obstacle("no_route", "The swap API can't swap this amount.")
COLLECTIBLE = Obstacle("collectible", "There is only one of it.")
UNUSABLE_QUOTE = Obstacle("unusable_quote", "What the swap API answers for this token can't be used.")
IS_OUTPUT = Obstacle("is_output", "This is the output token.")
PRICE_IMPACT = Obstacle("price_impact_too_high", "It would be sold far below its price; a build has to accept that.")
UNECONOMIC = Obstacle("uneconomic", "It is worth less than it costs to sweep.")
NOT_QUOTED = Obstacle(
    "not_quoted",
    "It was not quoted: there are too many tokens, or the swap API did not answer in time, or takes more "
    "requests only later.",
)
TOO_LARGE = Obstacle("too_large", "No route of this amount fits into a transaction.")
NOT_SIMULATED = Obstacle(
    "not_simulated", "It was quoted, and its sale was not simulated: only the best ones are, and a build tries all."
)
CANNOT_PAY = "The wallet can't pay the fees and the rent of new accounts."
WALLET_CANNOT_PAY = Obstacle(INSUFFICIENT_BALANCE, CANNOT_PAY)
CODES = sorted(one.code for one in list(globals().values()) if isinstance(one, Obstacle))

# Of these it was not found out whether they can be swept.
NOT_FOUND_OUT = (NOT_QUOTED, NOT_SIMULATED, WALLET_CANNOT_PAY)

# What keeps a token from a sweep makes it unsellable, unless another verdict is named here.
_VERDICTS = {
    UNKNOWN_MINT: TokenVerdict.BROKEN,
    NO_ROUTE: TokenVerdict.NO_ROUTE,
    UNECONOMIC: TokenVerdict.UNECONOMIC,
    PRICE_IMPACT: TokenVerdict.SELLABLE,  # if the user accepts that
    UNUSABLE_QUOTE: TokenVerdict.NO_ROUTE,
    IS_OUTPUT: None,
    **dict.fromkeys(NOT_FOUND_OUT),
}


def verdict_on(obstacle: Obstacle) -> TokenVerdict | None:
    """Return the verdict on a token with this obstacle; None if it was not decided, or is the output itself."""
    return _VERDICTS.get(obstacle, TokenVerdict.UNSELLABLE)


def of_mint(mint: Mint) -> Obstacle | None:
    """Return what keeps every wallet from selling a token, or None."""
    found = {
        NON_TRANSFERABLE: mint.is_non_transferable,
        TRANSFER_HOOK: mint.transfer_hook is not None,
        PAUSED: mint.is_paused,
    }
    return next((obstacle for obstacle, is_met in found.items() if is_met), None)


def of_holding(holding: Holding) -> Obstacle | None:
    """Return what keeps a wallet from selling what this account holds, or None."""
    found = {
        FROZEN: holding.token.is_frozen,
        NOT_ASSOCIATED: not holding.is_associated,
        REFUSES_PROGRAMS: holding.token.refuses_programs,
    }
    return next((obstacle for obstacle, is_met in found.items() if is_met), None)
