"""A column of the matrix: a sweep for each lie, copied from an executed one, and the chain that providers show."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Self
from uuid import UUID

from django.db.models import F
from django.utils import timezone

from indexer import checks
from lab.bench.sweeps.chain import BLOCK_SECONDS, FIRST_HEAD, Chain
from lab.bench.sweeps.copies import Copier
from lab.bench.sweeps.receipts import Mined, Original
from lab.matrix.mutations import HONEST, NOTHING, OTHER, REFUSED, Mutation, Right
from lab.matrix.node import Lie, LyingNode, serving
from lab.matrix.told import Told
from ledger.models import JournalEntry
from partners.webhooks.models import WebhookMessage
from sweepapi import networks
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.models import ScannedBlocks
from tests.factories.sweeps import LOCAL
from tests.partner_app import PartnerApp

BLOCKS = 100  # above the first head, and below the newest one
MINUTE = timedelta(minutes=1)
WHO: Mapping[str, tuple[bool, ...]] = {  # which of the providers lie
    "only": (True,),
    "first": (True, False),
    "second": (False, True),
    "both": (True, True),
}


@dataclass(frozen=True)
class Fate:
    """What became of a sweep."""

    right: Right
    messages: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()


@dataclass
class Column:
    """The sweeps of all lies, and the nodes that tell them."""

    app: PartnerApp
    copier: Copier
    chain: Chain
    nodes: Sequence[LyingNode]
    urls: Sequence[str]
    told: dict[str, Told] = field(default_factory=dict)  # by the name of the lie
    sweeps: dict[str, UUID] = field(default_factory=dict)  # as above

    @classmethod
    @contextmanager
    def of(cls, app: PartnerApp, who: str, mutations: Sequence[Mutation]) -> Iterator[Self]:
        """Build a sweep, execute it, and copy it for each lie; all of the chain's blocks are below its head."""
        built = app.build()
        receipt = app.chain.rpc("eth_getTransactionReceipt", app.execute(built))
        original = Original.of(receipt, int(built["feeAuthorization"]["nonce"]))
        chain = Chain(app.chain.world["chainId"], original, started=time.time() - BLOCK_SECONDS * BLOCKS)
        with ExitStack() as stack:
            nodes = [LyingNode(chain, is_liar=is_liar) for is_liar in WHO[who]]
            column = cls(
                app,
                Copier.of(UUID(built["sweepId"])),
                chain,
                nodes,
                [stack.enter_context(serving(node)) for node in nodes],
            )
            numbers = range(1, len(mutations) + 1)
            column.copier.copy(numbers, {})
            ids = column.copier.ids(numbers)
            for number, mutation in zip(numbers, mutations, strict=True):
                column.told[mutation.name] = Told(original, Mined(number, FIRST_HEAD + number, 0))
                column.sweeps[mutation.name] = ids[number]
            yield column

    @contextmanager
    def showing(self, mutations: Iterable[Mutation], *, lies: bool) -> Iterator[None]:
        """Let the chain have these transactions alone, and the service read it, with lies or without them.

        What it knows of the providers is new.
        """
        self.chain.clear()
        for one in mutations:
            told = self.told[one.name]
            if one.happened:
                self.chain.execute(told.mined.number, told.mined.number, told.height)
        told_lies = [Lie(self.told[one.name], one.changes) for one in mutations if lies]
        for node in self.nodes:
            node.lies = told_lies if node.is_liar else []
        patient = replace(networks.current(), rpc_urls={"local": self.urls}, rpc_timeout_seconds=20.0)
        with networks.replaced_by(patient):
            yield

    def report(self, mutations: Iterable[Mutation]) -> None:
        """Store the hashes as if they had been reported while no provider answered."""
        executions = dict(Execution.objects.filter(sweep__in=self.sweeps.values()).values_list("sweep_id", "id"))
        SweepTransaction.objects.bulk_create(
            SweepTransaction(
                sweep_id=self.sweeps[one.name],
                execution_id=executions[self.sweeps[one.name]],
                tx_hash=self.told[one.name].tx_hash,
            )
            for one in mutations
        )

    def confirm(self, mutation: Mutation) -> tuple[int, str | None]:
        """Confirm through the API; returns the HTTP status, and what is awaited or the code of the error."""
        response = self.app.post_confirm(str(self.sweeps[mutation.name]), self.told[mutation.name].tx_hash)
        body = response.json()
        return response.status_code, body["data"]["awaits"] if "data" in body else body["error"]["code"]

    def check(self, mutations: Iterable[Mutation]) -> None:
        """Let the worker check the sweeps of these lies that are open, and no other."""
        ids = [self.sweeps[one.name] for one in mutations]
        Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() + MINUTE)
        Sweep.objects.filter(id__in=ids, is_open=True).update(
            next_check_at=timezone.now() - MINUTE, watched_block=None, lease_until=None, lease_token=None
        )
        checks.check_due()

    def wait(self, mutations: Iterable[Mutation], seconds: float) -> None:
        """Let so much time pass since providers showed the transactions."""
        shown = SweepTransaction.objects.filter(sweep__in=[self.sweeps[one.name] for one in mutations])
        shown.filter(shown_since__isnull=False).update(shown_since=F("shown_since") - timedelta(seconds=seconds))

    def finalize(self) -> None:
        """Make all blocks final; the reconciliation reads them from the first one on that may execute a sweep."""
        self.chain.final = self.chain.head
        ScannedBlocks.objects.update_or_create(
            network=LOCAL,
            contract=self.app.chain.contracts["v5"],
            defaults={"next_block": FIRST_HEAD, "last_hash": None},
        )

    def fate(self, mutation: Mutation) -> Fate:
        return self.fates([mutation])[mutation.name]

    def fates(self, mutations: Iterable[Mutation]) -> dict[str, Fate]:
        """Return what became of the sweeps of these lies, by their names."""
        names = {self.sweeps[one.name]: one.name for one in mutations}
        happened = {self.told[one.name].tx_hash for one in mutations if one.happened}
        txs = {tx.sweep_id: tx for tx in SweepTransaction.objects.filter(sweep__in=names)}
        executions = {one.sweep_id: one for one in Execution.objects.filter(sweep__in=names)}
        messages = _by_sweep(
            WebhookMessage.objects.filter(sweep_ref__in=names).order_by("sequence").values_list("sweep_ref", "type")
        )
        entries = _by_sweep(
            JournalEntry.objects.filter(sweep_ref__in=names).order_by("posted_at").values_list("sweep_ref", "kind")
        )
        return {
            names[sweep.id]: Fate(
                self._right(sweep, executions[sweep.id], txs.get(sweep.id), self.told[names[sweep.id]], happened),
                messages.get(sweep.id, ()),
                entries.get(sweep.id, ()),
            )
            for sweep in Sweep.objects.filter(id__in=names)
        }

    def _right(
        self, sweep: Sweep, execution: Execution, tx: SweepTransaction | None, told: Told, happened: set[str]
    ) -> Right:
        if sweep.status == "completed":
            assert tx is not None
            (own,) = filter(told.is_ours, told.receipt["logs"])
            gross = int(own["data"][2 + 64 * 4 : 2 + 64 * 5], 16)
            is_honest = (execution.gross_output, tx.block_hash) == (gross, told.block_hash) and told.tx_hash in happened
            return HONEST if is_honest else OTHER
        if sweep.status != "pending" or (tx is not None and tx.status != "submitted"):
            return REFUSED
        return NOTHING if tx is None else Right(f"waits for {tx.awaits or 'receipt'}")


def _by_sweep(rows: Iterable[tuple[UUID | None, str]]) -> dict[UUID, tuple[str, ...]]:
    found: dict[UUID, tuple[str, ...]] = {}
    for sweep_id, value in rows:
        if sweep_id is not None:
            found[sweep_id] = (*found.get(sweep_id, ()), value)
    return found
