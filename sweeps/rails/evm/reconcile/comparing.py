"""Compares the events in a span of final blocks with our executions: what to settle, and what matches nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

import structlog

from sweepapi.evm.encoding.responses import MinedLog, Receipt
from sweepapi.evm.logs import log_scan
from sweepapi.evm.logs.log_scan import Scan, ScannedSpan
from sweepapi.evm.logs.log_search import Event, Hit, SearchFinding
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.evm.logs.standing import SeenTransaction, Standing
from sweepapi.networks import Networks
from sweeps.models import Execution, SweepTransaction
from sweeps.protocol.rail import Ended, Ending
from sweeps.rails.evm.follow.emitted import Emitted
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.rail import EvmRail
from sweeps.rails.evm.reconcile.rereading import ContractPlace
from sweeps.store.reading import read

log = structlog.get_logger(__name__)

UNKNOWN = "No execution of ours has this identity."
OF_ANOTHER_WALLET = "Our execution with this identity is of another wallet."
SECOND = "Our execution was accepted in another transaction, whose block is final."


@dataclass(frozen=True)
class Unmatched:
    """An event that is not what we offered."""

    mined: MinedLog
    emitted: Emitted
    reason: str
    sweep_id: UUID | None = None  # that with the same identity; None if there is none of this wallet


@dataclass(frozen=True)
class EventComparison:
    """What the events of a span mean."""

    readings: list[tuple[UUID, EvmReading]] = field(default_factory=list)
    unmatched: list[Unmatched] = field(default_factory=list)
    unproven: set[str] = field(default_factory=set)  # transactions that a later run has to read again


@dataclass(frozen=True)
class _Named:
    """An event, and the execution of ours that has its identity."""

    mined: MinedLog
    emitted: Emitted
    execution: Execution

    @property
    def is_settled(self) -> bool:
        """Whether it was accepted, or is the cancellation that is known, or one of what was over before."""
        is_closed = self.execution.closed_at is not None
        if self.emitted.user != self.execution.sweep.wallet:
            is_known = self.execution.cancellation_tx_hash in (None, self.mined.tx_hash)
            return self.emitted.user is None and is_closed and is_known
        return any(
            tx.status == SweepTransaction.Status.ACCEPTED
            and tx.tx_hash == self.mined.tx_hash
            and (is_closed or tx.block_hash == self.mined.block_hash)
            for tx in self.execution.transactions.all()
        )


@dataclass(frozen=True)
class _Question:
    """An event that is not settled, with what is followed of its sweep and what it says about it."""

    named: _Named
    followed: FollowedEvmSweep
    event: Event

    @property
    def tx_hash(self) -> str:
        return self.named.mined.tx_hash

    @property
    def is_elsewhere(self) -> bool:
        """Whether the execution was accepted in another transaction or block."""
        return self.followed.accepted is not None


def compare(registry: Networks, place: ContractPlace, scan: Scan, span: ScannedSpan) -> EventComparison:
    """Return what the events of a span mean; reads the receipts of those that something depends on."""
    result = EventComparison()
    questions = list(_questions(place.rail, _named(place, span, result), result))
    moved = [one for one in questions if one.is_elsewhere]
    result.unproven.update(one.tx_hash for one in moved)
    result.readings.extend(_second_readings(registry, place, moved))
    here = [one for one in questions if not one.is_elsewhere]
    result.readings.extend((one.followed.sweep_id, _found(scan, one, None)) for one in here if not one.event.is_hint)
    hints = [one for one in here if one.event.is_hint]
    wanted = {one.tx_hash for one in hints}
    receipts = log_scan.receipts(
        registry.pool(place.network), place.stream, [mined for mined in span.logs if mined.tx_hash in wanted]
    )
    result.unproven.update(wanted - receipts.keys())
    for one in hints:
        if one.tx_hash in receipts:
            _decide(scan, one, receipts[one.tx_hash], result)
    return result


def _named(place: ContractPlace, span: ScannedSpan, result: EventComparison) -> list[_Named]:
    """Return the events about executions of ours that are not settled; those with an unknown identity are noted."""
    shown = [(mined, emitted) for mined in span.logs if (emitted := place.rail.emitted(mined.log)) is not None]
    ids = {emitted.execution_id for _, emitted in shown}
    executions = Execution.objects.filter(network=place.network, venue=place.contract, execution_id__in=ids)
    by_id = {one.execution_id: one for one in executions.select_related("sweep").prefetch_related("transactions")}
    named = []
    for mined, emitted in shown:
        execution = by_id.get(emitted.execution_id)
        if execution is None:
            result.unmatched.append(Unmatched(mined, emitted, UNKNOWN))
        else:
            named.append(_Named(mined, emitted, execution))
    return [one for one in named if not one.is_settled and not _is_of_adopted(one, result)]


def _is_of_adopted(one: _Named, result: EventComparison) -> bool:
    """Whether it is another event of a sweep that was adopted, of which no terms are known to decide by."""
    sweep = one.execution.sweep
    if sweep.is_adopted:
        reason = SECOND if one.emitted.user == sweep.wallet else OF_ANOTHER_WALLET
        result.unmatched.append(Unmatched(one.mined, one.emitted, reason, sweep.id if reason == SECOND else None))
    return sweep.is_adopted


def _questions(rail: EvmRail, named: Sequence[_Named], result: EventComparison) -> Iterator[_Question]:
    sweeps = read({one.execution.sweep_id for one in named})
    followed = dict(zip(sweeps, rail.follow(list(sweeps.values())), strict=True))
    for one in named:
        subject = followed[one.execution.sweep_id]
        event = subject.terms.read(one.mined.log)
        if event is None:
            result.unmatched.append(Unmatched(one.mined, one.emitted, OF_ANOTHER_WALLET))
        elif one.execution.status == Execution.Status.EXECUTED and one.execution.closed_at is not None:
            result.unmatched.append(Unmatched(one.mined, one.emitted, SECOND, subject.sweep_id))
        else:
            yield _Question(one, subject, event)
            if isinstance(event.value, Ended) and event.value.ending is Ending.TAKEN:
                result.unmatched.append(Unmatched(one.mined, one.emitted, event.value.reason, subject.sweep_id))


def _second_readings(
    registry: Networks, place: ContractPlace, moved: Sequence[_Question]
) -> Iterator[tuple[UUID, EvmReading]]:
    """Read what was accepted elsewhere: its block may have left the chain."""
    lots = place.rail.read(registry, place.network, [one.followed for one in moved])
    return ((sweep_id, one) for readings in lots for sweep_id, one in readings if one is not None)


def _decide(scan: Scan, question: _Question, receipt: Receipt, result: EventComparison) -> None:
    followed, named = question.followed, question.named
    log.info(
        "execution_found", sweep_id=str(followed.sweep_id), network=named.execution.network, tx_hash=receipt.tx_hash
    )
    result.readings.append((followed.sweep_id, _found(scan, question, receipt)))
    reason = " ".join(mismatch.message for mismatch in followed.match(receipt).mismatches)
    if reason:
        result.unmatched.append(Unmatched(named.mined, named.emitted, reason, followed.sweep_id))


def _found(scan: Scan, question: _Question, receipt: Receipt | None) -> EvmReading:
    sighting = Sighting(
        head_number=scan.head_number,
        safe_number=scan.final_number,
        final_number=scan.final_number,
        receipts={},
        canonical=None,
        state=True,  # the event says so
        safe_timestamp=None,
    )
    hit = Hit(question.event, question.named.mined)
    seen = None if receipt is None else SeenTransaction(receipt, Standing.AGREED)
    return EvmReading(sighting, SearchFinding(hit, seen, agreed=True, resume_at=None), is_final=True)
