"""The unit of work of everything that changes a sweep: what changes is collected, and then written in sets.

The sweeps are locked first, in the order of their ids, so that two units can't wait for each other. However many sweeps
and kinds of rows there are, ``write`` needs the same few statements.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import UUID

import structlog
from django.db import connection, models, transaction
from django.db.models import Func, Q

from ledger import posting
from partners.models import Partner
from sweepapi.monitoring import metrics
from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sets import Insert, InsertNew, Row, Update, instance_of, write
from sweeps.models import EventKind, Execution, SkippedToken, Sweep, SweepEvent, SweepTransaction
from sweeps.models.execution import AMOUNTS
from sweeps.store.resting import BlockId, watch

log = structlog.get_logger(__name__)

_LOCK_ALL = """
SELECT id, version, lease_token, lease_until, clock_timestamp() FROM sweeps_sweep
WHERE id = ANY(%s) ORDER BY id FOR UPDATE
"""
_LOCK_ONE = """
SELECT json_build_object('sweep', sweep, 'partner', partner, 'now', clock_timestamp())
FROM sweeps_sweep AS sweep JOIN partners_partner AS partner ON partner.id = sweep.partner_id
WHERE sweep.id = %(sweep_id)s FOR UPDATE OF sweep
"""
CLOCK = Func(function="clock_timestamp", output_field=models.DateTimeField())
Changed = SweepTransaction | Execution | Sweep
# What changes after a row was stored; the version of a sweep rises by itself.
_STATE: Mapping[type[Changed], Sequence[str]] = {
    SweepTransaction: [
        *("status", "finality", "block_number", "block_hash", "confirmations", "gas_used"),
        *("submitted_at", "confirmed_at", "reason", "logs_digest", "log_index"),
    ],
    Execution: ["status", "closed_at", "booking_epoch", "ledger_entry_id", "search_cursor", *AMOUNTS],
    Sweep: [
        *("status", "is_open", "flags", "last_event", "completed_at", "closed_at", "voided_at", "void_reason"),
        *("cancellation_requested_at", "next_check_at", "check_attempts", "last_checked_at", "last_error"),
        *("lease_token", "lease_until", "watched_block_id"),
    ],
}


@dataclass
class Changes:
    """Rows to write in the caller's transaction, which has locked their sweeps."""

    now: datetime  # by the database's clock
    events: list[Row] = field(default_factory=list)
    skipped: list[Row] = field(default_factory=list)
    fees: list[posting.SweepFee] = field(default_factory=list)
    final_entries: list[UUID] = field(default_factory=list)
    _resting: dict[BlockId, list[Sweep]] = field(default_factory=lambda: defaultdict(list))
    _heads: dict[BlockId, int] = field(default_factory=dict)
    _changed: dict[type[Changed], dict[int, Changed]] = field(default_factory=lambda: {model: {} for model in _STATE})

    def add(self, changed: Changed) -> None:
        """Write a new candidate, or a row that changed, as it is in the end."""
        self._changed[type(changed)][id(changed)] = changed

    def rest(self, sweep: Sweep, block: BlockId, *, head_number: int) -> None:
        """Have the block of its execution looked at instead of the sweep, from the next look at blocks on."""
        sweep.next_check_at = None
        self._resting[block].append(sweep)
        self._heads[block] = max(self._heads.get(block, 0), head_number)

    def write(self) -> None:
        """Write everything, and log the changes of statuses once they are committed."""
        for block, block_id in watch(self._heads, due_at=self.now).items():
            for sweep in self._resting[block]:
                sweep.watched_block_id = block_id
        candidates = [one for one in self._changed[SweepTransaction].values() if isinstance(one, SweepTransaction)]
        new = [tx for tx in candidates if tx.pk is None]
        write(
            *posting.sweep_fee_rows(self.fees),
            *(Update(model, self._stored(model)) for model in _STATE),
            InsertNew(SweepTransaction, new, identity=("execution_id", "tx_hash")),
            Insert(SkippedToken, self.skipped),
            Insert(SweepEvent, self.events),
        )
        posting.finalize(self.final_entries)
        moves = [event for event in self.events if event["kind"] == EventKind.STATUS]
        if moves:
            transaction.on_commit(partial(_log_moves, moves))
        accepted = (tx for tx in candidates if tx.confirmed_at == self.now)
        waited = [self.now - tx.submitted_at for tx in accepted if tx.source != SweepTransaction.Source.DISCOVERED]
        if waited:
            transaction.on_commit(partial(_observe_acceptances, waited))

    def _stored(self, model: type[Changed]) -> list[Row]:
        names = ("id", *_STATE[model])
        stored = (one for one in self._changed[model].values() if one.pk is not None)
        return [dict(zip(names, attrgetter(*names)(one), strict=True)) for one in stored]


@dataclass(frozen=True)
class ReadMark:
    """What shows whether a sweep is still as it was read."""

    version: int
    lease: UUID | None

    @classmethod
    def of(cls, sweep: Sweep) -> "ReadMark":
        return cls(sweep.version, sweep.lease_token)


def lock(*conditions: Q, **lookup: Any) -> tuple[Sweep, Changes]:  # noqa: ANN401 - Django's lookups
    """Lock one sweep and return it; raises ``Sweep.DoesNotExist``."""
    rows = Sweep.objects.select_for_update(of=("self",)).select_related("partner").annotate(locked_at=CLOCK)
    sweep = rows.get(*conditions, **lookup)
    return sweep, Changes(sweep.locked_at)


def lock_one(sweep_id: UUID) -> tuple[Sweep, Changes]:
    """Do what ``lock`` does by a prepared statement."""
    found = fetch_json(_LOCK_ONE, {"sweep_id": sweep_id})
    if found is None:
        raise Sweep.DoesNotExist
    return as_read(found)


def as_read(rows: Mapping[str, Any]) -> tuple[Sweep, Changes]:
    """Return a sweep of its row as ``sweep``, that of its ``partner`` and the time ``now``.

    Unless it was locked, the caller writes only if its ``ReadMark`` is the same under a lock.
    """
    sweep = instance_of(Sweep, rows["sweep"])
    sweep.partner = instance_of(Partner, rows["partner"])
    return sweep, Changes(datetime.fromisoformat(rows["now"]))


def lock_all(sweeps: Collection[Sweep]) -> tuple[Mapping[UUID, ReadMark], Changes]:
    """Lock these sweeps and return their marks; leases that were renewed since they were read end as late as now.

    A renewal does not change the mark.
    """
    with connection.preparing_cursor() as cursor:  # type: ignore[attr-defined]  # of our own backend
        cursor.execute(_LOCK_ALL, [[sweep.id for sweep in sweeps]])
        locked = {sweep_id: facts for sweep_id, *facts in cursor.fetchall()}
    for sweep in sweeps:
        if sweep.id in locked:
            _, _, sweep.lease_until, _ = locked[sweep.id]
    marks = {sweep_id: ReadMark(version, lease) for sweep_id, (version, lease, _, _) in locked.items()}
    return marks, Changes(max(at for *_, at in locked.values()))


def _observe_acceptances(waited: Sequence[timedelta]) -> None:
    for one in waited:
        metrics.ACCEPTANCE_SECONDS.observe(one.total_seconds())


def _log_moves(moves: Sequence[Row]) -> None:
    """Log changes of a status, without their facts: a reason is free text."""
    for event in moves:
        shown = {name: event[name] for name in ("from_status", "to_status", "cause", "tx_hash")}
        log.info("sweep_status_changed", sweep_id=str(event["sweep_id"]), **shown)
