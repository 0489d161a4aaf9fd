"""The copied sweeps of the benchmarks: the service takes each for one of its own, and its receipt for a real one."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from dev.bench.service import Service
from dev.bench_sweeps.chain import FIRST_HEAD, Chain
from dev.bench_sweeps.copies import Copier
from dev.bench_sweeps.node import Node
from dev.bench_sweeps.receipts import Original
from dev.bench_sweeps.template import Template
from dev.chain.listing import list_tokens
from dev.chain.rpc import Rpc
from dev.engines.anvil import CHAIN_ID
from dev.partner_client import Wallet
from dev.ports import free_port
from dev.waiting import wait_until
from indexer import checks
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC
from sweepapi.evm.encoding import responses
from sweeps.models import Sweep, SweepEvent, SweepStatus
from tests.local_chain import LocalChain

ROOT = Path(__file__).parents[2]
REMOVE_IF_KILLED = """
import pathlib, signal, sys
from dev.bench_scale.disposal import removed_afterwards

with removed_afterwards(pathlib.Path(sys.argv[1])):
    print("entered", flush=True)
    signal.pause()
"""


@pytest.fixture
def template(api: Client, chain: LocalChain) -> Template:
    """A sweep of five tokens that waits for a hash that no node knows, though the local chain executed it."""
    rpc = Rpc(chain.world["rpcUrl"])
    wallets = [Wallet(rpc, user["privateKey"]) for user in chain.world["users"]]
    holders = [wallet.address for wallet in wallets]
    listed = list_tokens(rpc, chain.contracts, holders, count=5, kind="uniswap_v2")
    return Template.submitted(Service(chain.world, rpc, wallets, api, list(listed)))


@pytest.fixture
def node(template: Template, tmp_path: Path) -> Iterator[Node]:
    """The node of the benchmarks' chain, which executed nothing yet."""
    node = Node(f"http://127.0.0.1:{free_port()}")
    with subprocess.Popen(node.command(template, tmp_path), cwd=ROOT) as process:
        try:
            wait_until(node.answers, within_seconds=60, what="start of the node")
            yield node
        finally:
            process.terminate()


@pytest.mark.django_db
def test_copies_are_settled_by_receipts_of_their_own(
    template: Template, node: Node, use_providers: Callable[..., object]
) -> None:
    copier = Copier.of(template.sweep_id)
    copier.copy(range(1, 4), {("sweeps_sweep", "next_check_at"): "now() - interval '1 minute'"})
    Sweep.objects.filter(id=template.sweep_id).update(next_check_at=timezone.now() + timedelta(days=1))
    node.execute(range(1, 3), height=FIRST_HEAD)
    use_providers(node.url)
    checks.check_due()
    first, second, third = copier.ids([1, 2, 3]).values()
    completed = Sweep.objects.filter(status=SweepStatus.COMPLETED)
    assert set(completed.values_list("id", flat=True)) == {first, second}
    assert Sweep.objects.get(id=third).status == SweepStatus.PENDING
    for sweep in completed:
        assert sweep.tokens.count() == sweep.offers.get().legs.count() == 5
        assert {leg.token.sweep_id for leg in sweep.offers.get().legs.all()} == {sweep.id}
        assert sweep.executions.get().ledger_entry is not None


@pytest.mark.django_db
def test_rules_of_the_database_hold_again_after_copying(template: Template) -> None:
    Copier.of(template.sweep_id).copy(range(1, 2), {})
    event = SweepEvent.objects.exclude(sweep_id=template.sweep_id).first()
    assert event is not None
    with pytest.raises(IntegrityError, match="append-only"), transaction.atomic():
        event.save()


@pytest.mark.django_db
def test_only_the_original_is_left_when_copies_are_deleted(template: Template) -> None:
    copier = Copier.of(template.sweep_id)
    copier.copy(range(1, 4), {})
    copier.delete_copies()
    assert Sweep.objects.get().id == template.sweep_id
    assert set(SweepEvent.objects.values_list("sweep_id", flat=True)) == {template.sweep_id}


@pytest.mark.django_db
def test_a_block_shows_the_same_events_as_its_receipts(template: Template) -> None:
    fake = Chain(CHAIN_ID, Original.of(template.receipt, template.nonce))
    fake.execute(1, 2, FIRST_HEAD)
    query = {"fromBlock": hex(FIRST_HEAD), "toBlock": "latest", "address": template.receipt["to"]}

    def ask(method: str, *params: object) -> list[dict[str, object]]:
        found: list[dict[str, object]] = json.loads(fake.answer({"id": 1, "method": method, "params": params}))[
            "result"
        ]
        return found

    logs = ask("eth_getLogs", query | {"topics": [EXECUTED_TOPIC]})
    receipts = [ask("eth_getTransactionReceipt", tx_hash) for tx_hash in fake.by_hash]
    emitted = [log for receipt in receipts for log in receipt["logs"] if log["topics"][0] == EXECUTED_TOPIC]  # type: ignore[call-overload]
    assert logs == emitted
    assert len({log.index for log in responses.mined_logs(logs)}) == 2


def test_the_files_of_the_benchmark_are_removed_also_if_it_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "scale"
    argv = [sys.executable, "-c", REMOVE_IF_KILLED, str(folder)]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
        assert process.stdout is not None
        process.stdout.readline()
        (folder / "data").write_text("50 GB")
        process.kill()
    wait_until(lambda: not folder.exists(), within_seconds=10, what="the end of the folder")
