"""The clusters file is validated while it is read, and an error names the cluster and the key."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from sweepapi.solana.cluster.clusters import load_clusters
from sweepapi.solana.encoding.errors import ClustersFileError

SHIPPED = settings.BASE_DIR / "config" / "clusters.toml"
USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"


def written(folder: Path, **changes: Any) -> Path:
    """Write a file of one cluster, with these keys changed, or left out where the value is None."""
    table = tomllib.loads(SHIPPED.read_text())["clusters"]["solana"] | {"output_tokens": []} | changes
    lines = [f"{key} = {json.dumps(value)}" for key, value in table.items() if value is not None]
    file = folder / "clusters.toml"
    file.write_text("\n".join(["[clusters.test]", *lines]))
    return file


def test_the_shipped_cluster_is_solanas_mainnet() -> None:
    cluster = load_clusters(SHIPPED)["solana"]
    # The identifier that CAIP-30 gives as its example for mainnet.
    assert cluster.network == "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp"
    assert [token.symbol for token in cluster.output_tokens] == ["USDC", "USDT", "SOL"]


def test_values_are_stated_in_one_of_the_output_tokens() -> None:
    assert load_clusters(SHIPPED)["solana"].reference_token.mint == USDC


def test_an_output_token_is_found_by_its_mint() -> None:
    cluster = load_clusters(SHIPPED)["solana"]
    usdc = cluster.output_token(USDC)
    assert usdc is not None
    assert (usdc.symbol, usdc.decimals) == ("USDC", 6)
    assert cluster.output_token("11111111111111111111111111111111") is None


REQUIRED = (
    *("genesis_hash", "swap_programs", "rent_programs", "max_priority_fee_lamports"),
    *("output_tokens", "reference_token"),
)


@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_named(tmp_path: Path, key: str) -> None:
    with pytest.raises(ClustersFileError, match=f"cluster 'test': '{key}' is missing"):
        load_clusters(written(tmp_path, **{key: None}))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("genesis_hash", "not-base58"),
        ("genesis_hash", USDC[:-4]),
        ("genesis_hash", 7),
        ("swap_programs", USDC),
        ("rent_programs", USDC),
        ("swap_programs", ["0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"]),
        ("payout_senders", [""]),
        ("output_tokens", [{"mint": "USDC", "symbol": "USDC", "decimals": 6}]),
        ("recheck_seconds", "soon"),
        ("reference_token", USDC),  # which is not among the output tokens
        ("sandbox", "false"),
        ("sandbox", 1),
        ("dont_front", "true"),
    ],
)
def test_a_wrong_value_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    file = written(tmp_path, **{key: None})
    toml = f"[[clusters.test.{key}]]\nmint = 'USDC'\nsymbol = ''\ndecimals = 6" if key == "output_tokens" else ""
    file.write_text(file.read_text() + "\n" + (toml or f"{key} = {value!r}"))
    with pytest.raises(ClustersFileError, match="cluster 'test': "):
        load_clusters(file)
