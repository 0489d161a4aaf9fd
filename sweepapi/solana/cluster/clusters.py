"""The public facts of each Solana cluster, read from a TOML file and validated while reading."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.encoding.errors import ClustersFileError

# CAIP-30 shortens the genesis hash, so that the identifier fits CAIP-2.
_REFERENCE_CHARACTERS = 32


@dataclass(frozen=True)
class OutputToken:
    """A token that sweeps can end in; the fee wallet has an account for it."""

    mint: str
    symbol: str
    decimals: int


@dataclass(frozen=True)
class Cluster:
    """The configuration of one cluster."""

    name: str
    genesis_hash: str
    native_symbol: str
    block_explorer_url: str
    output_tokens: tuple[OutputToken, ...]
    reference_token: OutputToken  # the stablecoin in which values are stated
    swap_programs: frozenset[str]  # that the swap API's instructions may call, in addition to the token programs
    max_priority_fee_lamports: int  # for one transaction
    recheck_seconds: int  # from check to check while any block can change something
    rent_programs: frozenset[str]  # under which a route may create accounts whose rent the wallet pays
    payout_senders: tuple[str, ...]  # the wallets that pay partners what the ledger owes them
    max_head_age_seconds: int | None = None  # None if the cluster produces no blocks while idle
    sandbox: bool = False  # for test keys only
    dont_front: bool = False  # whether reference keys ask Jito's block engine that no transaction goes before ours

    @property
    def network(self) -> str:
        """The cluster's CAIP-2 identifier."""
        return f"solana:{self.genesis_hash[:_REFERENCE_CHARACTERS]}"

    def output_token(self, mint: str) -> OutputToken | None:
        """Return the output token of this mint, or None if sweeps can't end in it."""
        return next((token for token in self.output_tokens if token.mint == mint), None)


def load_clusters(path: Path) -> dict[str, Cluster]:
    """Return the clusters of the file by name.

    Raises ``ClustersFileError``, which names the cluster and the key that is missing or invalid.
    """
    tables = tomllib.loads(path.read_text(encoding="utf-8")).get("clusters", {})
    return {name: _cluster(name, table) for name, table in tables.items()}


def _cluster(name: str, table: Mapping[str, Any]) -> Cluster:
    try:
        output_tokens = tuple(_output_token(token) for token in table["output_tokens"])
        return Cluster(
            name=name,
            genesis_hash=_key(table["genesis_hash"]),
            native_symbol=str(table["native_symbol"]),
            block_explorer_url=str(table.get("block_explorer_url", "")),
            output_tokens=output_tokens,
            swap_programs=frozenset(_keys(table["swap_programs"])),
            max_priority_fee_lamports=int(table["max_priority_fee_lamports"]),
            recheck_seconds=int(table["recheck_seconds"]),
            rent_programs=frozenset(_keys(table["rent_programs"])),
            payout_senders=_keys(table.get("payout_senders", [])),
            max_head_age_seconds=table.get("max_head_age_seconds"),
            sandbox=_flag("sandbox", table),
            dont_front=_flag("dont_front", table),
            reference_token=_reference_token(_key(table["reference_token"]), output_tokens),
        )
    except KeyError as error:
        message = f"cluster {name!r}: {error.args[0]!r} is missing"
        raise ClustersFileError(message) from error
    except (TypeError, ValueError) as error:
        message = f"cluster {name!r}: {error}"
        raise ClustersFileError(message) from error


def _reference_token(mint: str, output_tokens: tuple[OutputToken, ...]) -> OutputToken:
    found = next((token for token in output_tokens if token.mint == mint), None)
    if found is None:
        raise ValueError(f"the reference token {mint} is not an output token")
    return found


def _flag(name: str, table: Mapping[str, Any]) -> bool:
    value = table.get(name, False)
    if isinstance(value, bool):
        return value
    raise TypeError(f"{name} is true or false, not {value!r}")


def _output_token(table: Mapping[str, Any]) -> OutputToken:
    return OutputToken(mint=_key(table["mint"]), symbol=str(table["symbol"]), decimals=int(table["decimals"]))


def _keys(values: object) -> tuple[str, ...]:
    if isinstance(values, list):
        return tuple(_key(value) for value in values)
    raise ValueError(f"{values!r} is not a list of keys")


def _key(value: object) -> str:
    """Return 32 bytes in base58; a genesis hash has the same form as a key."""
    try:
        return str(public_key(value))  # type: ignore[arg-type]  # what is not text raises TypeError
    except ValueError as error:
        raise ValueError(f"{value!r} is not 32 bytes in base58") from error
