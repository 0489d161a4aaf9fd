"""Lookup tables are read from the cluster, and a forged one is refused."""

from struct import pack

import pytest
from solders.address_lookup_table_account import AddressLookupTableAccount
from solders.hash import Hash
from solders.instruction import AccountMeta, Instruction
from solders.message import MessageV0
from solders.pubkey import Pubkey

from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.encoding.addresses import LOOKUP_TABLE, SYSTEM
from sweepapi.solana.encoding.errors import UnsafeSwapError
from sweepapi.solana.packing.lookup_tables import lookup_table, writable_keys
from tests.solana_cluster import SolanaCluster

KEY, FIRST, SECOND, THIRD = (Pubkey.new_unique() for _ in range(4))
NEVER = 2**64 - 1


def table_data(*, state: int = 1, deactivation_slot: int = NEVER) -> bytes:
    head = pack("<IQQBB32sH", state, deactivation_slot, 0, 0, 1, bytes(KEY), 0)
    return head + bytes(FIRST) + bytes(SECOND)


def test_a_table_is_read_from_the_cluster(cluster: SolanaCluster) -> None:
    key = cluster.faucet.create_lookup_table([FIRST, SECOND])
    [call] = reads.multiple_accounts([key])
    [account] = call.decode(cluster.rpc(call.method, *call.params))

    assert lookup_table(key, account) == AddressLookupTableAccount(key, [FIRST, SECOND])


@pytest.mark.parametrize(
    ("account", "reason"),
    [
        (None, "is not a lookup table"),
        (ClusterAccount(1, SYSTEM, table_data(), executable=False), "is not a lookup table"),
        (ClusterAccount(1, KEY, table_data(), executable=False), "is not a lookup table"),
        (ClusterAccount(1, LOOKUP_TABLE, b"", executable=False), "is malformed"),
        (ClusterAccount(1, LOOKUP_TABLE, table_data(state=0), executable=False), "is malformed"),
        (ClusterAccount(1, LOOKUP_TABLE, table_data(state=2), executable=False), "is malformed"),
        (ClusterAccount(1, LOOKUP_TABLE, table_data()[:-1], executable=False), "is malformed"),
        (ClusterAccount(1, LOOKUP_TABLE, table_data(deactivation_slot=7), executable=False), "is deactivated"),
    ],
    ids=["missing", "a wallet", "of another program", "empty", "unused", "unknown state", "cut off", "deactivated"],
)
def test_what_is_not_a_table_in_use_is_refused(account: ClusterAccount | None, reason: str) -> None:
    with pytest.raises(UnsafeSwapError, match=f"{KEY} {reason}"):
        lookup_table(KEY, account)


def test_writable_accounts_include_those_that_a_message_checks_up() -> None:
    payer, program, readonly = (Pubkey.new_unique() for _ in range(3))
    table = AddressLookupTableAccount(KEY, [THIRD, readonly, FIRST, *(Pubkey.new_unique() for _ in range(3))])
    accounts = [AccountMeta(key, is_signer=False, is_writable=True) for key in (FIRST, SECOND, THIRD)]
    accounts += [AccountMeta(readonly, is_signer=False, is_writable=False)]
    message = MessageV0.try_compile(payer, [Instruction(program, b"", accounts)], [table], Hash.default())

    assert len(message.account_keys) == 3
    assert sorted(map(str, writable_keys(message, [table]))) == sorted(map(str, (payer, FIRST, SECOND, THIRD)))
