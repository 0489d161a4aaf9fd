"""Providers that lie, lag or forget can delay what following finds, and complete nothing that did not happen."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import following
from sweepapi.rpc import ProviderPool
from sweeps.models import SweepTransaction
from tests.factories.ledger import random_hash
from tests.fake_node import Alter, FakeNode, hiding_logs
from tests.indexer.reconciled import polled, state, sweep_of
from tests.local_chain import SAFE_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


def inventing(event: dict[str, Any], *, receipt: dict[str, Any] | None = None) -> Alter:
    """Show this event as well, and a receipt of its transaction."""

    def alter(method: str, params: list[Any], result: Any) -> Any:
        if method == "eth_getLogs":
            return [*result, event]
        if method == "eth_getTransactionReceipt" and params == [event["transactionHash"]]:
            return receipt
        return result

    return alter


@pytest.fixture
def invented(app: PartnerApp) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """A sweep that was not executed, an event that says it was, and a receipt with that event."""
    template, built = app.build(), app.build()
    receipt = app.chain.rpc("eth_getTransactionReceipt", app.execute(template))
    app.confirm(template, receipt["transactionHash"])
    identity = {"transactionHash": random_hash(), "blockHash": receipt["blockHash"]}
    topic = f"0x{int(built['feeAuthorization']['nonce']):064x}"
    logs = [
        log | identity | {"topics": [log["topics"][0], topic, *log["topics"][2:]]}
        if log["address"].lower() == app.chain.contracts["v5"].lower()
        else log | identity
        for log in receipt["logs"]
    ]
    (event,) = [log for log in logs if log["topics"][1:2] == [topic]]
    return built, event, receipt | identity | {"logs": logs}


def test_an_event_whose_receipt_no_provider_shows_changes_nothing(
    app: PartnerApp, invented: Any, use_providers: Providers, start_node: Start
) -> None:
    built, event, _ = invented
    liar = start_node()
    liar.alter = inventing(event)
    for urls in ([liar.url], [liar.url, app.chain.world["rpcUrl"]]):
        use_providers(*urls)
        following.follow()
        assert (state(sweep_of(built)), sweep_of(built).transactions.count()) == (("pending", True, []), 0)


def test_a_receipt_counts_only_from_another_provider_than_its_event(
    app: PartnerApp, invented: Any, use_providers: Providers, start_node: Start
) -> None:
    built, event, receipt = invented
    liar, honest = start_node(), app.chain.world["rpcUrl"]
    liar.alter = inventing(event, receipt=receipt)
    for others in ([honest], [honest, honest]):
        use_providers(liar.url, *others)
        following.follow()
        assert state(sweep_of(built)) == ("pending", True, [])
    use_providers(liar.url, "http://127.0.0.1:1")
    assert_counts_after_ten_seconds(built)


def assert_counts_after_ten_seconds(built: dict[str, Any]) -> None:
    """While one provider of two answers, what it shows counts after a while, and not before."""
    for seconds, expected in ((0, "pending"), (9, "pending"), (10, "completed")):
        since = timezone.now() - timedelta(seconds=seconds)
        SweepTransaction.objects.filter(sweep_id=built["sweepId"], awaits="agreement").update(shown_since=since)
        following.follow()
        assert state(sweep_of(built)) == (expected, True, [])


def without_receipts(method: str, _params: list[Any], result: Any) -> Any:
    return None if method == "eth_getTransactionReceipt" else result


def test_a_receipt_that_the_second_provider_lacks_comes_from_the_third(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    app.execute(built)
    forgetful, honest = start_node(), app.chain.world["rpcUrl"]
    forgetful.alter = without_receipts
    use_providers(honest, forgetful.url)
    following.follow()
    assert state(sweep_of(built)) == ("pending", True, [])
    use_providers(honest, forgetful.url, honest)
    following.follow()
    assert state(sweep_of(built)) == ("completed", True, [])


@pytest.mark.parametrize("lie", [{"blockHash": "0x" + "ab" * 32}, {"status": "0x0"}, {"logs": []}])
def test_a_receipt_that_does_not_show_the_event_in_its_block_changes_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start, lie: dict[str, Any]
) -> None:
    built = app.build()
    app.execute(built)
    liar = start_node()
    liar.alter = lambda method, _params, result: result | lie if method == "eth_getTransactionReceipt" else result
    use_providers(app.chain.world["rpcUrl"], liar.url)
    following.follow()
    assert (state(sweep_of(built)), sweep_of(built).transactions.count()) == (("pending", True, []), 0)


def test_an_event_that_the_first_provider_hides_is_found_when_another_is_asked(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    app.execute(built)
    blind = start_node()
    blind.alter = hiding_logs
    use_providers(blind.url, app.chain.world["rpcUrl"])
    following.follow()
    assert state(sweep_of(built)) == ("pending", True, [])
    use_providers("http://127.0.0.1:1", app.chain.world["rpcUrl"])
    assert polled() == ["provider_failed", "provider_failed"]
    assert_counts_after_ten_seconds(built)


def test_a_cancellation_that_only_one_provider_shows_closes_nothing(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    built = app.build()
    app.chain.cancel(int(built["feeAuthorization"]["nonce"]))
    app.chain.mine(SAFE_AFTER)
    blind = start_node()
    blind.alter = hiding_logs
    use_providers(app.chain.world["rpcUrl"], blind.url)
    following.follow()
    sweep = sweep_of(built)
    assert (state(sweep), sweep.check_attempts) == (("pending", True, ["nonce_used"]), 1)
    following.follow()
    assert sweep_of(built).check_attempts == 1, "not checked by each poll"


def test_a_log_that_cannot_be_decoded_hides_no_other(
    app: PartnerApp, use_providers: Providers, start_node: Start
) -> None:
    broken, whole = app.build(), app.build()
    without = app.execute(broken)
    app.execute(whole)
    liar = start_node()
    liar.alter = lambda method, _params, result: (
        [log | {"data": "0x1"} if log["transactionHash"] == without else log for log in result]
        if method == "eth_getLogs"
        else result
    )
    use_providers(liar.url)
    assert polled() == ["log_unreadable"]
    assert [sweep_of(one).status for one in (broken, whole)] == ["pending", "completed"]
