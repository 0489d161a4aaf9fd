"""Mints show what restricts a transfer of their tokens: fees, hooks and pauses."""

from dataclasses import replace
from typing import Any

import pytest

from dev.solana import extensions
from dev.solana.extensions import Extension
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN, TOKEN_2022
from sweepapi.solana.encoding.responses import account
from sweepapi.solana.tokens.mints import Mint, TransferFee, mint
from tests.solana_cluster import SolanaCluster


def read(cluster: SolanaCluster, **options: Any) -> ClusterAccount:
    key = cluster.faucet.create_mint(6, **options)
    found = account(cluster.rpc("getAccountInfo", str(key), {"encoding": "base64"})["value"])
    assert found is not None
    return found


def mint_with(cluster: SolanaCluster, *added: Extension) -> Mint:
    found = mint(read(cluster, program=TOKEN_2022, extensions=added))
    assert found is not None
    return found


def test_a_mint_shows_its_decimals_and_supply(cluster: SolanaCluster) -> None:
    assert mint(read(cluster)) == Mint(TOKEN, decimals=6, supply=0)


def test_a_mint_of_token_2022_without_extensions_restricts_nothing(cluster: SolanaCluster) -> None:
    assert mint_with(cluster) == Mint(TOKEN_2022, decimals=6, supply=0)


@pytest.mark.parametrize(
    ("extension", "shown"),
    [
        (extensions.non_transferable(), {"is_non_transferable": True}),
        (extensions.transfer_hook(TOKEN), {"transfer_hook": TOKEN}),
        (extensions.transfer_hook(SYSTEM), {"transfer_hook": None}),  # the zero key: none
    ],
)
def test_an_extension_is_known(cluster: SolanaCluster, extension: Extension, shown: dict[str, Any]) -> None:
    plain = mint_with(cluster)

    assert mint_with(cluster, extension) == replace(plain, **shown)


def test_a_fee_on_transfers_is_known(cluster: SolanaCluster) -> None:
    assert mint_with(cluster, extensions.transfer_fee(1)).transfer_tax_bps(epoch=0) == 1
    assert mint_with(cluster, extensions.transfer_fee(0)).transfer_tax_bps(epoch=0) == 0
    assert mint_with(cluster, extensions.transfer_fee(100, maximum=0)).transfer_tax_bps(epoch=0) == 0


def test_an_announced_fee_counts_from_its_epoch_on() -> None:
    fee, none = TransferFee(epoch=5, maximum=9, bps=1), TransferFee(epoch=5, maximum=9, bps=0)
    plain = Mint(TOKEN_2022, decimals=6, supply=0)

    raised, abolished = (
        replace(plain, older_fee=older, newer_fee=newer) for older, newer in ((none, fee), (fee, none))
    )
    assert [raised.transfer_tax_bps(epoch) for epoch in (4, 5)] == [0, 1]
    assert [abolished.transfer_tax_bps(epoch) for epoch in (4, 5)] == [1, 0]


def test_a_paused_mint_is_known(cluster: SolanaCluster) -> None:
    plain = read(cluster, program=TOKEN_2022)
    pausable = plain.data.ljust(165, b"\0") + b"\x01" + b"\x1a\0\x21\0" + bytes(32)

    paused, running = (mint(replace(plain, data=pausable + flag)) for flag in (b"\x01", b"\0"))

    assert paused is not None
    assert running is not None
    assert paused.is_paused
    assert not running.is_paused


def test_what_is_not_a_mint_is_refused(cluster: SolanaCluster) -> None:
    good = read(cluster, program=TOKEN_2022, extensions=[extensions.transfer_fee(1)])
    others = [
        replace(good, owner=SYSTEM),
        replace(good, owner=TOKEN),
        replace(good, data=good.data[:100]),
        replace(good, data=good.data[:-1]),
        replace(good, data=good.data[:165] + b"\x02" + good.data[166:]),  # an account
        replace(good, data=bytes(82)),  # not initialized
        replace(good, data=good.data[:166] + b"\x01\0\x10\0" + bytes(16)),  # fees that are cut off
    ]

    assert mint(good) is not None
    assert [mint(other) for other in others] == [None] * len(others)
