"""The names of tokens, from Token-2022's metadata extension or the account that Metaplex's program keeps of a mint.

The maker of a mint wrote them, so they are cleaned, and nothing is decided by them.
"""

from dataclasses import dataclass

from solders.pubkey import Pubkey

from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import METADATA
from sweepapi.solana.tokens.mints import Mint
from sweepapi.text import clean

MAX_SYMBOL_CHARACTERS = 32
MAX_NAME_CHARACTERS = 64
_SEED = b"metadata"
_METADATA_V1 = 4  # the kind of account that Metaplex's program uses for this
_UPDATE_AUTHORITY_BYTES = 32


@dataclass(frozen=True)
class Metadata:
    """What a token calls itself; blank where nothing is known."""

    symbol: str = ""
    name: str = ""


UNNAMED = Metadata()


def metadata_key(mint: Pubkey) -> Pubkey:
    """Return the key of the account in which Metaplex's program describes a mint."""
    return Pubkey.find_program_address([_SEED, bytes(METADATA), bytes(mint)], METADATA)[0]


def metadata(key: Pubkey, mint: Mint | None, described_by: ClusterAccount | None) -> Metadata:
    """Return what is known of the mint with this key; ``described_by`` is the account at its ``metadata_key``."""
    if mint is not None and mint.metadata is not None:
        return _read(mint.metadata, key)
    if described_by is None or described_by.owner != METADATA or described_by.data[:1] != bytes([_METADATA_V1]):
        return UNNAMED
    return _read(described_by.data[1:], key)


def _read(data: bytes, mint: Pubkey) -> Metadata:
    """Return the texts of a description of this mint; both programs write authority, mint, name and symbol alike."""
    start = _UPDATE_AUTHORITY_BYTES + Pubkey.LENGTH
    if data[_UPDATE_AUTHORITY_BYTES:start] != bytes(mint):
        return UNNAMED
    name, rest = _text(data[start:])
    symbol, _ = _text(rest)
    return Metadata(clean(symbol, MAX_SYMBOL_CHARACTERS), clean(name, MAX_NAME_CHARACTERS))


def _text(data: bytes) -> tuple[str, bytes]:
    """Return the text that these bytes begin with, and the bytes that follow it."""
    end = 4 + int.from_bytes(data[:4], "little")
    return data[4:end].decode("utf-8", "replace"), data[end:]
