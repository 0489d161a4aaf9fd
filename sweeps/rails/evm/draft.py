"""A draft on an EVM chain, and what the user still has to fix before it can be sent."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from sweepapi.evm.addresses import NATIVE_COIN
from sweepapi.evm.chains import Chain
from sweepapi.evm.erc20 import APPROVE, UNLIMITED
from sweepapi.evm.responses import Block
from sweepapi.evm.routes.types import Route
from sweeps.rails.rail import BuildWarning, Draft, DraftToken


@dataclass(frozen=True)
class ShownRoute:
    """A route as partners see it."""

    router: str
    kind: str
    target: str
    path: Sequence[str]
    fee_tiers: Sequence[int] = ()
    price_impact_bps: int | None = None  # not measured yet


@dataclass(frozen=True)
class EvmToken(DraftToken):
    """A token with its route, and the user's balance and allowance; ``route`` is None if it needs no swap."""

    route: Route | None
    balance: int
    allowance: int  # given to Permit2
    needs_reset: bool  # the token refuses to replace an allowance that is not zero

    @property
    def shown_route(self) -> ShownRoute:
        """The route; for the wrapped coin into the native one, the unwrapping."""
        if self.route is None:
            return ShownRoute("wrapped_native", "unwrap", self.asset, (self.asset, NATIVE_COIN))
        router = self.route.router
        return ShownRoute(router.name, router.kind, router.address, self.route.path, self.route.fee_tiers)


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
    head: Block
    used_permit_words: Mapping[int, int]  # Permit2's bitmap of the user by word position
    warnings: Sequence[BuildWarning]

    def allowance_issues(self) -> Iterator[AllowanceIssue]:
        """Yield the approvals that are missing."""
        for token in self.tokens:
            if token.allowance < token.amount:
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
            if token.balance < token.amount:
                yield BalanceIssue(token.asset, token.balance, token.amount)

    def _approval(self, token: str, amount: int) -> UserCall:
        return UserCall(token, f"0x{APPROVE.encode(self.chain.permit2, amount).hex()}")
