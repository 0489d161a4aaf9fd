"""Lookup tables as the cluster holds them, so that a swap API cannot say where an index leads."""

from collections.abc import Sequence

from solders.address_lookup_table_account import AddressLookupTable, AddressLookupTableAccount
from solders.message import MessageV0
from solders.pubkey import Pubkey

from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import LOOKUP_TABLE
from sweepapi.solana.encoding.errors import UnsafeSwapError

_NEVER = 2**64 - 1  # the deactivation slot of a table in use


def lookup_table(key: Pubkey, account: ClusterAccount | None) -> AddressLookupTableAccount:
    """Return the table that the cluster holds under a key; raises ``UnsafeSwapError`` unless it is one in use."""
    if account is None or account.owner != LOOKUP_TABLE:
        raise UnsafeSwapError(f"{key} is not a lookup table")
    try:
        table = AddressLookupTable.deserialize(account.data)
    except ValueError as error:
        raise UnsafeSwapError(f"the lookup table {key} is malformed") from error
    if table.meta.deactivation_slot != _NEVER:
        raise UnsafeSwapError(f"the lookup table {key} is deactivated")
    return AddressLookupTableAccount(key, table.addresses)


def writable_keys(message: MessageV0, tables: Sequence[AddressLookupTableAccount]) -> list[Pubkey]:
    """Return every account that a message can change, with those it looks up in these tables."""
    held = {table.key: table.addresses for table in tables}
    static = [key for index, key in enumerate(message.account_keys) if message.is_maybe_writable(index)]
    looked_up = [
        held[lookup.account_key][index] for lookup in message.address_table_lookups for index in lookup.writable_indexes
    ]
    return static + looked_up
