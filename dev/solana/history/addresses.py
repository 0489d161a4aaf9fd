"""The full list of a transaction's accounts, which for v0 transactions includes those from lookup tables."""

from dataclasses import dataclass

from solders.address_lookup_table_account import LOOKUP_TABLE_META_SIZE
from solders.message import Message, MessageV0, MessageV1
from solders.pubkey import Pubkey

from dev.solana.history.balances import ReadAccount

_KEY_BYTES = 32


@dataclass(frozen=True)
class Keys:
    """The accounts of a message: those in it, then the writable and the read-only ones of its lookup tables."""

    static: list[Pubkey]
    writable: list[Pubkey]
    readonly: list[Pubkey]

    @property
    def all(self) -> list[Pubkey]:
        return [*self.static, *self.writable, *self.readonly]


def resolve(read: ReadAccount, message: Message | MessageV0 | MessageV1) -> Keys:
    """Look up the accounts; indexes that a table does not have are left out, since such a transaction cannot land."""
    writable: list[Pubkey] = []
    readonly: list[Pubkey] = []
    for lookup in message.address_table_lookups if isinstance(message, MessageV0) else ():
        table = read(lookup.account_key)
        data = table.data[LOOKUP_TABLE_META_SIZE:] if table else b""
        addresses = [Pubkey.from_bytes(data[at : at + _KEY_BYTES]) for at in range(0, len(data), _KEY_BYTES)]
        writable += [addresses[index] for index in lookup.writable_indexes if index < len(addresses)]
        readonly += [addresses[index] for index in lookup.readonly_indexes if index < len(addresses)]
    return Keys(list(message.account_keys), writable, readonly)
