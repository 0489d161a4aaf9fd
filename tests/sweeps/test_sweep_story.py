"""GET /v2/sweep/status/:id: the tokens of a sweep and its output, and its events so far, in order."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import checks
from sweeps.models import Sweep
from sweeps.story.withdrawal import void
from tests.factories.ledger import random_hash
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def story(state: dict[str, Any]) -> list[tuple[str, str | None]]:
    """Return type and hash of each event."""
    return [(event["type"], event["txHash"]) for event in state["events"]]


def check_again(app: PartnerApp, sweep_id: str) -> dict[str, Any]:
    """Have the worker check a sweep now, and return its status object."""
    Sweep.objects.filter(id=sweep_id).update(next_check_at=timezone.now() - timedelta(minutes=1))
    assert checks.check_due() == 1
    return app.state(sweep_id)


def test_the_tokens_are_those_of_the_build(app: PartnerApp) -> None:
    built = app.build({"USDC": 3, "GUSD": 2})
    usdc, gusd = app.chain.token("USDC").address, app.chain.token("GUSD").address
    assert app.state(built["sweepId"])["tokens"] == [
        {"mint": usdc, "symbol": "USDC", "decimals": 6, "amount": "3000000", "outcome": None, "skipReason": None},
        {"mint": gusd, "symbol": "GUSD", "decimals": 2, "amount": "200", "outcome": None, "skipReason": None},
    ]


def test_a_token_that_was_swept_says_so(app: PartnerApp) -> None:
    state, _ = app.complete()
    assert [(token["outcome"], token["skipReason"]) for token in state["tokens"]] == [("swept", None)]
    assert state["skippedCount"] == 0


@pytest.mark.parametrize(("output", "decimals"), [("USDT", 6), ("WETH", 18), ("ETH", 18)])
def test_the_output_has_its_symbol_and_decimals(app: PartnerApp, output: str, decimals: int) -> None:
    state = app.state(app.build(output=output)["sweepId"])
    assert (state["outputSymbol"], state["outputDecimals"]) == (output, decimals)


def test_the_story_begins_with_the_build(app: PartnerApp) -> None:
    (event,) = app.state(app.build()["sweepId"])["events"]
    assert event.keys() == {"type", "at", "txHash", "message"}
    assert (event["type"], event["txHash"], event["message"]) == ("sweep_pending", None, "The sweep was built.")


def test_a_sweep_that_is_executed_and_becomes_final_lists_each_step(app: PartnerApp) -> None:
    state, tx_hash = app.complete()
    assert story(state) == [
        ("sweep_pending", None),
        ("transaction_reported", tx_hash),
        ("transaction_accepted", tx_hash),
        ("entry_posted", tx_hash),
        ("sweep_completed", tx_hash),
    ]
    app.chain.mine(FINAL_AFTER)
    final = check_again(app, state["sweepId"])
    assert story(final)[5:] == [("finality_reached", tx_hash), ("closed", None)]
    block = app.chain.receipt(tx_hash)["blockNumber"]
    assert [event["message"] for event in final["events"]] == [
        "The sweep was built.",
        "A transaction was reported.",
        f"The transaction executed the sweep in block {block}.",
        "The fee was booked.",
        "The sweep was executed.",
        "The transaction's block is final.",
        "The sweep is closed, and no longer checked.",
    ]


def test_a_revert_and_the_transaction_after_it_are_listed_in_order(app: PartnerApp) -> None:
    built = app.build()
    reverted = app.chain.sign_and_send(app.user, built)
    app.post_confirm(built["sweepId"], reverted)
    second = random_hash()
    state = app.confirm(built, second, status=202)
    assert story(state) == [
        ("sweep_pending", None),
        ("transaction_reported", reverted),
        ("transaction_reverted", reverted),
        ("sweep_failed", reverted),
        ("transaction_reported", second),
        ("sweep_pending", second),
    ]


def test_a_transaction_of_another_sweep_is_listed_with_what_differs(app: PartnerApp) -> None:
    built, other = app.build(), app.build()
    app.post_confirm(built["sweepId"], app.execute(other))
    last = app.state(built["sweepId"])["events"][-1]
    assert last["type"] == "transaction_rejected"
    assert last["message"].startswith("The transaction does not match what was signed: ")


def test_a_void_is_listed_without_the_reason_that_operations_gave(app: PartnerApp) -> None:
    built = app.build()
    void(sweep_id=Sweep.objects.get().id, reason="fraud suspected", requested_by="ops")
    state = app.state(built["sweepId"])
    assert state["events"][-1]["type"] == "sweep_void"
    assert "fraud" not in str(state)


def test_a_check_that_learns_nothing_leaves_no_event(app: PartnerApp) -> None:
    built = app.build()
    before = app.confirm(built, random_hash(), status=202)
    assert check_again(app, built["sweepId"])["events"] == before["events"]


def test_events_are_in_the_order_of_their_times(app: PartnerApp) -> None:
    state, _ = app.complete()
    times = [event["at"] for event in state["events"]]
    assert times == sorted(times)
    assert times[0] >= state["createdAt"]
