"""Requested cancellations reach the chain: signed once, stored, sent until they are mined, never twice."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
import requests
from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from eth_account import Account

from dev.processes.waiting import wait_until
from indexer import checks, jobs
from indexer.claims import MESSAGE_GRACE
from indexer.jobs import send_cancellations
from indexer.runner import Job
from sweepapi import networks
from sweepapi.evm.chain.sending import GWEI, BroadcastResult, OutgoingTransaction, SignedTransaction, send_all
from sweepapi.evm.contracts.v5 import IS_NONCE_USED
from sweepapi.evm.signers import LocalFeeSigner, SignerSettings
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweeps.models import EventKind, Sweep, SweepEvent
from sweeps.rails.evm_v5 import cancelling
from sweeps.rails.evm_v5.models import Cancellation, CancellationTransaction
from sweeps.store.reading import lock_one
from sweeps.story.withdrawal import cancel_on_chain, void
from tests import fake_web3signer
from tests.factories.sweeps import SweepFactory
from tests.fake_node import FakeNode
from tests.local_chain import SAFE_AFTER
from tests.operator_browser import ConsoleClient, reverse
from tests.partner_app import PartnerApp, error_of
from tests.running_loop import running

pytestmark = pytest.mark.django_db

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


@pytest.fixture
def signer(app: PartnerApp) -> str:
    """The fee signer's address; it has coins, and has never sent a transaction."""
    address = networks.current().fee_signer.address
    app.chain.give_coins(address)
    assert app.chain.web3.eth.get_transaction_count(address) == 0  # type: ignore[arg-type]
    return address


def requested(app: PartnerApp, built: dict[str, Any] | None = None) -> Cancellation:
    """Void a sweep, by default a new one, with a request to cancel it on chain; return the request."""
    sweep_id = UUID((built or app.build())["sweepId"])
    void(sweep_id=sweep_id, reason="stolen key", requested_by="ops", cancels=True)
    return Cancellation.objects.get(execution__sweep=sweep_id)


def requested_while_pending(app: PartnerApp, built: dict[str, Any] | None = None) -> Cancellation:
    """Request to cancel a sweep on chain without voiding it; return the request."""
    sweep_id = UUID((built or app.build())["sweepId"])
    assert cancel_on_chain(sweep_id=sweep_id, reason="stolen key", requested_by="ops")
    return Cancellation.objects.get(execution__sweep=sweep_id)


def send_and_mine(app: PartnerApp) -> None:
    """Run a round and mine the transactions that it sent."""
    send_cancellations()
    app.chain.mine()


def sent(**which: Any) -> list[CancellationTransaction]:
    return list(CancellationTransaction.objects.filter(**which).order_by("account_nonce", "attempt"))


def error(cancellation: Cancellation) -> str:
    cancellation.refresh_from_db()
    return cancellation.last_error


def settled(cancellation: Cancellation) -> tuple[str, bool]:
    """Have the worker check the sweep once a cancellation would be safe."""
    Sweep.objects.update(next_check_at=timezone.now() - MESSAGE_GRACE)
    checks.check_due()
    sweep = Sweep.objects.get(executions=cancellation.execution_id)
    return sweep.status, sweep.is_open


def is_used(app: PartnerApp, cancellation: Cancellation) -> bool:
    """Whether the contract says that the nonce is used."""
    data = "0x" + IS_NONCE_USED.encode(int(cancellation.execution.execution_id)).hex()
    return int(app.chain.rpc("eth_call", {"to": app.chain.contracts["v5"], "data": data}, "latest"), 16) == 1


# --- from the request to the chain ------------------------------------------------------------------------------------


def test_a_requested_cancellation_is_sent_by_the_fee_signer_and_closes_the_sweep(app: PartnerApp, signer: str) -> None:
    cancellation = requested(app)
    send_and_mine(app)
    (row,) = sent()
    receipt = app.chain.receipt(row.tx_hash)
    assert (receipt["status"], receipt["from"], receipt["to"]) == (1, signer, app.chain.contracts["v5"])
    assert (row.account, row.account_nonce, row.attempt) == (signer, 0, 0)
    assert receipt["gasUsed"] <= row.gas <= 2 * receipt["gasUsed"]
    app.chain.mine(SAFE_AFTER)
    assert settled(cancellation) == ("void", False)
    assert Sweep.objects.get().void_reason == f"stolen key; cancelled on chain by {signer}"


def test_a_cancellation_works_while_the_contract_is_paused(app: PartnerApp, signer: str) -> None:
    cancellation = requested(app)
    app.chain.pause()
    send_and_mine(app)
    assert is_used(app, cancellation)
    assert sent(account=signer)[0].cancellation == cancellation


@pytest.mark.usefixtures("signer")
def test_later_rounds_send_nothing(app: PartnerApp, round_trips: list[list[str]]) -> None:
    cancellation = requested(app)
    send_and_mine(app)
    round_trips.clear()
    send_cancellations()
    assert (len(round_trips), len(sent()), error(cancellation)) == (1, 1, "")
    app.chain.mine(SAFE_AFTER)
    settled(cancellation)
    round_trips.clear()
    send_cancellations()
    assert round_trips == [], "the sweep is closed"


def test_without_a_request_the_chain_is_not_queried(app: PartnerApp, round_trips: list[list[str]]) -> None:
    void(sweep_id=UUID(app.build()["sweepId"]), reason="why", requested_by="ops")
    round_trips.clear()
    send_cancellations()
    assert round_trips == []


@pytest.mark.usefixtures("signer")
def test_several_are_sent_in_one_round_trip_with_nonces_in_sequence(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    cancellations = [requested(app) for _ in range(3)]
    with app.chain.mining_paused():
        round_trips.clear()
        send_cancellations()
        assert round_trips[1:] == [["eth_sendRawTransaction"] * 3]
        assert [(row.cancellation, row.account_nonce) for row in sent()] == [
            (one, i) for i, one in enumerate(cancellations)
        ]
        app.chain.mine()
    assert all(is_used(app, one) for one in cancellations)


@pytest.mark.parametrize("request_one", [requested, requested_while_pending])
def test_the_sweep_is_checked_often_until_it_is_closed(
    app: PartnerApp, request_one: Callable[[PartnerApp], Cancellation]
) -> None:
    cancellation = request_one(app)
    for _ in range(2):
        sweep = Sweep.objects.get()
        assert sweep.next_check_at is not None
        assert sweep.next_check_at - timezone.now() < timedelta(seconds=30)
        settled(cancellation)


@pytest.mark.usefixtures("signer")
def test_more_cancellations_than_fit_a_batch_take_several_rounds(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cancelling, "MAX_AT_ONCE", 2)
    cancellations = [requested(app) for _ in range(3)]
    with app.chain.mining_paused():
        send_cancellations()
        assert [(row.cancellation, row.account_nonce) for row in sent()] == [
            (one, i) for i, one in enumerate(cancellations)
        ]
        app.chain.mine()
        assert [is_used(app, one) for one in cancellations] == [True, True, False]
        send_cancellations()
        app.chain.mine()
    assert is_used(app, cancellations[2])
    assert len(sent()) == 3


@pytest.mark.usefixtures("signer")
def test_a_request_on_a_network_missing_from_the_chains_file_delays_no_others(app: PartnerApp) -> None:
    cancelling.request(lock_one(SweepFactory.create(network="eip155:999").id))
    known = requested(app)
    send_and_mine(app)
    assert is_used(app, known)
    assert [row.cancellation for row in sent()] == [known]


# --- crashes, reorganisations, and workers at once --------------------------------------------------------------------


@pytest.mark.usefixtures("signer")
def test_a_crash_between_storing_and_sending_leads_to_the_same_transaction(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = requested(app)
    with monkeypatch.context() as crash:

        def die(**_what: object) -> None:
            raise KeyboardInterrupt

        crash.setattr(cancelling, "send_all", die)
        with pytest.raises(KeyboardInterrupt):
            send_cancellations()
    (stored,) = sent()
    assert not is_used(app, cancellation)
    send_and_mine(app)
    assert sent() == [stored]
    assert app.chain.receipt(stored.tx_hash)["status"] == 1


@pytest.mark.usefixtures("signer")
def test_a_pending_transaction_is_sent_again_byte_for_byte(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    cancellation = requested(app)
    receptions: list[tuple[bytes, BroadcastResult]] = []

    def noted(*, pool: ProviderPool, raws: Sequence[bytes]) -> list[BroadcastResult]:
        received = send_all(pool=pool, raws=raws)
        receptions.extend(zip(raws, received, strict=True))
        return received

    monkeypatch.setattr(cancelling, "send_all", noted)
    with app.chain.mining_paused():
        send_cancellations()
        send_cancellations()
    raw = bytes(sent()[0].raw)
    assert receptions == [(raw, BroadcastResult.ACCEPTED), (raw, BroadcastResult.ALREADY_KNOWN)]
    assert (len(sent()), error(cancellation)) == (1, "")


@pytest.mark.usefixtures("signer")
def test_a_cancellation_that_left_the_chain_is_sent_again(app: PartnerApp) -> None:
    cancellation = requested(app)
    before = app.chain.rpc("evm_snapshot")
    send_and_mine(app)
    assert is_used(app, cancellation)
    app.chain.roll_back(before)
    send_and_mine(app)
    assert is_used(app, cancellation)
    assert len(sent()) == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("signer")
def test_parallel_workers_sign_one_transaction_per_cancellation(app: PartnerApp) -> None:
    for _ in range(3):
        requested(app)

    def run(_number: int) -> None:
        try:
            send_cancellations()
        finally:
            connection.close()

    with app.chain.mining_paused(), ThreadPoolExecutor(6) as threads:
        list(threads.map(run, range(6)))
        assert [(row.account_nonce, row.attempt) for row in sent()] == [(0, 0), (1, 0), (2, 0)]
        assert len({row.cancellation_id for row in sent()}) == 3


def test_a_signed_transaction_is_never_changed(app: PartnerApp, signer: str) -> None:
    requested(app)
    send_and_mine(app)
    with pytest.raises(IntegrityError), transaction.atomic():
        sent(account=signer)[0].save()
    with pytest.raises(IntegrityError), transaction.atomic():
        sent()[0].delete()


@pytest.mark.usefixtures("signer")
def test_what_another_worker_stores_while_this_one_signs_is_not_stored_twice(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = requested(app)
    sign, rivals = LocalFeeSigner.sign_transaction, [send_cancellations]

    def sign_late(signer: LocalFeeSigner, unsigned: OutgoingTransaction) -> SignedTransaction:
        if rivals:
            rivals.pop()()
        return sign(signer, unsigned)

    monkeypatch.setattr(LocalFeeSigner, "sign_transaction", sign_late)
    with app.chain.mining_paused():
        send_cancellations()
        assert [(row.account_nonce, row.attempt) for row in sent()] == [(0, 0)]
        app.chain.mine()
    assert is_used(app, cancellation)


def test_while_the_signer_does_not_answer_what_was_signed_before_is_still_sent(
    app: PartnerApp, signer: str, change_networks: Callable[..., Networks], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, later = requested(app), app.build()
    with fake_web3signer.running(settings.FEE_SIGNER_KEY) as remote:
        change_networks(fee_signer_settings=SignerSettings("web3signer", web3signer_url=remote.url, address=signer))
        with app.chain.mining_paused():
            send_cancellations()
            app.chain.rpc("anvil_dropAllTransactions")
            monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
            remote.alter = lambda _answer: (503, "")
            second = requested(app, later)
            send_cancellations()
            app.chain.mine()
        problem = "The transaction could not be signed: Web3Signer answered with status 503."
        assert (error(first), error(second)) == (problem, problem)
        assert (len(sent()), is_used(app, first), is_used(app, second)) == (1, True, False)
        remote.alter = lambda answer: answer
        send_and_mine(app)
    assert (error(second), is_used(app, second)) == ("", True)


# --- stuck ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("signer")
def test_a_stuck_transaction_is_replaced_at_a_higher_fee(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    cancellation = requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
        send_cancellations()
        send_cancellations()
        monkeypatch.undo()
        app.chain.mine()
    rows = sent()
    assert [(row.account_nonce, row.attempt, row.gas) for row in rows] == [(0, i, rows[0].gas) for i in range(3)]
    for before, after in pairwise(rows):
        assert after.max_fee * 10 >= before.max_fee * 11
        assert after.priority_fee * 10 >= before.priority_fee * 11
    assert app.chain.receipt(rows[-1].tx_hash)["status"] == 1
    assert is_used(app, cancellation)


@pytest.mark.usefixtures("signer")
def test_a_transaction_that_is_not_stuck_yet_is_left_alone(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        later = timezone.now() + cancelling.STUCK_AFTER - timedelta(seconds=5)
        monkeypatch.setattr(timezone, "now", lambda: later)
        send_cancellations()
    assert len(sent()) == 1


@pytest.mark.usefixtures("signer")
def test_a_stuck_transaction_is_not_replaced_above_the_fee_cap(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    cancellation = requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        settings.MAX_FEE_PER_GAS_GWEI = sent()[0].max_fee * 1.1 / GWEI
        monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
        send_cancellations()
    assert (len(sent()), error(cancellation)) == (1, cancelling.FEE_ABOVE_CAP)


@pytest.mark.usefixtures("signer")
def test_a_transaction_behind_a_stuck_one_that_is_no_longer_needed_gets_through(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    useless = requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        app.chain.rpc("anvil_dropAllTransactions")
        Sweep.objects.filter(executions=useless.execution_id).update(
            is_open=False, closed_at=timezone.now(), next_check_at=None
        )
        urgent = requested(app)
        send_cancellations()
        assert [row.cancellation for row in sent()] == [useless, urgent]
        monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
        send_cancellations()
        monkeypatch.undo()
        app.chain.mine()
    assert is_used(app, urgent)


# --- obstacles --------------------------------------------------------------------------------------------------------


def test_without_coins_for_gas_nothing_is_signed_and_the_reason_is_recorded(app: PartnerApp) -> None:
    signer = networks.current().fee_signer.address
    app.chain.give_coins(signer, 1000)
    cancellation = requested(app)
    send_and_mine(app)
    assert sent() == []
    assert error(cancellation).startswith(f"The fee signer {signer} cannot pay the gas: it has 1000 wei and needs ")
    app.chain.give_coins(signer)
    send_and_mine(app)
    assert (is_used(app, cancellation), error(cancellation)) == (True, "")


def test_a_balance_that_was_spent_meanwhile_is_reported_too(app: PartnerApp, signer: str) -> None:
    cancellation = requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        app.chain.rpc("anvil_dropAllTransactions")
        app.chain.give_coins(signer, 1000)
        send_cancellations()
    assert error(cancellation) == "The providers say that the fee signer cannot pay the gas."


def test_a_gas_price_above_the_cap_is_not_paid(app: PartnerApp, signer: str, settings: Any) -> None:
    settings.MAX_FEE_PER_GAS_GWEI = 1
    app.chain.rpc("anvil_setNextBlockBaseFeePerGas", hex(2 * GWEI))
    app.chain.mine()
    cancellation = requested(app)
    send_and_mine(app)
    assert (sent(account=signer), error(cancellation)) == ([], cancelling.FEE_ABOVE_CAP)


def test_another_fee_signer_on_chain_is_reported(app: PartnerApp, signer: str) -> None:
    cancellation = requested(app)
    app.chain.revoke_fee_signer(signer)
    send_and_mine(app)
    assert sent() == []
    assert error(cancellation) == f"The contract refuses the cancellation: {signer} is not its fee signer."


@pytest.mark.usefixtures("signer")
def test_after_the_deadline_there_is_nothing_to_cancel(app: PartnerApp) -> None:
    cancellation = requested(app)
    app.chain.mine(seconds=1000)
    send_and_mine(app)
    assert (sent(), error(cancellation)) == ([], cancelling.RAN_OUT)
    app.chain.mine(SAFE_AFTER)
    assert settled(cancellation) == ("void", False)


@pytest.mark.usefixtures("signer")
def test_an_execution_that_came_first_is_booked_and_nothing_is_sent(
    app: PartnerApp, round_trips: list[list[str]]
) -> None:
    built = app.build()
    cancellation = requested(app, built)
    app.execute(built)
    send_and_mine(app)
    assert (sent(), error(cancellation)) == ([], "")
    app.chain.mine(SAFE_AFTER)
    assert settled(cancellation) == ("completed", True)
    round_trips.clear()
    send_cancellations()
    assert round_trips == [], "there is nothing left to query"
    assert Sweep.objects.get().flags == ["executed_after_void"]


@pytest.mark.usefixtures("signer")
def test_an_execution_that_overtakes_a_cancellation_reverts_it_and_is_booked(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    cancellation = requested(app, built)
    with app.chain.mining_paused():
        app.chain.sign_and_send(app.user, built)
        send_cancellations()
        app.chain.mine()
    (row,) = sent()
    assert app.chain.receipt(row.tx_hash)["status"] == 0
    send_and_mine(app)
    assert len(sent()) == 1
    app.chain.mine(SAFE_AFTER)
    assert settled(cancellation) == ("completed", True)


@pytest.mark.usefixtures("signer")
def test_a_submitted_transaction_that_a_cancellation_overtakes_is_dropped(app: PartnerApp) -> None:
    built = app.build()
    app.confirm(built, "0x" + "ab" * 32, status=202)
    cancellation = requested_while_pending(app, built)
    send_and_mine(app)
    (row,) = sent()
    app.chain.mine(SAFE_AFTER)
    assert settled(cancellation) == ("void", False)
    closed = Sweep.objects.get()
    assert closed.void_reason == f"stolen key; cancelled on chain by {row.account}"
    assert closed.transactions.get().status == "dropped"


@pytest.mark.usefixtures("signer")
def test_a_submitted_transaction_that_overtakes_a_cancellation_is_booked(app: PartnerApp) -> None:
    built = app.build()
    app.approve(built)
    cancellation = requested_while_pending(app, built)
    with app.chain.mining_paused():
        tx_hash = app.chain.sign_and_send(app.user, built)
        app.confirm(built, tx_hash, status=202)
        send_cancellations()
        app.chain.mine()
    assert settled(cancellation) == ("completed", True)
    assert Sweep.objects.get().flags == []


@pytest.mark.parametrize("before", ["eth_estimateGas", "eth_call"])
@pytest.mark.usefixtures("signer")
def test_an_execution_that_is_mined_during_a_round_does_not_look_like_a_contract_that_refuses(
    app: PartnerApp, use_providers: Providers, start_node: Start, before: str
) -> None:
    built = app.build()
    app.approve(built)
    cancellation = requested_while_pending(app, built)
    node = start_node()

    def one_by_one(batch: list[dict[str, Any]]) -> tuple[int, bytes]:
        answers = []
        for request in batch:
            if request["method"] == before:
                app.chain.mine()
            answers += requests.post(node.upstream, json=[request], timeout=10).json()
        return 200, json.dumps(answers).encode()

    node.raw = one_by_one
    use_providers(node.url)
    with app.chain.mining_paused():
        app.chain.sign_and_send(app.user, built)
        send_cancellations()
    assert (error(cancellation), sent()) == ("", [])


def test_without_a_provider_a_cancellation_is_only_delayed(
    app: PartnerApp, signer: str, use_providers: Providers
) -> None:
    cancellation = requested(app)
    use_providers("http://127.0.0.1:1")
    send_and_mine(app)
    assert (sent(account=signer), error(cancellation)) == ([], "No provider answered in time.")
    use_providers(app.chain.world["rpcUrl"])
    send_and_mine(app)
    assert (is_used(app, cancellation), error(cancellation)) == (True, "")


@pytest.mark.usefixtures("signer")
def test_a_provider_that_does_not_relay_the_transaction_delays_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    cancellation = requested(app)
    silent = start_node()
    silent.swallow = "eth_sendRawTransaction"
    use_providers(silent.url, app.chain.world["rpcUrl"])
    send_and_mine(app)
    assert is_used(app, cancellation)


@pytest.mark.usefixtures("signer")
def test_nothing_is_signed_twice_for_a_node_that_does_not_show_the_effect_yet(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    cancellation = requested(app)
    send_and_mine(app)
    behind = start_node()
    behind.swallow = "eth_estimateGas"
    behind.alter = lambda method, _params, result: {
        "eth_call": result[:-1] + "0" if isinstance(result, str) else result,
        "eth_estimateGas": hex(50_000),
    }.get(method, result)
    use_providers(behind.url)
    assert is_used(app, cancellation)
    send_cancellations()
    assert (len(sent()), error(cancellation)) == (1, "")


@pytest.mark.usefixtures("signer")
def test_a_provider_that_once_returned_too_high_a_count_blocks_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = requested(app)
    liar = start_node()
    liar.alter = lambda method, _params, result: "0x7" if method == "eth_getTransactionCount" else result
    use_providers(liar.url)
    send_cancellations()
    use_providers(app.chain.world["rpcUrl"])
    send_cancellations()
    assert [row.account_nonce for row in sent()] == [7], "the others may lag"
    monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
    send_and_mine(app)
    assert [row.account_nonce for row in sent()] == [0, 7]
    assert (is_used(app, cancellation), error(cancellation)) == (True, "")


@pytest.mark.usefixtures("signer")
def test_a_transaction_with_too_little_gas_gets_enough_when_it_is_replaced(
    app: PartnerApp, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = requested(app)
    stingy = start_node()
    stingy.alter = lambda method, _params, result: hex(21_000) if method == "eth_estimateGas" else result
    use_providers(stingy.url)
    with app.chain.mining_paused():
        send_cancellations()
        use_providers(app.chain.world["rpcUrl"])
        monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
        send_cancellations()
        app.chain.mine()
    assert [row.account_nonce for row in sent()] == [0, 0]
    assert is_used(app, cancellation)


@pytest.mark.parametrize("estimate", [0, 1, 2**24, 2**39])
@pytest.mark.usefixtures("signer")
def test_an_impossible_gas_estimate_fails_over_to_another_provider(
    app: PartnerApp, use_providers: Providers, start_node: Start, estimate: int
) -> None:
    cancellation = requested(app)
    liar = start_node()
    liar.alter = lambda method, _params, result: hex(estimate) if method == "eth_estimateGas" else result
    use_providers(liar.url, app.chain.world["rpcUrl"])
    send_and_mine(app)
    assert is_used(app, cancellation)


@pytest.mark.usefixtures("signer")
def test_an_account_nonce_that_was_used_by_hand_is_replaced_by_the_next(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    cancellation = requested(app)
    with app.chain.mining_paused():
        send_cancellations()
        app.chain.rpc("anvil_dropAllTransactions")
        app.chain.send(
            Account.from_key(settings.FEE_SIGNER_KEY),
            {"to": app.user.address, "data": "0x"},
            gas=21_000,
        )
        app.chain.mine()
    monkeypatch.setattr(cancelling, "STUCK_AFTER", timedelta(0))
    send_and_mine(app)
    assert [row.account_nonce for row in sent()] == [0, 1]
    assert is_used(app, cancellation)


# --- from the button to the chain -------------------------------------------------------------------------------------


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("signer")
def test_the_admins_button_reaches_the_chain_through_the_loop(app: PartnerApp) -> None:
    built = app.build()
    ops = ConsoleClient()
    ops.force_login(User.objects.create_superuser("ops"))
    with running(Job("cancellations", 0.1, jobs.send_cancellations)):
        ops.post(
            reverse("admin:sweeps_sweep_void", args=[built["sweepId"]]),
            {"_form_submitted": "true", "reason": "stolen key", "cancel_on_chain": "on"},
        )
        cancellation = Cancellation.objects.get()
        wait_until(lambda: is_used(app, cancellation), within_seconds=10, what="the loop cancels it on chain")
    request = SweepEvent.objects.get(kind=EventKind.CANCELLATION_REQUESTED)
    assert request.facts == {"reason": "stolen key", "requested_by": "ops"}
    asked = {"requestedAt": request.at.isoformat().replace("+00:00", "Z"), "txHash": None}
    app.chain.mine(SAFE_AFTER)
    assert app.state(built["sweepId"])["cancellation"] == asked
    assert settled(cancellation) == ("void", False)
    (row,) = sent()
    assert app.state(built["sweepId"])["cancellation"]["txHash"] == row.tx_hash
    assert row.tx_hash in ops.get(reverse("admin:sweeps_sweep_change", args=[built["sweepId"]])).content.decode()
    assert error_of(app.post_confirm(built["sweepId"], "0x" + "ab" * 32)) == (409, "sweep_void")


def test_the_loop_sends_cancellations_every_few_seconds() -> None:
    (job,) = (job for job in jobs.all_jobs() if job.name == "cancellations")
    assert (job.round, job.period_seconds) == (jobs.send_cancellations, settings.DUE_SWEEP_SECONDS)
