"""Random histories of a sweep on the local cluster: in the end, the service knows what the final blocks contain.

Transactions land, fail, land again, leave the chain with their fork and come back, while strangers name the reference
keys and providers lag, forget, lie and fail. The oracle is the cluster itself.
"""

import os
import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import timedelta

import pytest
from django.utils import timezone
from solders.compute_budget import set_compute_unit_limit
from solders.pubkey import Pubkey

from dev.solana.history.records import Landed
from indexer import checks, reconciliation
from ledger.entries.reading import postings_of
from ledger.models import Account, JournalEntry
from sweepapi.rpc import ProviderPool
from sweeps.models import Execution, Flag, Sweep, SweepTransaction
from tests import fake_node
from tests.fake_node import Alter
from tests.snapshots import shown
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import FEE, GROSS, PARTNER_FEE, SWEPT, LocalSweep

pytestmark = pytest.mark.django_db

# History 31 alone notices if one provider's word is enough to close a sweep. STORIES sets another number of them.
FIRST, HISTORIES = 25, int(os.environ.get("STORIES", "10"))
CHAPTERS = 8
CLOSED_PORT = "http://127.0.0.1:1"

UseNodes = Callable[..., ProviderPool]

LIES: tuple[Alter, ...] = (
    lambda method, _params, result: [] if method == "getSignaturesForAddress" else result,
    lambda method, _params, result: result[1:] if method == "getSignaturesForAddress" else result,
    lambda method, _params, result: None if method == "getTransaction" else result,
    lambda method, _params, result: (
        result | {"meta": result["meta"] | {"err": "AccountInUse"}} if method == "getTransaction" and result else result
    ),
    lambda method, _params, result: (
        result | {"meta": result["meta"] | {"err": None}} if method == "getTransaction" and result else result
    ),
    lambda method, _params, result: result | {"value": [None]} if method == "getSignatureStatuses" else result,
    lambda method, _params, result: result | {"blockHeight": 2**39} if method == "getEpochInfo" else result,
    lambda method, _params, result: (
        result | {"blockhash": "1" * 32} if method == "getBlock" and result is not None else result
    ),
)


class History:
    """One sweep of two transactions, and everything that was sent for it."""

    def __init__(self, cluster: SolanaCluster, stack: ExitStack, use_nodes: UseNodes, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - the same history each time
        self.cluster = cluster
        self.use_nodes = use_nodes
        self.liar = stack.enter_context(fake_node.running(cluster.url))
        self.honest = [cluster.url, cluster.add_node()]
        self.others = [
            self.honest[1],
            cluster.add_node(lag_slots=5),
            cluster.add_node(lag_slots=40),
            cluster.add_node(keeps_history=False),
            CLOSED_PORT,
            *[self.liar.url] * 5,
        ]
        self.sweep = LocalSweep(cluster, transactions=2)
        self.positions = self.random.choice([(0,), (1,), (0, 1), (0, 1)])  # the user may send only one
        self.sent: list[tuple[int, Landed]] = []
        self.is_spammed = False
        self.events = [
            *[self.the_user_lands_one] * 3,
            *[self.a_fork_is_dropped] * 2,
            self.one_fails,
            self.the_user_gets_the_tokens_again,
            self.a_dropped_one_lands_again,
            self.strangers_name_a_key,
        ]
        self.passages_of_time = [
            self.some_blocks_pass,
            self.some_blocks_pass,
            self.cluster.finalize,
            self.cluster.expire_blockhashes,
        ]
        self.readings = [*[self.the_worker_checks] * 4, self.final_blocks_are_reconciled]

    def tell(self) -> None:
        """Let a few things happen, time pass and the worker look, until the sweep is closed, and sometimes beyond."""
        for _ in range(CHAPTERS):
            if self.random.random() < 0.6:
                self.providers_change()
            for _ in range(self.random.randint(0, 2)):
                self.random.choice(self.events)()
            self.random.choice(self.passages_of_time)()
            for _ in range(self.random.randint(0, 2)):
                self.random.choice(self.readings)()
            if not self.sweep.refreshed().is_open and self.random.random() < 0.5:
                break

    # --- What happens -------------------------------------------------------------------------------------------------

    def the_user_lands_one(self) -> None:
        self._send(unit_limit=self.random.randint(200_000, 300_000))

    def one_fails(self) -> None:
        self._send(unit_limit=self.random.randint(300, 1_000))

    def _send(self, *, unit_limit: int) -> None:
        position = self.random.choice(self.positions)
        instructions = [set_compute_unit_limit(unit_limit), *self.sweep.instructions[position]]
        self.sent.append((position, self.cluster.send(self.sweep.sign(instructions))))

    def the_user_gets_the_tokens_again(self) -> None:
        mint = self.random.choice([Pubkey.from_string(token.asset) for token in self.sweep.row.tokens.all()])
        self.cluster.faucet.give_tokens(self.sweep.user.pubkey(), mint, SWEPT)

    def a_fork_is_dropped(self) -> None:
        landed = [known for _, one in self.sent if (known := self.cluster.bank.records.get(one.signature)) is not None]
        forked = [one for one in landed if not self._is_final(one)]
        if forked:
            self.cluster.drop(self.random.choice(forked).signature)

    def a_dropped_one_lands_again(self) -> None:
        bank = self.cluster.bank
        for _, one in self.sent:
            is_recent = bank.is_recent(one.transaction.message.recent_blockhash, bank.blocks.latest.height + 1)
            if bank.records.dropped(one.signature) and is_recent:
                self.cluster.send(one.transaction)

    def strangers_name_a_key(self) -> None:
        self.is_spammed = True
        self.sweep.spam(self.random.randrange(2), count=self.random.randint(1, 12))

    def some_blocks_pass(self) -> None:
        self.cluster.bank.advance(self.random.randint(1, 20), skipped_slots=self.random.randint(0, 3))

    def providers_change(self) -> None:
        self.liar.alter = self.random.choice(LIES)
        urls = [self.cluster.url, self.random.choice(self.others)]
        self.random.shuffle(urls)
        self.use_nodes(*urls)

    def final_blocks_are_reconciled(self) -> None:
        reconciliation.reconcile()

    def the_worker_checks(self) -> None:
        before = {one.id for one in self.sweep.executions if one.closed_at is None}
        Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() - timedelta(minutes=1))
        checks.check_due()
        self.sweep.row.refresh_from_db()
        assert shown(self.sweep.row)["status"] == self.sweep.row.status
        for position, one in enumerate(self.sweep.executions):
            if one.id in before and one.closed_at is not None:
                self.assert_true_to_the_cluster(position, one)

    # --- What the cluster shows ---------------------------------------------------------------------------------------

    def _is_final(self, landed: Landed) -> bool:
        return landed.block.slot <= self.cluster.node.head("finalized").slot

    def final_executions(self, position: int) -> dict[str, int]:
        """Return the slots of the successful transactions in final blocks, by signature."""
        landed = [self.cluster.bank.records.get(one.signature) for at, one in self.sent if at == position]
        return {
            str(one.signature): one.block.slot
            for one in landed
            if one is not None and one.outcome.err is None and self._is_final(one)
        }

    def assert_true_to_the_cluster(self, position: int, execution: Execution) -> None:
        shown = self.final_executions(position)
        accepted = execution.transactions.filter(status=SweepTransaction.Status.ACCEPTED)
        entries = JournalEntry.objects.filter(execution_ref=execution.id, kind=JournalEntry.Kind.SWEEP_FEE)
        booked = entries.filter(reversed_by=None)
        if not shown:
            assert execution.status in ("failed", "expired")
            assert not accepted.exists()
            assert not booked.exists()
            return
        assert execution.status == "executed"
        amounts = execution.amounts
        assert (amounts.gross_output, amounts.total_fee, amounts.partner_fee) == (GROSS, FEE, PARTNER_FEE)
        (tx,) = accepted
        assert tx.block_number == shown[tx.tx_hash]
        (entry,) = booked
        assert entry.finality is not None

    def assert_status(self) -> None:
        row = self.sweep.refreshed()
        executed = sum(bool(self.final_executions(position)) for position in range(2))
        assert not row.is_open
        if executed:
            assert row.status == "completed"
            assert (Flag.PARTIAL in row.flags) == (executed == 1)
        else:
            assert row.status in (("failed", "expired") if self.sent or self.is_spammed else ("expired",))
        payable = [one.amount for one in postings_of(row.id) if one.account.name == Account.Name.PARTNER_PAYABLE]
        assert abs(sum(payable)) == executed * PARTNER_FEE


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as opened:
        yield opened


@pytest.mark.parametrize("seed", range(FIRST, FIRST + HISTORIES))
def test_in_the_end_a_sweep_is_what_final_blocks_show(
    cluster: SolanaCluster, stack: ExitStack, use_nodes: UseNodes, seed: int
) -> None:
    history = History(cluster, stack, use_nodes, seed)
    history.tell()
    cluster.expire_blockhashes()
    use_nodes(*history.honest)
    for _ in range(3):
        history.the_worker_checks()
    history.final_blocks_are_reconciled()
    history.the_worker_checks()
    for position, execution in enumerate(history.sweep.executions):
        history.assert_true_to_the_cluster(position, execution)
    history.assert_status()
