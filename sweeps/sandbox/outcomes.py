"""The documented tokens and amounts, and what each of them forces; the guide to the sandbox shows both to partners.

A token is a contract whose code has the outcome. An amount is of the token ``script``: its last three digits say what
the sandbox does with the transaction that sweeps it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

DECIMALS = 18
SCRIPT = "script"
AMOUNT_MODULUS = 1_000


class ForcedOutcome(StrEnum):
    """What the last three digits of an amount force."""

    DELAYED_MINING = "delayed_mining"
    REORGANISED = "reorganised"
    REORGANISED_AWAY = "reorganised_away"
    LATE_FINALITY = "late_finality"


@dataclass(frozen=True)
class MagicToken:
    """A token of the sandbox: its symbol, and what happens to a sweep of it."""

    symbol: str
    meaning: str


@dataclass(frozen=True)
class MagicAmount:
    """The last three digits of an amount, and what happens to a transaction that sweeps it."""

    remainder: int
    meaning: str


# By the names in the chains file.
TOKENS: Mapping[str, MagicToken] = {
    SCRIPT: MagicToken("SCRIPT", "Is swept like any good token; its amounts below force what happens on chain."),
    "no_route": MagicToken("NOROUTE", "Has no pool: quotes and builds are refused with `tokens_refused`."),
    "honeypot": MagicToken("HONEY", "No contract may receive it: refused with `transfer_refused`."),
    "failing_simulation": MagicToken(
        "NOSIM", "Can be sent, but the simulated sweep of it fails: refused with `simulation_failed`."
    ),
    "price_impact": MagicToken(
        "THIN",
        "Its pool is small: 500 tokens are refused with `tokens_refused`, and a sweep of 20 lowers its price by "
        "4 %, so that a sweep that was built before leaves it out if the build said `onLegFailure: skip`.",
    ),
    "transfer_tax": MagicToken("TAXED", "Burns 1 % of each transfer: built by way of a router, with the tax shown."),
    "revert": MagicToken(
        "STALE",
        "Can be swept for 600 seconds of the chain's clock after the wallet was funded. Build, advance by more, and "
        "send: the transaction reverts.",
    ),
}
AMOUNTS: Mapping[ForcedOutcome, MagicAmount] = {
    ForcedOutcome.DELAYED_MINING: MagicAmount(
        101, "The sandbox keeps the transaction back. Your next advance moves the clock, and then mines it."
    ),
    ForcedOutcome.REORGANISED: MagicAmount(
        102,
        "It is mined. Your next advance replaces its block, and all above, without it; the one after mines it again.",
    ),
    ForcedOutcome.REORGANISED_AWAY: MagicAmount(103, "As 102, but it is never mined again."),
    ForcedOutcome.LATE_FINALITY: MagicAmount(
        104,
        "It is mined. Each of your next two advances first moves it into the newest block, so finality starts again.",
    ),
}


def outcome_of(raw: bytes, token: str) -> ForcedOutcome | None:
    """Return what a signed transaction forces, None for most: whether an amount of ``script`` follows its address.

    That is how each form of a sweep lists what it pulls: two words of the call's data.
    """
    listed = bytes(12) + bytes.fromhex(token.removeprefix("0x"))
    at = raw.find(listed)
    if at < 0:
        return None
    amount = int.from_bytes(raw[at + 32 : at + 64])
    remainders = {magic.remainder: outcome for outcome, magic in AMOUNTS.items()}
    return remainders.get(amount % AMOUNT_MODULUS)
