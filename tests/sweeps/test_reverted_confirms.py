"""POST /v2/sweep/status/:id/confirm: a transaction that reverted is answered with the reason, if it is known."""

import json
import time
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from indexer import checks
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.base import EvmBase
from sweeps.rails.evm.follow import reverts
from sweeps.story.settle import SweepReading
from sweeps.story.settle import settle as settle_all
from tests.factories.ledger import random_hash
from tests.factories.sweeps import evm_reading, receipt_of
from tests.fake_node import FakeNode
from tests.market_moves import crash_price
from tests.openapi import assert_documented
from tests.partner_app import PartnerApp, error_of
from tests.sweeps.settle.twins import look_at

pytestmark = pytest.mark.django_db

PATH = "/v2/sweep/status/{sweep_id}/confirm"
REVERTED = (422, "transaction_reverted")
NO_APPROVAL = "Permit2 could not take a token: its allowance or the user's balance is too low."
MISSING_STATE = {"code": -32000, "message": "missing trie node"}


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def refusal(app: PartnerApp, built: dict[str, Any], tx_hash: str) -> list[dict[str, str]]:
    """Confirm a hash that reverted, and return the details of the answer."""
    response = app.post_confirm(built["sweepId"], tx_hash)
    assert error_of(response) == REVERTED
    details: list[dict[str, str]] = response.json()["error"]["details"]
    return details


@pytest.fixture
def unapproved(app: PartnerApp) -> tuple[dict[str, Any], str]:
    """A sweep of USDC that was sent without the approval it needs, and the hash."""
    built = app.build()
    return built, app.chain.sign_and_send(app.user, built)


def test_a_missing_approval_names_the_token(app: PartnerApp, unapproved: tuple[dict[str, Any], str]) -> None:
    usdc = app.chain.token("USDC").address
    assert refusal(app, *unapproved) == [
        {"field": "tokens[0].mint", "code": "reverted", "message": f"{usdc}: {NO_APPROVAL}"}
    ]


def test_a_price_that_moved_names_the_token_whose_swap_failed(app: PartnerApp) -> None:
    built = app.build({"DAI": 1, "USDC": 3}, slippageBps=1)
    crash_price(app, "USDC")
    (detail,) = refusal(app, built, app.execute(built))
    assert (detail["field"], detail["code"]) == ("tokens[1].mint", "reverted")
    reason = "The swap of the token failed. The price moved: the swap would give "
    assert detail["message"].startswith(f"{app.chain.token('USDC').address}: {reason}")


def test_more_tokens_to_leave_out_than_the_user_allowed_are_counted(app: PartnerApp) -> None:
    built = app.build({"DAI": 1, "USDC": 3, "LINK": 1}, slippageBps=1, onLegFailure="skip", maxSkipped=1)
    crash_price(app, "USDC")
    crash_price(app, "LINK")
    message = "2 tokens would have to be left out, and the user allowed 1."
    assert refusal(app, built, app.execute(built)) == [{"field": "txHash", "code": "reverted", "message": message}]


def test_a_paused_contract_is_named_as_the_reason(app: PartnerApp) -> None:
    built = app.build()
    app.chain.pause(built["contractAddress"])
    assert refusal(app, built, app.execute(built)) == [
        {"field": "txHash", "code": "reverted", "message": "The contract is paused."}
    ]


def test_the_answer_has_the_documented_shape(app: PartnerApp, unapproved: tuple[dict[str, Any], str]) -> None:
    built, tx_hash = unapproved
    assert_documented(app.post_confirm(built["sweepId"], tx_hash), path=PATH)


def test_the_status_object_gives_the_reason(app: PartnerApp, unapproved: tuple[dict[str, Any], str]) -> None:
    built, _ = unapproved
    (detail,) = refusal(app, *unapproved)
    state = app.state(built["sweepId"])
    assert [tx["reason"] for tx in state["transactions"]] == [detail["message"]]


def test_the_same_hash_again_gives_the_reason_without_reading_the_chain(
    app: PartnerApp, unapproved: tuple[dict[str, Any], str], round_trips: list[list[str]]
) -> None:
    (first,) = refusal(app, *unapproved)
    round_trips.clear()
    (again,) = refusal(app, *unapproved)
    assert (again["message"], round_trips) == (first["message"], [])


def test_the_worker_keeps_a_reason_that_was_found_since_it_read_the_sweep(
    app: PartnerApp, unapproved: tuple[dict[str, Any], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    readings: list[SweepReading] = []

    def read_and_explain(registry: Networks, tx: SweepTransaction, **options: Any) -> Any:
        readings.extend(look_at((tx.sweep, evm_reading(receipt_of(tx, succeeded=False)))))
        return reverts.explain(registry, tx, **options)

    monkeypatch.setattr(EvmBase, "explain_revert", staticmethod(read_and_explain))
    (first,) = refusal(app, *unapproved)
    settle_all(readings)
    assert SweepTransaction.objects.get().reason == first["message"]


def test_the_worker_keeps_the_reason_when_it_checks_again(
    app: PartnerApp, unapproved: tuple[dict[str, Any], str]
) -> None:
    built, _ = unapproved
    app.confirm(built, random_hash(), status=202)
    (first,) = refusal(app, *unapproved)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    assert app.state(built["sweepId"])["transactions"][1]["reason"] == first["message"]


def test_a_revert_that_the_worker_saw_first_is_explained_when_the_hash_is_confirmed_again(app: PartnerApp) -> None:
    built = app.build()
    with app.chain.mining_paused():
        tx_hash = app.chain.sign_and_send(app.user, built)
        app.confirm(built, tx_hash, status=202)
        app.chain.mine()
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    assert app.state(built["sweepId"])["status"] == "failed"
    (detail,) = refusal(app, built, tx_hash)
    assert detail["message"].endswith(NO_APPROVAL)


def test_a_revert_is_answered_in_three_round_trips(
    app: PartnerApp, unapproved: tuple[dict[str, Any], str], round_trips: list[list[str]]
) -> None:
    round_trips.clear()
    refusal(app, *unapproved)
    assert [methods[-1] for methods in round_trips[1:]] == ["eth_getTransactionByHash", "eth_call"]


def test_a_node_that_hangs_on_the_replay_delays_the_answer_no_longer_than_a_confirm_may_take(
    app: PartnerApp,
    unapproved: tuple[dict[str, Any], str],
    start_node: Callable[[], FakeNode],
    use_providers: Callable[..., ProviderPool],
    settings: Settings,
) -> None:
    settings.CONFIRM_TIMEOUT_SECONDS = 1
    node, released = start_node(), Event()

    def hang(method: str, _params: list[Any], result: Any) -> Any:
        if method == "eth_getTransactionByHash":
            released.wait()
        return result

    node.alter = hang
    use_providers(node.url, timeout_seconds=30)
    started = time.monotonic()
    try:
        assert refusal(app, *unapproved) == []
    finally:
        released.set()
    assert time.monotonic() - started < 3
    assert app.state(unapproved[0]["sweepId"])["status"] == "failed"


def test_a_provider_without_the_state_gives_no_details(
    app: PartnerApp,
    unapproved: tuple[dict[str, Any], str],
    start_node: Callable[[], FakeNode],
    use_providers: Callable[..., ProviderPool],
) -> None:
    node = start_node()

    def lose_state(method: str, _params: list[Any], result: Any) -> Any:
        if method == "eth_getTransactionByHash":
            node.raw = without_state
        return result

    node.alter = lose_state
    use_providers(node.url)
    assert refusal(app, *unapproved) == []
    assert node.asked[-1] == ["eth_call"]
    (transaction,) = app.state(unapproved[0]["sweepId"])["transactions"]
    assert transaction["reason"] == "The transaction reverted."


def without_state(batch: list[dict[str, Any]]) -> tuple[int, bytes]:
    """Respond as a node that has dropped the state of the block."""
    return 200, json.dumps([{"id": request["id"], "error": MISSING_STATE} for request in batch]).encode()
