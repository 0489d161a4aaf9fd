"""What the user still has to fix before a sweep can be sent: missing approvals, tokens, and coins for the gas."""

from collections.abc import Iterator
from dataclasses import dataclass

from sweeps.protocol.issues import GasIssue
from sweeps.rails.evm.build.prompts import UserCall, approval_calls
from sweeps.rails.evm.build.stages import EvmPlanned


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
class WayGasIssue(GasIssue):
    """A way to execute the sweep for which the user holds too little of the native coin, in wei."""

    execution: str
    max_fee_per_gas: int


def allowance_issues(planned: EvmPlanned) -> Iterator[AllowanceIssue]:
    """Yield the approvals of Permit2 that are missing."""
    permit2, finder = planned.market.chain.permit2, planned.ways_finder
    for token in planned.swept:
        approval = finder.approval(token, permit2)
        if approval.amounts:
            *resets, transaction = approval_calls(planned, approval)
            yield AllowanceIssue(
                token=token.asset,
                spender=permit2,
                actual=token.allowance,
                required=token.amount,
                reset_transaction=resets[0] if resets else None,
                transaction=transaction,
            )


def balance_issues(planned: EvmPlanned) -> Iterator[BalanceIssue]:
    """Yield the tokens of which the user holds too little."""
    for token in planned.swept:
        if token.balance < token.amount:
            yield BalanceIssue(token.asset, token.balance, token.amount)


def gas_issues(planned: EvmPlanned) -> Iterator[WayGasIssue]:
    """Yield the ways that the user's coins do not pay for."""
    price = planned.gas_price
    if price is None or planned.request.wallet_says.gas_is_sponsored:
        return
    for way in planned.ways:
        needed = planned.needed_coins(way, price)
        if needed > planned.native_balance:
            yield WayGasIssue(planned.native_balance, needed, way.kind, price.most_wei)
