"""What a partner requests, checked and in the form that rails take."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from sweepapi.solana.packing.compute_budget import USUAL_PERCENTILE
from sweeps.models import Sweep


class WalletAtomic(Enum):
    """Whether a wallet executes a batch of calls atomically, in the words of EIP-5792."""

    SUPPORTED = "supported"
    READY = "ready"  # after the user agreed to upgrade the account
    UNSUPPORTED = "unsupported"


@dataclass(frozen=True)
class WalletSays:
    """What the user's wallet said about itself."""

    atomic: WalletAtomic | None = None  # None if it was not asked
    takes_gas_limits: bool = False  # whether it takes limits for the single calls of a batch (ERC-8132)
    gas_is_sponsored: bool = False  # whether someone else pays the gas


@dataclass(frozen=True)
class TokenInput:
    """One token of a request; ``symbol`` and ``decimals`` are hints that are compared with the chain."""

    asset: str
    amount: int
    symbol: str | None = None
    decimals: int | None = None


@dataclass(frozen=True)
class DiscoverRequest:
    """A checked request to read a wallet; addresses as in a build request."""

    network: str
    wallet: str
    output_asset: str
    candidates: Sequence[str]  # tokens that the wallet may hold, in addition to those that the service knows
    includes_hidden: bool
    unlimited_approvals: bool = False
    wallet_says: WalletSays = WalletSays()
    place: bytes | None = None  # where an earlier request ended, as it said; None for the beginning


@dataclass(frozen=True)
class HoldingsRequest:
    """A checked request to read a wallet on a network whose accounts name all that it holds."""

    network: str
    wallet: str
    output_asset: str | None = None  # None for the first one of the network
    slippage_bps: int = 100  # it does not change the expected output, which alone is shown
    candidates: Sequence[str] = ()  # tokens that are looked at first
    place: bytes | None = None  # as of another request


@dataclass(frozen=True)
class BurnInput:
    """An amount of a token to burn, and what the user accepts to lose by that, in the reference stablecoin."""

    asset: str
    amount: int
    accepted_value: int | None = None


@dataclass(frozen=True)
class BuildRequest:
    """A checked build request: addresses in their canonical form, amounts in smallest units."""

    network: str
    wallet: str
    tokens: Sequence[TokenInput]
    output_asset: str
    slippage_bps: int
    close_empty_accounts: bool = True  # where a network takes rent for token accounts
    price_percentile: str = USUAL_PERCENTILE  # of what others pay for priority, where a network sells it
    burns: Sequence[BurnInput] = ()  # where tokens can be burnt
    unwraps_coin: bool = False  # whether wrapped coins of the wallet become the coin itself
    max_skipped: int | None = None  # how many tokens the contract may leave out; None for as many as it can
    leaves_out: bool = False  # leave out tokens that can't be swept or are not worth it, instead of refusing the build
    accepted_impact_bps: int | None = None  # the price impact that the user accepts; None if the user was not asked
    unlimited_approvals: bool = False  # approve any amount of a token, so that later sweeps need no approval
    wallet_says: WalletSays = WalletSays()
    accepts_uneconomic: bool = False  # whether the user agreed to pay more than the sweep brings
    client_reference: str = ""  # chosen by the partner

    @classmethod
    def of(cls, sweep: Sweep) -> "BuildRequest":
        """Return the request for another offer of a stored sweep, whose signed terms say what may be left out."""
        return cls(
            network=sweep.network,
            wallet=sweep.wallet,
            tokens=[TokenInput(one.asset, one.amount, one.symbol, one.decimals) for one in sweep.tokens.all()],
            output_asset=sweep.output_asset,
            slippage_bps=sweep.slippage_bps,
            accepted_impact_bps=sweep.accepted_impact_bps,
            unlimited_approvals=sweep.unlimited_approvals,
            wallet_says=WalletSays(
                atomic=WalletAtomic(sweep.wallet_atomic) if sweep.wallet_atomic else None,
                takes_gas_limits=sweep.wallet_takes_gas_limits,
                gas_is_sponsored=sweep.gas_is_sponsored,
            ),
        )
