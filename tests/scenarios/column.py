"""A column of the matrix: a sweep for each lie, copied from an executed one, and the chain that providers show."""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
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
from lab.matrix.fates import WHO, Fate, Subject, fates
from lab.matrix.mutations import Mutation
from lab.matrix.node import Lie, LyingNode, serving
from lab.matrix.told import Told
from sweepapi import networks
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.models import ScannedBlocks
from tests.factories.sweeps import LOCAL
from tests.partner_app import PartnerApp

BLOCKS = 100  # above the first head, and below the newest one
MINUTE = timedelta(minutes=1)


@dataclass
class Column:
    """The sweeps of all lies, and the nodes that tell them."""

    app: PartnerApp
    copier: Copier
    chain: Chain
    nodes: Sequence[LyingNode]
    urls: Sequence[str]
    subjects: dict[str, Subject] = field(default_factory=dict)  # by the name of the lie

    @classmethod
    @contextmanager
    def of(cls, app: PartnerApp, who: str, mutations: Sequence[Mutation]) -> Iterator[Self]:
        """Build a sweep, execute it, and copy it for each lie; all of the chain's blocks are below its head."""
        built = app.build()
        receipt = app.chain.rpc("eth_getTransactionReceipt", app.execute(built))
        original = Original.of(receipt, int(built["feeAuthorization"]["nonce"]))
        chain = Chain(app.chain.world["chainId"], original, started=time.time() - BLOCK_SECONDS * BLOCKS)
        nodes = [LyingNode(chain, is_liar=is_liar) for is_liar in WHO[who]]
        with serving(nodes) as urls:
            column = cls(app, Copier.of(UUID(built["sweepId"])), chain, nodes, urls)
            numbers = range(1, len(mutations) + 1)
            column.copier.copy(numbers, {})
            ids = column.copier.ids(numbers)
            for number, mutation in zip(numbers, mutations, strict=True):
                told = Told(original, Mined(number, FIRST_HEAD + number, 0))
                column.subjects[mutation.name] = Subject(mutation, told, ids[number])
            yield column

    @contextmanager
    def showing(self, mutations: Iterable[Mutation], *, lies: bool) -> Iterator[None]:
        """Let the chain have these transactions alone, and the service read it, with lies or without them.

        What it knows of the providers is new.
        """
        self.chain.clear()
        for one in mutations:
            told = self.subjects[one.name].told
            if one.happened:
                self.chain.execute(told.mined.number, told.mined.number, told.height)
        told_lies = [Lie(self.subjects[one.name].told, one.changes) for one in mutations if lies]
        for node in self.nodes:
            node.lies = told_lies if node.is_liar else []
        patient = replace(networks.current(), rpc_urls={"local": self.urls}, rpc_timeout_seconds=20.0)
        with networks.replaced_by(patient):
            yield

    def report(self, mutations: Iterable[Mutation]) -> None:
        """Store the hashes as if they had been reported while no provider answered."""
        subjects = [self.subjects[one.name] for one in mutations]
        ids = [one.sweep_id for one in subjects]
        executions = dict(Execution.objects.filter(sweep__in=ids).values_list("sweep_id", "id"))
        SweepTransaction.objects.bulk_create(
            SweepTransaction(sweep_id=one.sweep_id, execution_id=executions[one.sweep_id], tx_hash=one.told.tx_hash)
            for one in subjects
        )

    def confirm(self, mutation: Mutation) -> tuple[int, str | None]:
        """Confirm through the API; returns the HTTP status, and what is awaited or the code of the error."""
        subject = self.subjects[mutation.name]
        response = self.app.post_confirm(str(subject.sweep_id), subject.told.tx_hash)
        body = response.json()
        return response.status_code, body["data"]["awaits"] if "data" in body else body["error"]["code"]

    def check(self, mutations: Iterable[Mutation]) -> None:
        """Let the worker check the sweeps of these lies that are open, and no other."""
        ids = [self.subjects[one.name].sweep_id for one in mutations]
        Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now() + MINUTE)
        Sweep.objects.filter(id__in=ids, is_open=True).update(
            next_check_at=timezone.now() - MINUTE, watched_block=None, lease_until=None, lease_token=None
        )
        checks.check_due()

    def wait(self, mutations: Iterable[Mutation], seconds: float) -> None:
        """Let so much time pass since providers showed the transactions."""
        shown = SweepTransaction.objects.filter(sweep__in=[self.subjects[one.name].sweep_id for one in mutations])
        shown.filter(shown_since__isnull=False).update(shown_since=F("shown_since") - timedelta(seconds=seconds))

    def finalize(self) -> None:
        """Make all blocks final; the reconciliation reads them from the first one on that may execute a sweep."""
        self.chain.final = self.chain.head
        ScannedBlocks.objects.update_or_create(
            network=LOCAL,
            contract=self.app.chain.contracts["v5"],
            defaults={"next_block": FIRST_HEAD, "last_hash": None},
        )

    def fates(self, mutations: Iterable[Mutation]) -> dict[str, Fate]:
        """Return what became of the sweeps of these lies, by their names."""
        chosen = list(mutations)
        executed = [self.subjects[one.name].told.tx_hash for one in chosen if one.happened]
        return fates({one.name: self.subjects[one.name] for one in chosen}, executed=executed)
