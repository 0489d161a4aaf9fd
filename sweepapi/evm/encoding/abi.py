"""Encoding and decoding of contract calls without web3's contract objects, which cost a millisecond a call."""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_abi.grammar import TupleType, parse
from eth_utils.crypto import keccak

from sweepapi.evm.encoding.abi_decoding import decoded_words, word_decoder
from sweepapi.evm.encoding.abi_encoding import encoder_of, encoder_of_all
from sweepapi.rpc.errors import BadResponseError


@cache
def exported_abi(contract: str) -> list[Any]:
    """Return the ABI of one of our contracts, as its build exported it."""
    path = Path(__file__).parents[1] / "abi" / f"{contract}.json"
    entries: list[Any] = json.loads(path.read_text(encoding="utf-8"))
    return entries


@cache
def exported_code(contract: str) -> str:
    """Return the runtime code of one of our contracts that is never deployed, as hex."""
    artifact = json.loads((Path(__file__).parents[1] / "abi" / f"{contract}.json").read_text(encoding="utf-8"))
    code: str = artifact["deployedBytecode"]
    return code


def error_abi(contract: str) -> list[dict[str, Any]]:
    """Return the entries of a contract's custom errors, for clients that decode reverts themselves."""
    return [entry for entry in exported_abi(contract) if entry["type"] == "error"]


def function_abi(contract: str, name: str) -> dict[str, Any]:
    """Return the entry of a contract's function, for clients that encode its calls themselves."""
    return next(entry for entry in exported_abi(contract) if entry.get("name") == name and entry["type"] == "function")


def _components(types: str) -> list[Any]:
    """Return the parsed types; eth_abi's are untyped."""
    if types == "()":  # eth_abi's grammar does not have it
        return []
    parsed = parse(types)
    if not isinstance(parsed, TupleType):
        raise TypeError(f"{types!r} is not a list of types")
    return list(parsed.components)


class Values:
    """What a call returns, or the data of an event, written as in Solidity: ``Values("(address,uint256)")``."""

    def __init__(self, types: str) -> None:
        kinds = _components(types)
        self._types = [kind.to_type_str() for kind in kinds]
        self._words = [decoder for kind in kinds if (decoder := word_decoder(kind)) is not None]

    def decode(self, data: bytes) -> Sequence[Any]:
        """Return the values; raise ``BadResponseError`` if the bytes are not of these types."""
        if len(self._words) == len(self._types):
            return decoded_words(self._words, data)
        try:
            return decode(self._types, data)
        except (DecodingError, OverflowError, UnicodeDecodeError) as error:
            raise BadResponseError(f"the bytes are not {', '.join(self._types)}") from error


class Function:
    """A contract function, written as in Solidity: ``Function("balanceOf(address)", "(uint256)")``."""

    def __init__(self, signature: str, returns: str = "()") -> None:
        self.signature = signature
        self.selector = keccak(text=signature)[:4]
        self._arguments = encoder_of_all([encoder_of(kind) for kind in _components(signature[signature.index("(") :])])
        self._returned = Values(returns)

    def encode(self, *arguments: object) -> bytes:
        """Return the calldata of a call with these arguments."""
        return self.selector + self._arguments.encode(arguments)

    def decode(self, output: bytes) -> Sequence[Any]:
        """Return the values a call returned; raise ``BadResponseError`` if the bytes are not of these types."""
        return self._returned.decode(output)
