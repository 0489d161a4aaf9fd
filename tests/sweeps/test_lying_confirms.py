"""A confirm while one of two providers shows another receipt: it waits, and what was executed is reported once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from indexer import checks
from lab.matrix.changes import FAR, own_log_of, with_gross
from ledger.entries.reading import postings_of
from partners.webhooks.models import WebhookMessage
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from tests.fake_node import FakeNode, unaltered
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

Receipt = dict[str, Any]

inflated = own_log_of(EXECUTED_TOPIC, with_gross(lambda gross: gross * FAR))
LIES: dict[str, Callable[[Receipt], Receipt]] = {
    "a revert without logs": lambda receipt: receipt | {"status": "0x0", "logs": []},
    "the block of a fork": lambda receipt: receipt | {"blockHash": "0x" + "ab" * 32},
    "a million times the output": inflated,
}


@pytest.fixture(params=[0, 1], ids=["first", "second"])
def liar(
    request: pytest.FixtureRequest, start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]
) -> FakeNode:
    """One of two providers; the other one is honest."""
    nodes = [start_node(), start_node()]
    use_providers(*(node.url for node in nodes))
    position: int = request.param
    return nodes[position]


def check(built: dict[str, Any]) -> None:
    Sweep.objects.filter(id=built["sweepId"]).update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()


def reported(built: dict[str, Any]) -> list[str]:
    """Return the types of the webhooks about a sweep, in their order."""
    messages = WebhookMessage.objects.filter(sweep_ref=built["sweepId"]).order_by("sequence")
    return list(messages.values_list("type", flat=True))


def entries(built: dict[str, Any]) -> int:
    return len(postings_of(UUID(built["sweepId"])))


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_a_receipt_that_the_other_provider_contradicts_is_reported_once_and_as_it_was(
    app: PartnerApp, liar: FakeNode, lie: Callable[[Receipt], Receipt]
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    liar.alter = lambda method, _params, result: (
        lie(result) if method == "eth_getTransactionReceipt" and result else result
    )
    for _ in range(2):
        state = app.confirm(built, tx_hash, status=202)
        assert (state["status"], state["awaits"]) == ("pending", "agreement")
        check(built)
    assert (reported(built), entries(built)) == ([], 0)

    liar.alter = unaltered
    check(built)
    state = app.state(built["sweepId"])
    assert (state["status"], state["awaits"]) == ("completed", None)
    assert (reported(built), entries(built)) == (["sweep.completed"], 3)
    gross = int(state["feeAuthorization"]["actualFees"]["grossOutput"])
    assert gross == int(built["estimatedOutput"]["gross"])
