"""The ERC-20 functions that a sweep reads or has the user call, and how the responses of hostile tokens are read."""

from dataclasses import dataclass
from typing import Any

from sweepapi.evm.abi import Function
from sweepapi.evm.multicall import Read
from sweepapi.text import clean

BALANCE_OF = Function("balanceOf(address)", "(uint256)")
ALLOWANCE = Function("allowance(address,address)", "(uint256)")
APPROVE = Function("approve(address,uint256)")
DECIMALS = Function("decimals()", "(uint8)")
SYMBOL = Function("symbol()", "(string)")
SYMBOL_BYTES32 = Function("symbol()", "(bytes32)")  # tokens older than the standard

UNLIMITED = 2**256 - 1
FACTS_READS = 5
MAX_SYMBOL_CHARACTERS = 32


@dataclass(frozen=True)
class TokenFacts:
    """What a token reports about itself and one wallet; amounts in its smallest unit."""

    symbol: str
    decimals: int
    balance: int
    allowance: int


def facts_reads(*, token: str, wallet: str, spender: str) -> list[Read]:
    """Return the reads whose results ``token_facts`` takes."""
    return [
        Read(token, DECIMALS),
        Read(token, BALANCE_OF, (wallet,)),
        Read(token, ALLOWANCE, (wallet, spender)),
        Read(token, SYMBOL),
        Read(token, SYMBOL_BYTES32),
    ]


def token_facts(results: list[Any]) -> TokenFacts | None:
    """Return the facts from the results of the reads, or None if the address is not an ERC-20 token."""
    decimals, balance, allowance, text, raw = results
    if decimals is None or balance is None or allowance is None:
        return None
    symbol = text[0] if text is not None else raw[0].decode("utf-8", "replace") if raw is not None else ""
    return TokenFacts(clean(symbol, MAX_SYMBOL_CHARACTERS), decimals[0], balance[0], allowance[0])
