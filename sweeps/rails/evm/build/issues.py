"""What the user still has to fix before a sweep can be sent: missing approvals, and missing tokens."""

from collections.abc import Iterator
from dataclasses import dataclass

from sweepapi.evm.tokens.erc20 import APPROVE, UNLIMITED
from sweeps.rails.evm.build.stages import EvmPlanned, EvmToken


@dataclass(frozen=True)
class UserCall:
    """A transaction that the user sends before the sweep."""

    to: str
    data: str
    value: int = 0


@dataclass(frozen=True)
class AllowanceIssue:
    """A token that the spender may not transfer yet, and the approvals that the user has to send."""

    token: str
    spender: str
    actual: int
    required: int
    reset_transaction: UserCall | None
    transaction: UserCall

    @property
    def approvals(self) -> list[UserCall]:
        """The transactions in their order."""
        return [self.transaction] if self.reset_transaction is None else [self.reset_transaction, self.transaction]


@dataclass(frozen=True)
class BalanceIssue:
    """A token of which the user holds too little."""

    token: str
    actual: int
    required: int


def allowance_issues(planned: EvmPlanned) -> Iterator[AllowanceIssue]:
    """Yield the approvals of Permit2 that are missing."""
    for token in planned.swept:
        if token.allowance < token.amount:
            yield _issue(planned, token, planned.market.chain.permit2, actual=token.allowance)


def contract_allowance_issues(planned: EvmPlanned) -> Iterator[AllowanceIssue]:
    """Yield the approvals that are missing for a sweep that the contract takes the tokens for itself."""
    for token in planned.swept:
        if token.contract_allowance < token.amount:
            yield _issue(planned, token, planned.contract, actual=token.contract_allowance)


def balance_issues(planned: EvmPlanned) -> Iterator[BalanceIssue]:
    """Yield the tokens of which the user holds too little."""
    for token in planned.swept:
        if token.balance < token.amount:
            yield BalanceIssue(token.asset, token.balance, token.amount)


def approved_amount(planned: EvmPlanned, token: EvmToken) -> int:
    """Return the allowance to give, as the request says."""
    return UNLIMITED if planned.request.unlimited_approvals else token.amount


def _issue(planned: EvmPlanned, token: EvmToken, spender: str, *, actual: int) -> AllowanceIssue:
    resets = token.needs_reset and actual > 0
    return AllowanceIssue(
        token=token.asset,
        spender=spender,
        actual=actual,
        required=token.amount,
        reset_transaction=_approval(token.asset, spender, 0) if resets else None,
        transaction=_approval(token.asset, spender, approved_amount(planned, token)),
    )


def _approval(token: str, spender: str, amount: int) -> UserCall:
    return UserCall(token, f"0x{APPROVE.encode(spender, amount).hex()}")
