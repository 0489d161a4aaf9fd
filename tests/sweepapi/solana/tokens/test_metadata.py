"""Tokens' names are read from either place that holds them, cleaned, and left blank where nothing fits."""

from dataclasses import replace

from solders.pubkey import Pubkey

from dev.solana import extensions
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import METADATA, SYSTEM, TOKEN_2022
from sweepapi.solana.encoding.responses import account
from sweepapi.solana.tokens.metadata import UNNAMED, Metadata, metadata, metadata_key
from sweepapi.solana.tokens.mints import mint
from tests.solana_cluster import SolanaCluster

KEY = Pubkey.from_bytes(bytes(31) + b"\x07")


def described(symbol: bytes, name: bytes = b"Name") -> ClusterAccount:
    """Return a description as Metaplex's program writes it, with texts padded by zeros."""
    texts = b"".join(
        len(text).to_bytes(4, "little") + text for text in (name.ljust(32, b"\0"), symbol.ljust(10, b"\0"))
    )
    return ClusterAccount(5_616_720, METADATA, b"\x04" + bytes(32) + bytes(KEY) + texts + bytes(300), executable=False)


def test_the_description_of_metaplex_names_a_token() -> None:
    assert metadata(KEY, None, described(b"BONK", b"Bonk")) == Metadata("BONK", "Bonk")


def test_the_key_of_a_description_is_that_of_metaplex() -> None:
    usdc = Pubkey.from_string("EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v")
    assert str(metadata_key(usdc)) == "5x38Kp4hvdomTCnCrAny4UtMUt5rQBdB6px2K1Ui45Wq"


def test_the_extension_of_token_2022_names_a_token(cluster: SolanaCluster) -> None:
    added = [extensions.metadata_pointer(), extensions.metadata("Paper Dollar", "PUSD")]
    key = cluster.faucet.create_mint(6, program=TOKEN_2022, extensions=added)
    held = account(cluster.rpc("getAccountInfo", str(key), {"encoding": "base64"})["value"])
    assert held is not None

    assert metadata(key, mint(held), None) == Metadata("PUSD", "Paper Dollar")
    assert metadata(KEY, mint(held), None) == UNNAMED


def test_text_that_would_mislead_is_cleaned_and_shortened() -> None:
    name = "\u202eUSDC\n\x1b[2J ".encode()
    assert metadata(KEY, None, described(b"\xffUS\0DC", name)) == Metadata("\ufffdUSDC", "USDC[2J")
    long = metadata(KEY, None, described(b"x" * 500, b"y" * 500))
    assert (len(long.symbol), len(long.name)) == (32, 64)


def test_a_description_that_is_not_the_tokens_own_is_ignored() -> None:
    good = described(b"BONK")
    others = [
        None,
        replace(good, owner=SYSTEM),
        replace(good, data=b"\x06" + good.data[1:]),
        replace(good, data=good.data.replace(bytes(KEY), bytes(32))),
        replace(good, data=good.data[:40]),
        replace(good, data=b""),
    ]
    assert [metadata(KEY, None, other) for other in others] == [UNNAMED] * len(others)


def test_a_description_that_is_cut_off_gives_what_is_there() -> None:
    cut = replace(described(b"BONK"), data=described(b"BONK").data[:70])
    assert metadata(KEY, None, cut) == Metadata("", "N")
