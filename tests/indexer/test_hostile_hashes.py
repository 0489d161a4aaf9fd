"""Anyone may report any hash, and a provider may return anything about it; neither may delay another sweep."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import checks
from sweepapi import networks
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from sweeps.rails.evm.follow import following
from tests.factories.ledger import random_hash
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory
from tests.fake_node import FakeNode
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(start_node: Callable[[], FakeNode], use_providers: Callable[..., ProviderPool]) -> FakeNode:
    """The only provider."""
    node = start_node()
    use_providers(node.url)
    return node


@pytest.fixture
def mined(app: PartnerApp) -> Sweep:
    """A sweep that was executed, reported, and not looked up yet."""
    built = app.build()
    sweep = Sweep.objects.get(id=built["sweepId"])
    SweepTransactionFactory.create(sweep=sweep, tx_hash=app.execute(built))
    return sweep


def reported(tx_hash: str) -> Sweep:
    sweep = SweepFactory.create()
    SweepTransactionFactory.create(sweep=sweep, tx_hash=tx_hash)
    return sweep


def check_all() -> None:
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()


def statuses(*sweeps: Sweep) -> list[str]:
    return [Sweep.objects.get(id=sweep.id).status for sweep in sweeps]


PRE_BYZANTIUM = {"transactionHash": "0x", "blockHash": "0x" + "11" * 32, "blockNumber": "0x1", "root": "0x", "logs": []}


@pytest.mark.parametrize(
    "receipt", [PRE_BYZANTIUM, {"blockHash": 7}, "nonsense", [], {"blockHash": "0x", "logs": None}]
)
def test_a_receipt_that_cannot_be_read_delays_no_other_sweep(node: FakeNode, mined: Sweep, receipt: Any) -> None:
    odd = random_hash()
    poisoned = reported(odd)
    node.alter = lambda _method, params, result: receipt if params == [odd] else result
    check_all()
    assert statuses(mined, poisoned) == ["completed", "pending"]


def test_a_batch_that_fails_while_the_chain_answers_is_halved_until_it_works(node: FakeNode, mined: Sweep) -> None:
    odd = random_hash()
    others = [reported(random_hash()) for _ in range(3)]
    poisoned = reported(odd)
    node.refuse = lambda batch: any(request["params"] == [odd] for request in batch)
    check_all()
    assert statuses(mined, *others, poisoned) == ["completed", "pending", "pending", "pending", "pending"]
    looked_at = [Sweep.objects.get(id=sweep.id).check_attempts for sweep in (*others, poisoned)]
    assert looked_at == [1, 1, 1, 0]


def test_a_batch_stays_under_the_call_limit_of_providers(node: FakeNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(following, "MAX_CALLS", 10)
    for _ in range(8):
        sweep = SweepFactory.create()
        SweepTransactionFactory.create_batch(2, sweep=sweep)
    check_all()
    receipts = [methods.count("eth_getTransactionReceipt") for methods in node.asked]
    assert sum(receipts) == 16
    assert max(receipts) <= 10


def test_a_receipt_above_the_head_does_not_count_yet(node: FakeNode, mined: Sweep) -> None:
    def lift(method: str, _params: list[Any], result: Any) -> Any:
        return result | {"blockNumber": hex(2**39)} if method == "eth_getTransactionReceipt" and result else result

    node.alter = lift
    check_all()
    assert statuses(mined) == ["pending"]
    node.alter = lambda _method, _params, result: result
    check_all()
    assert statuses(mined) == ["completed"]


def test_sweeps_on_a_network_missing_from_the_chains_file_delay_no_others(
    mined: Sweep, caplog: pytest.LogCaptureFixture
) -> None:
    lost = SweepFactory.create(network="eip155:999")
    assert "eip155:999" not in networks.current().known
    check_all()
    assert statuses(mined, lost) == ["completed", "pending"]
    assert "open_sweeps_on_unknown_networks" in caplog.text
