"""Token accounts are read as the token programs write them, and nothing else is taken for one."""

from dataclasses import replace

from solders.pubkey import Pubkey

from dev.solana import extensions
from sweepapi.solana.cluster import reads
from sweepapi.solana.encoding.accounts import ClusterAccount, token_account
from sweepapi.solana.encoding.addresses import SYSTEM, TOKEN, TOKEN_2022
from sweepapi.solana.encoding.responses import account
from tests.solana_cluster import SolanaCluster


def read(cluster: SolanaCluster, key: Pubkey) -> ClusterAccount:
    found = account(cluster.rpc("getAccountInfo", str(key), {"encoding": "base64"})["value"])
    assert found is not None
    return found


def test_an_account_shows_its_mint_owner_and_amount(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    mint = cluster.faucet.create_mint(6)
    key = cluster.faucet.give_tokens(wallet, mint, 1_500_000)

    found = token_account(read(cluster, key))

    assert found is not None
    assert (found.program, found.mint, found.owner, found.amount) == (TOKEN, mint, wallet, 1_500_000)
    assert (found.delegate, found.close_authority, found.is_frozen, found.is_native) == (None, None, False, False)
    assert found.is_closable


def test_an_account_with_extensions_is_read(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    mint = cluster.faucet.create_mint(9, program=TOKEN_2022, extensions=[extensions.transfer_fee(100)])
    key = cluster.faucet.give_tokens(wallet, mint, 7)

    found = token_account(read(cluster, key))

    assert found is not None
    assert (found.program, found.amount) == (TOKEN_2022, 7)
    assert not found.has_hidden_balance


def test_a_frozen_account_is_known(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    mint = cluster.faucet.create_mint(6)
    key = cluster.faucet.give_tokens(wallet, mint, 7)
    cluster.faucet.freeze(key, mint)

    found = token_account(read(cluster, key))

    assert found is not None
    assert found.is_frozen


def test_another_account_of_the_wallet_is_not_the_associated_one(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    for program in (TOKEN, TOKEN_2022):
        mint = cluster.faucet.create_mint(6, program=program)
        own, other = cluster.faucet.create_account(wallet, mint), cluster.faucet.create_other_account(wallet, mint)
        call = reads.token_accounts_of(wallet, program)

        found = call.decode(cluster.rpc(call.method, *call.params))

        assert {holding.key: holding.is_associated for holding in found} == {own: True, other: False}


def test_what_no_token_program_wrote_is_not_a_token_account(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    mint = cluster.faucet.create_mint(6)
    good = read(cluster, cluster.faucet.give_tokens(wallet, mint, 7))
    extended = replace(good, owner=TOKEN_2022, data=good.data + b"\x02" + b"\x07\0\0\0")
    others = [
        read(cluster, wallet),
        read(cluster, mint),
        replace(good, owner=SYSTEM),
        replace(good, data=good.data[:-1]),
        replace(good, data=good.data[:108] + b"\0" + good.data[109:]),  # not initialized
        replace(good, data=good.data[:72] + b"\x09" + good.data[73:]),  # a delegate that is neither there nor not
        replace(extended, owner=TOKEN),
        replace(extended, data=good.data + b"\x01"),  # a mint
        replace(extended, data=good.data + b"\x02" + b"\x02\0\xff\0"),  # an extension beyond the end
        replace(extended, data=good.data + b"\x02" + b"\x02\0\x01\0\x01"),  # an extension that is too short
        replace(extended, data=extended.data + b"\x07\0\0\0"),  # an extension that is there twice
        replace(extended, data=extended.data.ljust(355, b"\0")),  # as long as a multisig
    ]

    assert token_account(extended) is not None
    assert [token_account(other) for other in others] == [None] * len(others)


def test_an_account_that_can_not_be_closed_by_its_owner_is_known(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    good = read(cluster, cluster.faucet.give_tokens(wallet, cluster.faucet.create_mint(6), 7))
    other = b"\x01\0\0\0" + bytes(SYSTEM).replace(b"\0", b"\x05")
    withheld = good.data + b"\x02" + b"\x02\0\x08\0" + (3).to_bytes(8, "little")

    closed_by_another = token_account(replace(good, data=good.data[:129] + other))
    holding_fees = token_account(replace(good, owner=TOKEN_2022, data=withheld))
    confidential = token_account(replace(good, owner=TOKEN_2022, data=good.data + b"\x02" + b"\x05\0\0\0"))

    assert closed_by_another is not None
    assert holding_fees is not None
    assert confidential is not None
    assert not closed_by_another.is_closable
    assert holding_fees.is_closable, "once they are harvested"
    assert not confidential.is_closable
