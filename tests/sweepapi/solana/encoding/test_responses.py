"""Decoders take what the cluster's methods return, and refuse what they can't return."""

import base64
from collections.abc import Callable
from time import time
from typing import Any

import pytest

from sweepapi.rpc import Call
from sweepapi.rpc.calls import read
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.cluster import reads
from sweepapi.solana.cluster.providers import solana_pool
from sweepapi.solana.encoding import responses
from sweepapi.solana.encoding.addresses import SYSTEM, SYSVAR, TOKEN, TOKEN_2022
from sweepapi.solana.landed.history import head_calls
from tests.solana_cluster import SolanaCluster

SOME = {"lamports": 5, "owner": str(TOKEN), "data": ["AQI=", "base64"], "executable": False, "rentEpoch": 2**64 - 1}


def ask(cluster: SolanaCluster, call: Call) -> Any:
    return call.decode(cluster.rpc(call.method, *call.params))


def in_context(value: object) -> dict[str, object]:
    return {"context": {"slot": 7}, "value": value}


def test_accounts_are_read_in_parts_and_missing_ones_are_none(cluster: SolanaCluster) -> None:
    wallets = [cluster.create_wallet(lamports).pubkey() for lamports in (10**9, 0, *[10**8] * 118)]
    calls = reads.multiple_accounts(wallets)

    found = reads.by_key(wallets, [ask(cluster, call) for call in calls])

    assert len(calls) == 2
    assert [account and account.lamports for account in found.values()] == [10**9, None, *[10**8] * 118]


def test_token_accounts_of_a_wallet_are_read_by_key(cluster: SolanaCluster) -> None:
    wallet = cluster.create_wallet().pubkey()
    keys = {cluster.faucet.give_tokens(wallet, cluster.faucet.create_mint(6), 5) for _ in range(3)}

    assert {holding.key for holding in ask(cluster, reads.token_accounts_of(wallet, TOKEN))} == keys


def test_token_accounts_of_another_wallet_are_refused(cluster: SolanaCluster) -> None:
    wallet, other = cluster.create_wallet().pubkey(), cluster.create_wallet().pubkey()
    cluster.faucet.give_tokens(wallet, cluster.usdc, 5)
    call = reads.token_accounts_of(wallet, TOKEN)

    response = cluster.rpc(call.method, *call.params)

    assert responses.holdings(wallet, TOKEN)(response)
    for asked_for in ((other, TOKEN), (wallet, TOKEN_2022)):
        with pytest.raises(BadResponseError):
            responses.holdings(*asked_for)(response)


def test_the_state_of_the_cluster_is_read(cluster: SolanaCluster) -> None:
    latest = cluster.bank.blocks.latest

    assert ask(cluster, reads.LATEST_BLOCKHASH).blockhash == latest.blockhash
    assert ask(cluster, reads.LATEST_BLOCKHASH).last_valid_block_height == latest.last_valid_height
    assert ask(cluster, reads.EPOCH_INFO).block_height == latest.height
    assert ask(cluster, reads.CLOCK).slot == latest.slot
    assert abs(ask(cluster, reads.CLOCK).unix_timestamp - time()) < 60
    assert ask(cluster, reads.rent_of(165)) == cluster.bank.svm.minimum_balance_for_rent_exemption(165)


@pytest.mark.parametrize("slot_seconds", [0.21, 0.4])
def test_the_time_of_a_slot_is_that_of_the_last_minute(cluster: SolanaCluster, slot_seconds: float) -> None:
    cluster.bank.slot_seconds = slot_seconds
    assert ask(cluster, reads.SLOT_SECONDS) == pytest.approx(slot_seconds, rel=0.01)


@pytest.mark.parametrize(
    ("samples", "seconds"),
    [
        ([], responses.PLANNED_SLOT_SECONDS),
        ([{"samplePeriodSecs": 60, "numSlots": 240}, {"samplePeriodSecs": 60, "numSlots": 150}], 0.25),
        ([{"samplePeriodSecs": 60, "numSlots": 0}], 2.0),
        ([{"samplePeriodSecs": 60, "numSlots": 1}], 2.0),
        ([{"samplePeriodSecs": 1, "numSlots": 1}] * 60, responses.PLANNED_SLOT_SECONDS),
        ([{"samplePeriodSecs": 60, "numSlots": 2**40 - 1}], 0.02),
    ],
    ids=["no minute yet", "the newest counts", "no slot", "one slot", "a second", "any number of slots"],
)
def test_no_provider_makes_a_slot_take_no_time_or_forever(samples: list[dict[str, int]], seconds: float) -> None:
    assert responses.slot_seconds(samples) == seconds


def test_a_provider_that_does_not_measure_slots_is_still_used() -> None:
    refused = {"error": {"code": -32601, "message": "Method not found"}}
    assert read(reads.SLOT_SECONDS, refused) == responses.PLANNED_SLOT_SECONDS


def test_a_provider_is_ranked_by_the_slot_that_it_shows(cluster: SolanaCluster) -> None:
    for calls in (head_calls(), [reads.EPOCH_INFO], [reads.CLOCK]):
        pool = solana_pool(urls=[cluster.url], cluster=cluster.facts(), timeout_seconds=5)
        provider, _ = pool.ask(calls)
        assert provider.health.head is not None
        assert provider.health.head.number == cluster.bank.blocks.latest.slot


@pytest.mark.parametrize(
    "change",
    [
        {"lamports": -1},
        {"lamports": 2**64},
        {"lamports": True},
        {"lamports": "5"},
        {"lamports": 5.0},
        {"owner": "not a key"},
        {"owner": None},
        {"owner": str(TOKEN)[:-3]},
        {"data": "AQI="},
        {"data": ["AQI=", "base58"]},
        {"data": ["AQI=", "base64", "more"]},
        {"data": ["A*I=", "base64"]},
        {"data": ["AQI", "base64"]},
        {"data": ["Ä", "base64"]},
        {"data": [5, "base64"]},
        {"executable": 0},
    ],
)
def test_an_impossible_account_is_refused(change: dict[str, object]) -> None:
    assert responses.account(SOME) is not None
    with pytest.raises(BadResponseError):
        responses.account({**SOME, **change})


HASH = str(SYSTEM)
REFUSED: list[tuple[Callable[[Any], Any], object]] = [
    (responses.account, []),
    (responses.accounts(2), in_context([None])),
    (responses.accounts(1), in_context(None)),
    (responses.accounts(1), [None]),
    (responses.accounts(1), {"context": {}, "value": [None]}),
    (responses.holdings(SYSTEM, TOKEN), in_context([{"pubkey": str(TOKEN), "account": None}])),
    (responses.holdings(SYSTEM, TOKEN), in_context([{"pubkey": str(TOKEN), "account": SOME}])),
    (responses.holdings(SYSTEM, TOKEN), in_context([None])),
    (responses.latest_blockhash, in_context({"blockhash": HASH})),
    (responses.latest_blockhash, in_context({"blockhash": "x", "lastValidBlockHeight": 1})),
    (responses.latest_blockhash, in_context({"blockhash": HASH, "lastValidBlockHeight": 2**40})),
    (responses.epoch_info, {"epoch": 1, "absoluteSlot": 2}),
    (responses.clock, in_context(None)),
    (responses.clock, in_context(SOME)),
    (responses.clock, in_context({**SOME, "owner": str(SYSVAR)})),
    (
        responses.clock,
        in_context({**SOME, "owner": str(SYSVAR), "data": [base64.b64encode(b"\xff" * 40).decode(), "base64"]}),
    ),
    (responses.counter, None),
    (responses.counter, -1),
    (responses.amount, 2**64),
]


@pytest.mark.parametrize(("decode", "value"), REFUSED)
def test_an_impossible_response_is_refused(decode: Callable[[Any], Any], value: object) -> None:
    with pytest.raises(BadResponseError):
        decode(value)


def test_bytes_are_decoded() -> None:
    found = responses.account({**SOME, "data": [base64.b64encode(b"sol").decode(), "base64"]})

    assert found is not None
    assert found.data == b"sol"
