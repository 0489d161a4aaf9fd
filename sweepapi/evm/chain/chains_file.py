"""Reads the public facts of each chain from a TOML file and validates them."""

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eth_utils.address import is_address, to_checksum_address

from sweepapi.evm.chain.chains import POOL_KINDS, Chain, FinalityRule, HoldingsSource, Router, SaltRule, Venue
from sweepapi.evm.chain.errors import ChainsFileError
from sweepapi.evm.chain.fee_models.costs import FeeModel
from sweepapi.evm.chain.fee_models.names import FEE_MODELS
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.addresses import ZERO_ADDRESS

_HASH = re.compile(r"0x[0-9a-f]{64}")
_VENUE_IDS, _FEES_BPS, _FEE_TIERS = range(1, 2**16), range(10_000), range(1, 2**24)
# Of chains that name none: those that need no other service.
HOLDINGS_SOURCES = [HoldingsSource.CANDIDATES, HoldingsSource.TOKEN_LIST, HoldingsSource.TRANSFER_LOGS]


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
            sandbox=_sandbox(table.get("sandbox", False)),
            chain_id=int(table["chain_id"]),
            genesis_hash=_optional_hash(table.get("genesis_hash")),
            native_symbol=str(table["native_symbol"]),
            wrapped_native=_address(table["wrapped_native"]),
            reference_token=_reference_token(table),
            tokens=_tokens(table.get("tokens", {})),
            sandbox_tokens=_sandbox_tokens(table),
            holdings_sources=_holdings_sources(table.get("holdings_sources", HOLDINGS_SOURCES)),
            connectors=_connectors(table),
            fee_model=_fee_model(table["fee_model"]),
            permit2=_address(table["permit2"]),
            multicall3=_address(table["multicall3"]),
            block_explorer_url=str(table.get("block_explorer_url", "")),
            protocol_recipient=_optional_address(recipient),
            v4_fee_bps=None if "v4_fee_bps" not in table else int(table["v4_fee_bps"]),
            payout_senders=_addresses(table.get("payout_senders", [] if recipient is None else [recipient])),
            role_holders={name: _addresses(holders) for name, holders in table.get("roles", {}).items()},
            change_signers=_addresses(table.get("change_signers", [])),
            **_contracts(table.get("contracts")),
            previous_fee_signer=_optional_address(table.get("previous_fee_signer")),
            finality=_finality(table["finality"]),
            venues=_venues(table.get("venues", [])),
            routers=tuple(_router(router) for router in table.get("routers", [])),
        )
    except KeyError as error:
        message = f"chain {name!r}: {error.args[0]!r} is missing"
        raise ChainsFileError(message) from error
    except (TypeError, ValueError) as error:
        message = f"chain {name!r}: {error}"
        raise ChainsFileError(message) from error


def _sandbox(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"sandbox is true or false, not {value!r}")


def _fee_model(name: object) -> FeeModel:
    model = FEE_MODELS.get(str(name))
    if model is None:
        raise ValueError(f"{name!r} is not a fee model: {', '.join(FEE_MODELS)}")
    return model


def _reference_token(table: Mapping[str, Any]) -> str:
    token = _address(table["reference_token"])
    if token == _address(table["wrapped_native"]):
        raise ValueError("the reference token must be a stablecoin, not the wrapped coin")
    return token


def _tokens(table: Mapping[str, Any]) -> dict[str, str]:
    tokens = {str(symbol): _address(token) for symbol, token in table.items()}
    if len(set(tokens.values())) < len(tokens):
        raise ValueError("a token is listed twice")
    return tokens


def _sandbox_tokens(table: Mapping[str, Any]) -> dict[str, str]:
    tokens = _tokens(table.get("sandbox_tokens", {}))
    if tokens and not table.get("sandbox"):
        raise ValueError("only a chain with sandbox = true has sandbox_tokens")
    return tokens


def _holdings_sources(names: object) -> tuple[HoldingsSource, ...]:
    known = ", ".join(HoldingsSource)
    if not isinstance(names, list):
        raise TypeError(f"holdings_sources is a list of {known}, not {names!r}")
    for name in names:
        if name not in tuple(HoldingsSource):
            raise ValueError(f"{name!r} is not a source of holdings: they are {known}")
    if len(set(names)) < len(names):
        raise ValueError("holdings_sources names a source twice")
    if HoldingsSource.CANDIDATES not in names:
        raise ValueError("holdings_sources lacks candidates, which requests may name")
    return tuple(map(HoldingsSource, names))


def _connectors(table: Mapping[str, Any]) -> tuple[str, ...]:
    tokens = _addresses(table.get("connectors", []))
    if _address(table["wrapped_native"]) in tokens or len(set(tokens)) < len(tokens):
        raise ValueError("the connectors must be different tokens, and not the wrapped coin")
    return tokens


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


def _finality(table: Mapping[str, Any]) -> FinalityRule:
    return FinalityRule(
        safe=_reference(table["safe"]),
        final=_reference(table["final"]),
        recheck_seconds=int(table["recheck_seconds"]),
        max_head_age_seconds=table.get("max_head_age_seconds"),
    )


def _reference(value: object) -> str | int:
    if value in ("safe", "finalized", "latest") or (isinstance(value, int) and value >= 0):
        return value
    raise ValueError(f"{value!r} is neither a block tag nor a number of blocks")


def _venues(tables: list[Mapping[str, Any]]) -> tuple[Venue, ...]:
    venues = tuple(_venue(table) for table in tables)
    if len({venue.id for venue in venues}) < len(venues):
        raise ValueError("two venues have the same id")
    return venues


def _venue(given: Mapping[str, Any]) -> Venue:
    kind, factory = str(given["kind"]), _address(given["factory"])
    original = POOL_KINDS.get(kind)
    if original is None:
        raise ValueError(f"{kind!r} is not a kind of venue")
    table = {"deployer": factory, "fee_bps": original.fee_bps, "callback": original.callback, **given}
    venue = Venue(
        name=str(table["name"]),
        id=_integer(table["id"], _VENUE_IDS),
        kind=kind,
        factory=factory,
        deployer=_address(table["deployer"]),
        salt_rule=original.salt_rule,
        fee_bps=_integer(table["fee_bps"], _FEES_BPS),
        callback=Function(table["callback"]).selector,
        init_code_hash=_init_code_hash(table["init_code_hash"]),
        quoter=_address(table["quoter"]),
        fee_tiers=_fee_tiers(table),
    )
    if bool(venue.fee_tiers) != (venue.salt_rule is SaltRule.PAIR_AND_FEE):
        raise ValueError(f"venue {venue.name!r} needs fee tiers if, and only if, its pools' addresses have a fee")
    return venue


def _init_code_hash(value: object) -> str:
    if isinstance(value, str) and _HASH.fullmatch(value):
        return value
    raise ValueError(f"{value!r} is not the hash of a creation code")


def _router(table: Mapping[str, Any]) -> Router:
    return Router(
        name=str(table["name"]),
        kind=str(table["kind"]),
        address=_address(table["address"]),
        factory=_address(table["factory"]),
        quoter=_address(table["quoter"]),
        fee_tiers=_fee_tiers(table),
    )


def _fee_tiers(table: Mapping[str, Any]) -> tuple[int, ...]:
    return tuple(_integer(tier, _FEE_TIERS) for tier in table.get("fee_tiers", []))


def _integer(value: object, allowed: range) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value in allowed:
        return value
    raise ValueError(f"{value!r} is not from {allowed.start} to {allowed.stop - 1}")


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


def _optional_hash(value: object) -> str | None:
    if value is None or (isinstance(value, str) and _HASH.fullmatch(value)):
        return value
    raise ValueError(f"{value!r} is not the hash of a block")


def _optional_address(value: object) -> str | None:
    return None if value is None else _address(value)
