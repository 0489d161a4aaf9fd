"""Measures what only the database and the broker know, every few seconds, in the worker's first process.

A figure may take a second. None reads a whole table: they use partial indexes, and the ledger is walked in slices.
"""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from uuid import UUID

import structlog
from django import db
from django.db import close_old_connections, connection, transaction
from django.db.models import Count, QuerySet
from django.db.models.functions import Now
from redis import RedisError

from indexer import claims
from ledger.entries import balance_check, numbering
from ledger.proofs import checkpoints
from partners.webhooks import claims as claims_of_webhooks
from sweepapi import networks
from sweepapi.broker_state import BrokerState
from sweepapi.monitoring import metrics
from sweepapi.monitoring.repeating import Repeating
from sweeps import processes
from sweeps.models import Comparison, Sweep, SweepTransaction
from sweeps.models.sweep import FLAGS_TO_REVIEW
from sweeps.queues import QUEUE_OF_FLAGGED, QUEUES
from sweeps.rails.registry import EVM_AUDITOR

PAUSE_SECONDS = 5.0
STATEMENT_TIMEOUT_MS = 1_000
CONTRADICTED_FOR = timedelta(minutes=1)  # by then providers that only lag show the same
LEDGER_SLICE = 5_000  # entries; five million take two hours, again and again

log = structlog.get_logger(__name__)


def start() -> None:
    """Measure in a thread of this process, from now on."""
    figures = Figures()

    def work() -> None:
        close_old_connections()
        figures.measure()

    Repeating("figures", work, pause_seconds=PAUSE_SECONDS).start()


@dataclass
class LedgerWalk:
    """How far the current walk through the ledger got, and the entries that were found out of balance."""

    after: UUID = balance_check.FIRST
    found: set[UUID] = field(default_factory=set)  # in this walk
    found_before: set[UUID] = field(default_factory=set)  # in the last whole one

    def step(self) -> None:
        """Check the next entries; after the last one begin again."""
        with _bounded():
            piece = balance_check.check(after=self.after, limit=LEDGER_SLICE)
        for entry in set(piece.unbalanced) - self.found_before - self.found:
            log.error("ledger_unbalanced", entry=str(entry))
        self.found.update(piece.unbalanced)
        self.after = piece.last
        if piece.is_last:
            self.found_before, self.found, self.after = self.found, set(), balance_check.FIRST
        unbalanced = len(self.found_before | self.found)
        metrics.UNBALANCED.set(unbalanced)
        processes.notes[processes.UNBALANCED_ENTRIES] = unbalanced


@dataclass
class Figures:
    """All figures, with what they remember from one measurement to the next."""

    _walk: LedgerWalk = field(default_factory=LedgerWalk)
    _broker: BrokerState = field(default_factory=BrokerState)

    def measure(self) -> None:
        """Measure each; one that takes too long keeps its last value, whose time says how old it is."""
        figures = {
            "due": _due,
            "contradicted": _contradicted,
            "waiting": _waiting,
            "flags": _flagged,
            "ledger": self._walk.step,
            "numbers": _numbers,
            "statements": _statements,
            "books": _books,
            "queue": self._queue,
            "webhooks": _webhooks,
        }
        for name, figure in figures.items():
            try:
                figure()
            except (db.Error, RedisError) as error:
                log.warning("figure_not_measured", figure=name, error=type(error).__name__)
            else:
                metrics.FIGURES.labels(name).set(time.time())

    def _queue(self) -> None:
        for state, count in self._broker.messages().items():
            metrics.QUEUE.labels(state).set(count)


def flagged_sweeps() -> QuerySet[Sweep, tuple[list[str], int]]:
    """Return each combination of flags with the number of sweeps that have it and wait for someone to look at them."""
    waiting = Sweep.objects.filter(QUEUE_OF_FLAGGED.condition())
    return waiting.order_by().values_list("flags").annotate(sweeps=Count("*"))


def _flagged() -> None:
    counts = Counter[str]()
    with _bounded():
        for flags, count in flagged_sweeps():
            counts.update(dict.fromkeys(flags, count))
    for flag in FLAGS_TO_REVIEW:
        metrics.FLAGGED.labels(flag).set(counts[flag])


def _due() -> None:
    with _bounded():
        backlog = claims.backlog()
    metrics.DUE.set(backlog.rows)
    metrics.OLDEST_DUE.set(backlog.oldest.total_seconds())


def _contradicted() -> None:
    with _bounded():
        since = Now() - CONTRADICTED_FOR
        metrics.CONTRADICTED.set(SweepTransaction.objects.filter(contradicted_since__lt=since).count())


def _waiting() -> None:
    with _bounded():
        for queue in QUEUES:
            metrics.WAITING.labels(queue.name).set(Sweep.objects.filter(queue.condition()).count())


def _numbers() -> None:
    with _bounded():
        metrics.UNNUMBERED.set(numbering.oldest_waits().total_seconds())


def _statements() -> None:
    with _bounded():
        waits = checkpoints.oldest_waits().total_seconds()
    metrics.UNSIGNED.set(waits)
    processes.notes[processes.UNSIGNED_SECONDS] = waits


def _webhooks() -> None:
    with _bounded():
        waiting = claims_of_webhooks.backlog()
    metrics.WEBHOOKS_DUE.set(waiting.rows)
    metrics.OLDEST_WEBHOOK.set(waiting.oldest.total_seconds())


def _books() -> None:
    with _bounded():
        unexplained, compared = EVM_AUDITOR.unexplained_events(), list(Comparison.objects.all())
    for chain in networks.current().enabled:
        metrics.UNMATCHED.labels(chain.network).set(unexplained.get(chain.network, 0))
    for one in compared:
        metrics.DIFFERENCES.labels(one.network).set(one.differences)
        metrics.COMPARED.labels(one.network).set(one.compared_at.timestamp())


@contextmanager
def _bounded() -> Iterator[None]:
    """Let the statements within the block take no longer than the timeout."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = {STATEMENT_TIMEOUT_MS}")
        yield
