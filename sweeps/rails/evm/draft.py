"""A draft on an EVM chain, and what the user still has to fix before it can be sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import APPROVE, UNLIMITED
from sweepapi.evm.responses import Block
from sweepapi.evm.routes.types import PoolHop, Route
from sweeps.rails.rail import BuildWarning, Draft, DraftToken


@dataclass(frozen=True)
class PoolSwap:
    """A swap in a pool that the contract calls itself, into the output or, if joined, into the wrapped coin."""

    hop: PoolHop
    joined: bool
    least_wrapped: int  # what a joined one must give; zero for the others, which have their floor
    price_limit: int  # at which the pool is to stop, as ``batch.Hop`` has it


@dataclass(frozen=True)
class RouterSwap:
    """A swap by a router, for what pools can't carry."""

    route: Route
    amount_in: int  # what arrives at the contract: less than the amount if the token keeps a part


@dataclass(frozen=True)
class WrappedSwap:
    """The wrapped coin, which needs no pool of its own: it joins the last hop, or else is unwrapped."""

    joined: bool


Swap = PoolSwap | RouterSwap | WrappedSwap


@dataclass(frozen=True)
class SignedTerms:
    """What the user signed for a sweep in addition to its tokens, and every later offer of it keeps."""

    floors: Sequence[int]  # by position of the token
    max_skipped: int


@dataclass(frozen=True)
class EvmToken(DraftToken):
    """A token with its swap, and the user's balance and allowance; expected and minimum output are before the fee.

    The offer drops a token without a swap: it expects nothing of it, and the token stays with the user.
    """

    swap: Swap | None
    floor: int  # what the user signs as the least to receive for it, after the fee
    skippable: bool
    balance: int
    allowance: int  # given to Permit2
    needs_reset: bool  # the token refuses to replace an allowance that is not zero


@dataclass(frozen=True)
class UserCall:
    """A transaction that the user sends before the sweep."""

    to: str
    data: str
    value: int = 0


@dataclass(frozen=True)
class AllowanceIssue:
    """A token that Permit2 may not transfer yet, and the approvals that the user has to send."""

    token: str
    spender: str
    actual: int
    required: int
    reset_transaction: UserCall | None
    transaction: UserCall


@dataclass(frozen=True)
class BalanceIssue:
    """A token of which the user holds too little."""

    token: str
    actual: int
    required: int


@dataclass(frozen=True)
class EvmDraft(Draft):
    """A draft on an EVM chain."""

    tokens: Sequence[EvmToken]
    chain: Chain
    contract: str
    output_token: str  # an ERC-20: the wrapped coin where the user wants the native one
    last_hop: PoolHop | None  # which swaps the sum of the joined tokens into the output; None if none is joined
    max_skipped: int  # how many tokens the user lets offer and contract leave out together
    head: Block
    used_permit_words: Mapping[int, int]  # Permit2's bitmap of the user by word position
    warnings: Sequence[BuildWarning]

    def allowance_issues(self) -> Iterator[AllowanceIssue]:
        """Yield the approvals that are missing."""
        for token in self.tokens:
            if token.swap is not None and token.allowance < token.amount:
                yield AllowanceIssue(
                    token=token.asset,
                    spender=self.chain.permit2,
                    actual=token.allowance,
                    required=token.amount,
                    reset_transaction=self._approval(token.asset, 0) if token.needs_reset else None,
                    transaction=self._approval(token.asset, UNLIMITED),
                )

    def balance_issues(self) -> Iterator[BalanceIssue]:
        """Yield the tokens of which the user holds too little."""
        for token in self.tokens:
            if token.swap is not None and token.balance < token.amount:
                yield BalanceIssue(token.asset, token.balance, token.amount)

    def _approval(self, token: str, amount: int) -> UserCall:
        return UserCall(token, f"0x{APPROVE.encode(self.chain.permit2, amount).hex()}")
