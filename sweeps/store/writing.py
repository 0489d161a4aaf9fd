"""Writes sweeps, the only module that does: in sets, by the same few statements for one sweep as for hundreds.

The caller's transaction has locked the sweeps, in the order of their ids, so that two can't wait for each other.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import partial
from itertools import chain

import structlog
from django.db import connection, models, transaction

from ledger.entries import posting
from partners.webhooks.models import WebhookMessage
from sweepapi.monitoring import metrics
from sweepapi.postgres.sets import Insert, InsertNew, Row, Update, as_json, as_row
from sweepapi.postgres.sets import write as write_rows
from sweeps.models import EventKind, Execution, SkippedToken, Sweep, SweepEvent, SweepToken, SweepTransaction
from sweeps.store.messages import messages_of
from sweeps.store.statements import statement
from sweeps.store.stored import BlockId, ChangedRow, StoredSweep

log = structlog.get_logger(__name__)

# What tells new rows apart that get their keys from the database.
_IDENTITY: Mapping[type[models.Model], tuple[str, ...]] = {
    SweepToken: ("sweep_id", "position"),
    SweepTransaction: ("execution_id", "tx_hash"),
    SkippedToken: ("execution_id", "booking_epoch", "token_id"),
}


def write(sweeps: Collection[StoredSweep]) -> None:
    """Write what changed, and log the changes of statuses once they are committed.

    Raises ``FixedColumnError`` if something changed that the build fixed.
    """
    _follow_blocks([one for one in sweeps if one.awaited_block is not None])
    messages = [message for one in sweeps for message in messages_of(one)]
    new = _by_model(instance for one in sweeps for instance in one.new())
    changes = [change for one in sweeps for change in one.changes()]
    events = [event for one in sweeps for event in one.events]
    accepted = [one.instance for one in changes if "confirmed_at" in one.columns] + new[SweepTransaction]
    waited = list(_waits(accepted))
    write_rows(
        *posting.sweep_fee_rows([fee for one in sweeps for fee in one.fees]),
        *(_update(model, changes) for model in (SweepTransaction, Execution, Sweep)),
        *(Insert(model, [as_row(instance) for instance in new[model]]) for model in (Sweep, Execution)),
        *(InsertNew(model, new[model], identity) for model, identity in _IDENTITY.items()),
        Insert(SweepEvent, events),
        Insert(WebhookMessage, messages),
    )
    posting.finalize([entry_id for one in sweeps for entry_id in one.final_entries])
    for instance in chain.from_iterable(new.values()):
        instance._state.adding = False  # noqa: SLF001 - Django documents it
    moves = [(one.sweep.network, event) for one in sweeps for event in one.events if event["kind"] == EventKind.STATUS]
    if moves:
        transaction.on_commit(partial(_tell_moves, moves))
    if any(one.fees for one in sweeps):
        transaction.on_commit(partial(_count_booked, [one for one in sweeps if one.fees]))
    if waited:
        transaction.on_commit(partial(_observe_acceptances, waited))


def _by_model(instances: Iterable[models.Model]) -> Mapping[type[models.Model], list[models.Model]]:
    grouped = defaultdict(list)
    for instance in instances:
        grouped[type(instance)].append(instance)
    return grouped


def _update(model: type[models.Model], changes: Sequence[ChangedRow]) -> Update:
    """Return the rows of a table, all with the columns in which any of them changed."""
    ours = [change for change in changes if type(change.instance) is model]
    columns = ["id", *sorted({column for change in ours for column in change.columns})]
    return Update(model, [{column: getattr(one.instance, column) for column in columns} for one in ours])


def _follow_blocks(awaiting: Sequence[StoredSweep]) -> None:
    """Have the blocks followed whose finality these sweeps await, each with the highest head that was read.

    Sorted, so that two sessions can't wait for each other.
    """
    heads: dict[BlockId, int] = {}
    for one in awaiting:
        if one.awaited_block is not None:
            heads[one.awaited_block] = max(one.head_number, heads.get(one.awaited_block, 0))
    if not heads:
        return
    due_at = max(one.now for one in awaiting)
    rows = [{**block._asdict(), "head_number": heads[block], "due_at": due_at} for block in sorted(heads)]
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(statement("follow_blocks"), [as_json(rows)])
        ids = {BlockId(*block): block_id for block_id, *block in cursor.fetchall()}
    for one in awaiting:
        if one.awaited_block is not None:
            one.sweep.watched_block_id = ids[one.awaited_block]


def _waits(candidates: Iterable[models.Model]) -> Iterator[timedelta]:
    """Yield how long each that was reported waited until it was accepted."""
    for tx in candidates:
        if isinstance(tx, SweepTransaction) and tx.confirmed_at and tx.source != SweepTransaction.Source.DISCOVERED:
            yield tx.confirmed_at - tx.submitted_at


def _observe_acceptances(waited: Sequence[timedelta]) -> None:
    for one in waited:
        metrics.ACCEPTANCE_SECONDS.observe(one.total_seconds())


def _count_booked(booked: Sequence[StoredSweep]) -> None:
    """Count what was booked, where it had a price."""
    for one in booked:
        gross = {execution.id: execution.amounts.gross_output for execution in one.executions}
        for fee in one.fees:
            volume, fees = one.micros(gross[fee.execution_ref]), one.micros(fee.total_fee)
            if volume is not None and fees is not None:
                metrics.VOLUME.labels(fee.network).inc(volume / 10**6)
                metrics.FEES.labels(fee.network).inc(fees / 10**6)


def _tell_moves(moves: Sequence[tuple[str, Row]]) -> None:
    """Count and log changes of a status, without their facts: a reason is free text."""
    for network, event in moves:
        metrics.STATUS_CHANGES.labels(network, event["to_status"]).inc()
        shown = {name: event[name] for name in ("from_status", "to_status", "cause", "tx_hash")}
        log.info("sweep_status_changed", sweep_id=str(event["sweep_id"]), **shown)
