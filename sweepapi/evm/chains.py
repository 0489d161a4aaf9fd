"""The public facts of each chain, read from a TOML file and validated while reading."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eth_utils.address import is_address, to_checksum_address

from sweepapi.evm.addresses import ZERO_ADDRESS
from sweepapi.evm.errors import ChainsFileError


@dataclass(frozen=True)
class Finality:
    """When a block counts as safe and as final.

    ``safe`` and ``final`` are a block tag of the chain (``"safe"``, ``"finalized"``) or, for chains whose nodes do not
    support such tags, a number of blocks below the head.
    """

    safe: str | int
    final: str | int
    recheck_seconds: int
    max_head_age_seconds: int | None  # None if the chain produces no blocks while idle


@dataclass(frozen=True)
class Router:
    """A swap router the service routes through, with the contracts that find and price its pools."""

    name: str
    kind: str  # "uniswap_v2" | "uniswap_v3"
    address: str
    factory: str
    quoter: str
    fee_tiers: tuple[int, ...]  # in hundredths of a basis point; empty for kinds with a single fee


@dataclass(frozen=True)
class Chain:
    """The configuration of one EVM chain."""

    name: str
    chain_id: int
    native_symbol: str
    wrapped_native: str
    permit2: str
    multicall3: str
    block_explorer_url: str
    protocol_recipient: str | None  # None until the contracts are configured
    v4_fee_bps: int | None  # as above; the V4 contract's fixed fee, paid to the protocol's recipient
    payout_senders: tuple[str, ...]  # the wallets that pay partners what the ledger owes them; empty until then
    role_holders: Mapping[str, tuple[str, ...]]  # by role names of contracts/roles.json; empty until then
    v5_contract: str | None  # None until the contracts are deployed
    v4_contract: str | None  # as above
    access_manager: str | None  # as above
    deployed_at_block: int | None  # as above; not after the block of the first of these contracts
    previous_fee_signer: str | None  # whose signatures may still be valid; set only during a rotation
    vetted_tokens: frozenset[str]
    finality: Finality
    routers: tuple[Router, ...]

    @property
    def network(self) -> str:
        """The chain's CAIP-2 identifier."""
        return f"eip155:{self.chain_id}"


def load_chains(path: Path) -> dict[str, Chain]:
    """Return the chains of the file by name.

    Raises ``ChainsFileError``, which names the chain and the key that is missing or invalid.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("chains", {})
    return {name: _chain(name, table) for name, table in tables.items()}


def _chain(name: str, table: Mapping[str, Any]) -> Chain:
    recipient = table.get("protocol_recipient")
    try:
        return Chain(
            name=name,
            chain_id=int(table["chain_id"]),
            native_symbol=str(table["native_symbol"]),
            wrapped_native=_address(table["wrapped_native"]),
            permit2=_address(table["permit2"]),
            multicall3=_address(table["multicall3"]),
            block_explorer_url=str(table.get("block_explorer_url", "")),
            protocol_recipient=_optional_address(recipient),
            v4_fee_bps=None if "v4_fee_bps" not in table else int(table["v4_fee_bps"]),
            payout_senders=_addresses(table.get("payout_senders", [] if recipient is None else [recipient])),
            role_holders={name: _addresses(holders) for name, holders in table.get("roles", {}).items()},
            **_contracts(table.get("contracts")),
            previous_fee_signer=_optional_address(table.get("previous_fee_signer")),
            vetted_tokens=frozenset(_addresses(table.get("vetted_tokens", []))),
            finality=_finality(table["finality"]),
            routers=tuple(_router(router) for router in table.get("routers", [])),
        )
    except KeyError as error:
        message = f"chain {name!r}: {error.args[0]!r} is missing"
        raise ChainsFileError(message) from error
    except (TypeError, ValueError) as error:
        message = f"chain {name!r}: {error}"
        raise ChainsFileError(message) from error


def _contracts(table: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the addresses of all contracts or of none: they are deployed and checked together."""
    if table is None:
        return {"v5_contract": None, "v4_contract": None, "access_manager": None, "deployed_at_block": None}
    return {
        "v5_contract": _address(table["v5"]),
        "v4_contract": _address(table["v4"]),
        "access_manager": _address(table["access_manager"]),
        "deployed_at_block": int(table["deployed_at_block"]),
    }


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
        # A mixed casing that is not the checksum is a typing error; the zero address is never intended.
        if value in (address, address.lower()) and address != ZERO_ADDRESS:
            return address
    raise ValueError(f"{value!r} is not an address")


def _addresses(values: object) -> tuple[str, ...]:
    if isinstance(values, list):
        return tuple(_address(value) for value in values)
    raise ValueError(f"{values!r} is not a list of addresses")


def _optional_address(value: object) -> str | None:
    return None if value is None else _address(value)
