"""The tokens that a sweep on an EVM chain can't take, each with the reason."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Protocol

from sweepapi.evm.tokens.erc20 import TokenFacts
from sweepapi.evm.tokens.transfers import TransferProblem
from sweepapi.worth.left_out import INSUFFICIENT_BALANCE, NO_ROUTE, NOT_HELD, LeftOut

NOT_A_TOKEN = ("not_a_token", "This is not the address of an ERC-20 token.")
PROBLEMS = {
    TransferProblem.NO_ROUTE: (NO_ROUTE, "No pool or router can swap this amount."),
    TransferProblem.SHORT: (
        "transfer_fee",
        "The token charges a fee on transfer, and no router can swap what arrives.",
    ),
    TransferProblem.REFUSED_AT_POOL: (
        "transfer_refused",
        "The token refuses transfers from or to the pool of its route.",
    ),
    TransferProblem.REFUSED_AT_HOLDER: ("transfer_refused", "The token refuses transfers from or to this wallet."),
}
TAKES_OTHERS = "Its sale takes other tokens of the wallet as well: {}."


class RequestedToken(Protocol):
    """A token and its amount, as requested."""

    @property
    def asset(self) -> str: ...

    @property
    def amount(self) -> int: ...


def unswappable(
    tokens: Iterable[RequestedToken],
    facts: Mapping[str, TokenFacts],
    problems: Mapping[str, TransferProblem],
    *,
    must_be_held: bool,
) -> Iterator[LeftOut]:
    """Yield what is not a token, what has no way, and with ``must_be_held`` what the wallet holds too little of."""
    for token in tokens:
        known = facts.get(token.asset)
        if known is None:
            yield LeftOut(token.asset, token.amount, *NOT_A_TOKEN)
        elif token.asset in problems:
            yield LeftOut(token.asset, token.amount, *PROBLEMS[problems[token.asset]])
        elif must_be_held and known.balance < token.amount:
            yield LeftOut(token.asset, token.amount, INSUFFICIENT_BALANCE, NOT_HELD.format(balance=known.balance))
