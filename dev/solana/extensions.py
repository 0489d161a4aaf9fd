"""Extensions of Token-2022 mints, as the instructions that add them and the bytes that they take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from struct import pack

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey
from spl.token import models
from spl.token.constants import ACCOUNT_LEN, MINT_LEN, TOKEN_2022_PROGRAM_ID
from spl.token.instructions import initialize_transfer_fee_config

_ACCOUNT_TYPE_BYTES = 1
_ENTRY_HEADER_BYTES = 4  # type and length
_INITIALIZE_METADATA = bytes([210, 225, 30, 162, 88, 184, 77, 141])
_FROZEN = 2


@dataclass(frozen=True)
class Extension:
    """One extension of a mint."""

    value_bytes: int
    instruction: Callable[[Pubkey, Pubkey], Instruction]  # of the mint and its authority
    added_bytes: int = 0  # only for metadata: the mint grows by this when it is written, after the mint is initialized


def mint_space(extensions: Sequence[Extension]) -> int:
    """Return the bytes of a mint's account when it is created."""
    if not extensions:
        return MINT_LEN
    values = sum(_ENTRY_HEADER_BYTES + extension.value_bytes for extension in extensions if not extension.added_bytes)
    return ACCOUNT_LEN + _ACCOUNT_TYPE_BYTES + values


def transfer_fee(basis_points: int, maximum: int = 2**64 - 1) -> Extension:
    """Keep back a part of every transfer."""

    def instruction(mint: Pubkey, authority: Pubkey) -> Instruction:
        return initialize_transfer_fee_config(
            models.InitializeTransferFeeConfigParams(
                program_id=TOKEN_2022_PROGRAM_ID,
                mint=mint,
                transfer_fee_config_authority=authority,
                withdraw_withheld_authority=authority,
                transfer_fee_basis_points=basis_points,
                maximum_fee=maximum,
            )
        )

    return Extension(108, instruction)


def non_transferable() -> Extension:
    return Extension(0, lambda mint, _authority: _instruction(mint, bytes([32])))


def transfer_hook(program: Pubkey) -> Extension:
    """Have every transfer call a program."""
    return Extension(64, lambda mint, authority: _instruction(mint, bytes([36, 0]) + bytes(authority) + bytes(program)))


def frozen_by_default() -> Extension:
    """Have every new token account start frozen."""
    return Extension(1, lambda mint, _authority: _instruction(mint, bytes([28, 0, _FROZEN])))


def permanent_delegate(delegate: Pubkey) -> Extension:
    """Let a key move everyone's tokens."""
    return Extension(32, lambda mint, _authority: _instruction(mint, bytes([35]) + bytes(delegate)))


def metadata_pointer() -> Extension:
    """Say that the mint itself holds its metadata."""
    return Extension(64, lambda mint, authority: _instruction(mint, bytes([39, 0]) + bytes(authority) + bytes(mint)))


def metadata(name: str, symbol: str, uri: str = "") -> Extension:
    """Write the mint's name into the mint; needs the metadata pointer."""
    texts = b"".join(pack("<I", len(text.encode())) + text.encode() for text in (name, symbol, uri))

    def instruction(mint: Pubkey, authority: Pubkey) -> Instruction:
        accounts = [
            AccountMeta(mint, is_signer=False, is_writable=True),
            AccountMeta(authority, is_signer=False, is_writable=False),
            AccountMeta(mint, is_signer=False, is_writable=False),
            AccountMeta(authority, is_signer=True, is_writable=False),
        ]
        return Instruction(TOKEN_2022_PROGRAM_ID, _INITIALIZE_METADATA + texts, accounts)

    # Update authority, mint, the texts, and an empty list of further fields.
    size = _ENTRY_HEADER_BYTES + 32 + 32 + len(texts) + 4
    return Extension(0, instruction, added_bytes=size)


def _instruction(mint: Pubkey, data: bytes) -> Instruction:
    return Instruction(TOKEN_2022_PROGRAM_ID, data, [AccountMeta(mint, is_signer=False, is_writable=True)])
