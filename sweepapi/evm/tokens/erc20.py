"""The ERC-20 functions that a sweep reads or has the user call, and how the responses of hostile tokens are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.abi_encoding import WORD_BYTES
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.rpc.errors import BadResponseError
from sweepapi.text import clean


class TextFunction(Function):
    """A function that returns a text: a string or, in tokens older than the standard, ``bytes32`` padded with zeros."""

    def __init__(self, signature: str) -> None:
        super().__init__(signature, "(string)")

    def decode(self, output: bytes) -> Sequence[Any]:
        """Return the text; what of a ``bytes32`` is not UTF-8 is replaced."""
        try:
            return super().decode(output)
        except BadResponseError:
            if len(output) != WORD_BYTES:
                raise
            return (output.rstrip(b"\0").decode("utf-8", "replace"),)


BALANCE_OF = Function("balanceOf(address)", "(uint256)")
ALLOWANCE = Function("allowance(address,address)", "(uint256)")
APPROVE = Function("approve(address,uint256)")
DECIMALS = Function("decimals()", "(uint8)")
SYMBOL = TextFunction("symbol()")
NAME = TextFunction("name()")
TRANSFER_TOPIC = keccak_hex(b"Transfer(address,address,uint256)")

UNLIMITED = 2**256 - 1
ACCOUNT_READS, IDENTITY_READS = 3, 3
MAX_SYMBOL_CHARACTERS, MAX_NAME_CHARACTERS = 32, 64
MAX_REPORTED_CHARACTERS = 128  # of which some may not be displayed


@dataclass(frozen=True)
class TokenIdentity:
    """What a token reports about itself."""

    symbol: str
    decimals: int
    name: str
    reported: tuple[str, str] = ("", "")  # symbol and name with what can't be shown, to find out whether they deceive


@dataclass(frozen=True)
class TokenFacts:
    """What a token reports about itself and one wallet; amounts in its smallest unit."""

    symbol: str
    decimals: int
    balance: int
    allowance: int  # given to Permit2
    contract_allowance: int  # given to the sweep's contract
    name: str = ""
    reported: tuple[str, str] = ("", "")  # as in ``TokenIdentity``


def account_reads(*, token: str, wallet: str, permit2: str, contract: str) -> list[Read]:
    """Return the reads of what a wallet has of a token."""
    return [
        Read(token, BALANCE_OF, (wallet,)),
        Read(token, ALLOWANCE, (wallet, permit2)),
        Read(token, ALLOWANCE, (wallet, contract)),
    ]


def identity_reads(token: str) -> list[Read]:
    """Return the reads whose results ``token_identity`` takes."""
    return [Read(token, DECIMALS), Read(token, SYMBOL), Read(token, NAME)]


def token_identity(results: Sequence[Any]) -> TokenIdentity | None:
    """Return what the reads show, or None for an address without decimals; a symbol or name that failed is blank."""
    decimals, *texts = results
    if decimals is None:
        return None
    symbol, name = ("" if text is None else text[0] for text in texts)
    return TokenIdentity(
        symbol=clean(symbol, MAX_SYMBOL_CHARACTERS),
        decimals=decimals[0],
        name=clean(name, MAX_NAME_CHARACTERS),
        reported=(_bounded(symbol), _bounded(name)),
    )


def _bounded(text: str) -> str:
    """Return the start of a text; in a long one no row of characters that can't be shown fills it."""
    if len(text) <= MAX_REPORTED_CHARACTERS:
        return text
    rows = groupby(text, key=str.isprintable)
    return "".join("".join(row) if is_shown else next(row) for is_shown, row in rows)[:MAX_REPORTED_CHARACTERS]


def token_facts(identity: TokenIdentity | None, account: Sequence[Any]) -> TokenFacts | None:
    """Return the facts with the results of ``account_reads``, or None if the address is not an ERC-20 token."""
    if identity is None or None in account:
        return None
    (balance,), (allowance,), (contract_allowance,) = account
    return TokenFacts(
        symbol=identity.symbol,
        decimals=identity.decimals,
        balance=balance,
        allowance=allowance,
        contract_allowance=contract_allowance,
        name=identity.name,
        reported=identity.reported,
    )
