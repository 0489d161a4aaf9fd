"""The public facts of each chain, read once from a TOML file and checked while they are read."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_utils.address import is_address, to_checksum_address

from sweepapi.evm.errors import ChainsFileError


@dataclass(frozen=True)
class Finality:
    """When a block counts as safe and as final.

    ``safe`` and ``final`` are a block tag of the chain (``"safe"``, ``"finalized"``) or a number of blocks below the
    head, for chains whose nodes know no such tags.
    """

    safe: str | int
    final: str | int
    recheck_seconds: int
    max_head_age_seconds: int | None  # None where an idle chain makes no blocks


@dataclass(frozen=True)
class Router:
    """A swap router the service routes through, with the contracts that find and price its pools."""

    name: str
    kind: str  # "uniswap_v2" | "uniswap_v3"
    address: str
    factory: str
    quoter: str
    fee_tiers: tuple[int, ...]  # hundredths of a basis point; empty for kinds with one fee


@dataclass(frozen=True)
class Chain:
    """One EVM chain as the service sees it."""

    name: str
    chain_id: int
    native_symbol: str
    wrapped_native: str
    permit2: str
    multicall3: str
    block_explorer_url: str
    protocol_recipient: str | None  # None until the chain is opened for sweeps
    v5_contract: str | None  # None until the contract is deployed there
    vetted_tokens: frozenset[str]
    finality: Finality
    routers: tuple[Router, ...]


def load_chains(path: Path) -> dict[str, Chain]:
    """Return the chains of the file by name.

    Raises ``ChainsFileError`` naming the chain and the key that is missing or of the wrong kind.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("chains", {})
    return {name: _chain(name, table) for name, table in tables.items()}


def _chain(name: str, table: Mapping[str, Any]) -> Chain:
    try:
        return Chain(
            name=name,
            chain_id=int(table["chain_id"]),
            native_symbol=str(table["native_symbol"]),
            wrapped_native=_address(table["wrapped_native"]),
            permit2=_address(table["permit2"]),
            multicall3=_address(table["multicall3"]),
            block_explorer_url=str(table.get("block_explorer_url", "")),
            protocol_recipient=_optional_address(table.get("protocol_recipient")),
            v5_contract=_optional_address(table.get("contracts", {}).get("v5")),
            vetted_tokens=frozenset(_address(token) for token in table.get("vetted_tokens", [])),
            finality=_finality(table["finality"]),
            routers=tuple(_router(router) for router in table.get("routers", [])),
        )
    except KeyError as error:
        message = f"chain {name!r}: {error.args[0]!r} is missing"
        raise ChainsFileError(message) from error
    except (TypeError, ValueError) as error:
        message = f"chain {name!r}: {error}"
        raise ChainsFileError(message) from error


def _finality(table: Mapping[str, Any]) -> Finality:
    return Finality(
        safe=_reference(table["safe"]),
        final=_reference(table["final"]),
        recheck_seconds=int(table["recheck_seconds"]),
        max_head_age_seconds=table.get("max_head_age_seconds"),
    )


def _reference(value: object) -> str | int:
    if value in ("safe", "finalized", "latest") or (isinstance(value, int) and value >= 0):
        return value
    raise ValueError(f"{value!r} is neither a block tag nor a number of blocks")


def _router(table: Mapping[str, Any]) -> Router:
    return Router(
        name=str(table["name"]),
        kind=str(table["kind"]),
        address=_address(table["address"]),
        factory=_address(table["factory"]),
        quoter=_address(table["quoter"]),
        fee_tiers=tuple(table.get("fee_tiers", [])),
    )


def _address(value: object) -> str:
    if isinstance(value, str) and is_address(value):
        address = to_checksum_address(value)
        if value in (address, address.lower()):  # any other casing is a checksum that a typing error broke
            return address
    raise ValueError(f"{value!r} is no address")


def _optional_address(value: object) -> str | None:
    return None if value is None else _address(value)
