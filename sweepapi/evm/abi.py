"""Encoding and decoding of contract calls without web3's contract objects, which cost a millisecond a call."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eth_abi.abi import decode, encode
from eth_abi.exceptions import DecodingError
from eth_abi.grammar import TupleType, parse
from eth_utils.crypto import keccak

from sweepapi.rpc.errors import BadResponseError


@cache
def exported_abi(contract: str) -> list[Any]:
    """Return the ABI of one of our contracts, as its build exported it."""
    path = Path(__file__).parent / "abi" / f"{contract}.json"
    entries: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return entries


def error_abi(contract: str) -> list[dict[str, Any]]:
    """Return the entries of a contract's custom errors, for clients that decode reverts themselves."""
    return [entry for entry in exported_abi(contract) if entry["type"] == "error"]


def function_abi(contract: str, name: str) -> dict[str, Any]:
    """Return the entry of a contract's function, for clients that encode its calls themselves."""
    return next(entry for entry in exported_abi(contract) if entry.get("name") == name and entry["type"] == "function")


def _components(types: str) -> list[str]:
    if types == "()":  # eth_abi's grammar does not have it
        return []
    parsed = parse(types)
    if not isinstance(parsed, TupleType):
        raise TypeError(f"{types!r} is not a list of types")
    return [component.to_type_str() for component in parsed.components]


class Function:
    """A contract function, written as in Solidity: ``Function("balanceOf(address)", "(uint256)")``."""

    def __init__(self, signature: str, returns: str = "()") -> None:
        self.signature = signature
        self.selector = keccak(text=signature)[:4]
        self._inputs = _components(signature[signature.index("(") :])
        self._outputs = _components(returns)

    def encode(self, *arguments: object) -> bytes:
        """Return the calldata of a call with these arguments."""
        return self.selector + encode(self._inputs, arguments)

    def decode(self, output: bytes) -> Sequence[Any]:
        """Return the values a call returned; raise ``BadResponseError`` if the bytes are not of these types."""
        try:
            return decode(self._outputs, output)
        except (DecodingError, OverflowError, UnicodeDecodeError) as error:
            raise BadResponseError(f"{self.signature} returned bytes of another shape") from error
