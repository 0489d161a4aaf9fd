"""Instructions of any program, byte by byte."""

from solders.instruction import AccountMeta, Instruction
from solders.pubkey import Pubkey


def writable(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=False, is_writable=True)


def readonly(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=False, is_writable=False)


def signing(key: Pubkey) -> AccountMeta:
    return AccountMeta(key, is_signer=True, is_writable=False)


def call(program: Pubkey, data: bytes, changed: list[Pubkey], read: list[Pubkey], signer: Pubkey) -> Instruction:
    """Return an instruction whose accounts are these, in this order; the signer comes last."""
    return Instruction(program, data, [*map(writable, changed), *map(readonly, read), signing(signer)])
