"""Tokens as the cluster describes them: their mints with their names, from one read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.tokens.metadata import Metadata, metadata, metadata_key
from sweepapi.solana.tokens.mints import Mint, mint


@dataclass(frozen=True)
class Tokens:
    """Tokens by the key of their mint."""

    mints: Mapping[Pubkey, Mint | None]  # None for what is not a mint
    names: Mapping[Pubkey, Metadata]


def token_keys(mints: Sequence[Pubkey]) -> list[Pubkey]:
    """Return the keys of the accounts that describe these mints, for ``tokens_in``."""
    return [*mints, *map(metadata_key, mints)]


def tokens_in(accounts: Mapping[Pubkey, ClusterAccount | None], mints: Sequence[Pubkey]) -> Tokens:
    """Return what these accounts say about the mints."""
    found = {key: None if (account := accounts[key]) is None else mint(account) for key in mints}
    return Tokens(found, {key: metadata(key, found[key], accounts[metadata_key(key)]) for key in mints})
