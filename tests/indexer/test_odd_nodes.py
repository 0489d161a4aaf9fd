"""A sweep's whole life with a single provider whose answers are odd but legal: built, confirmed, final."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from structlog.testing import capture_logs

from indexer import blocks, reconciliation
from sweepapi.rpc import ProviderPool
from sweeps.models import SweepTransaction, WatchedBlock
from tests.fake_node import FakeNode
from tests.indexer.reconciled import sweep_of
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """The only provider."""
    node = start_node()
    use_providers(node.url)
    return node


def numbered_by_transaction(method: str, _params: list[Any], result: Any) -> Any:
    """Number the logs of receipts otherwise than those of queries, and list the latter in another order."""
    if method == "eth_getTransactionReceipt" and result:
        return result | {"logs": [log | {"logIndex": hex(i)} for i, log in enumerate(result["logs"])]}
    if method == "eth_getLogs":
        return [log | {"logIndex": hex(int(log["logIndex"], 16) + 100)} for log in reversed(result)]
    return result


def without_safe_blocks(node: FakeNode) -> None:
    node.lacks_blocks = ("safe", "finalized")


def with_small_batches(node: FakeNode) -> None:
    node.refuse = lambda batch: len(batch) > 3


def without_fee_methods(node: FakeNode) -> None:
    node.lacks = ("eth_feeHistory", "eth_maxPriorityFeePerGas")


def with_other_numbers(node: FakeNode) -> None:
    node.alter = numbered_by_transaction


@pytest.mark.parametrize("quirk", [without_safe_blocks, with_small_batches, without_fee_methods, with_other_numbers])
def test_a_sweep_is_built_confirmed_and_final(
    app: PartnerApp, node: FakeNode, quirk: Callable[[FakeNode], None]
) -> None:
    quirk(node)
    built = app.build()
    assert int(built["economics"]["gasPrice"]) > 0
    assert app.confirm(built, app.execute(built))["status"] == "completed"
    app.chain.mine(FINAL_AFTER)
    node.lacks_blocks = ()  # they have come meanwhile
    WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    blocks.check_due()
    with capture_logs() as logs:
        reconciliation.reconcile()
    assert logs == []
    (tx,) = SweepTransaction.objects.all()
    assert (tx.finality, sweep_of(built).is_open, tx.log_position) == ("final", False, 0)
