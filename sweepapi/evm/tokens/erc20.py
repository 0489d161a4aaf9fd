"""The ERC-20 functions that a sweep reads or has the user call, and how the responses of hostile tokens are read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import keccak_hex
from sweepapi.text import clean

BALANCE_OF = Function("balanceOf(address)", "(uint256)")
ALLOWANCE = Function("allowance(address,address)", "(uint256)")
APPROVE = Function("approve(address,uint256)")
DECIMALS = Function("decimals()", "(uint8)")
SYMBOL = Function("symbol()", "(string)")
SYMBOL_BYTES32 = Function("symbol()", "(bytes32)")  # tokens older than the standard
NAME = Function("name()", "(string)")
TRANSFER_TOPIC = keccak_hex(b"Transfer(address,address,uint256)")

UNLIMITED = 2**256 - 1
ACCOUNT_READS, IDENTITY_READS = 3, 4
MAX_SYMBOL_CHARACTERS, MAX_NAME_CHARACTERS = 32, 64


@dataclass(frozen=True)
class TokenIdentity:
    """What a token reports about itself."""

    symbol: str
    decimals: int
    name: str


@dataclass(frozen=True)
class TokenFacts:
    """What a token reports about itself and one wallet; amounts in its smallest unit."""

    symbol: str
    decimals: int
    balance: int
    allowance: int  # given to Permit2
    contract_allowance: int  # given to the sweep's contract
    name: str = ""


def account_reads(*, token: str, wallet: str, permit2: str, contract: str) -> list[Read]:
    """Return the reads of what a wallet has of a token."""
    return [
        Read(token, BALANCE_OF, (wallet,)),
        Read(token, ALLOWANCE, (wallet, permit2)),
        Read(token, ALLOWANCE, (wallet, contract)),
    ]


def identity_reads(token: str) -> list[Read]:
    """Return the reads whose results ``token_identity`` takes."""
    return [Read(token, DECIMALS), Read(token, SYMBOL), Read(token, SYMBOL_BYTES32), Read(token, NAME)]


def token_identity(results: Sequence[Any]) -> TokenIdentity | None:
    """Return what the reads show, or None for an address without decimals; a symbol or name that failed is blank."""
    decimals, text, raw, name = results
    if decimals is None:
        return None
    symbol = text[0] if text is not None else raw[0].decode("utf-8", "replace") if raw is not None else ""
    return TokenIdentity(
        symbol=clean(symbol, MAX_SYMBOL_CHARACTERS),
        decimals=decimals[0],
        name="" if name is None else clean(name[0], MAX_NAME_CHARACTERS),
    )


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
    )
