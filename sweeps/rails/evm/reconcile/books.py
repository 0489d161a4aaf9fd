"""Compares the events in a span of final blocks with executions and the ledger; reads the database, changes nothing.

It does not decide: amounts are compared as they are, and what should be booked follows from the event alone.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ledger.entries.reading import Booked, booked_for
from sweepapi.evm.encoding.responses import MinedLog
from sweepapi.evm.logs.log_scan import ScannedSpan
from sweeps.books.comparison import Blocks, BooksDifference, BooksProblem, Found
from sweeps.books.entries import amount_differences, entry_differences, what_is_due
from sweeps.models import Execution, SweepTransaction
from sweeps.rails.evm.follow.emitted import Emitted, EmittedOutcome
from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile.comparing import OF_ANOTHER_WALLET, UNKNOWN
from sweeps.rails.evm.reconcile.rereading import ContractPlace

# What operators have explained is a difference no longer.
_EXPLAINABLE = {BooksProblem.EVENT_WITHOUT_SWEEP, BooksProblem.EVENT_NOT_RECORDED}


@dataclass(frozen=True)
class _Event:
    """An event with the execution of ours that has its identity."""

    mined: MinedLog
    emitted: Emitted
    ours: Execution | None
    is_explained: bool


def differences(place: ContractPlace, blocks: Blocks, span: ScannedSpan) -> Iterator[BooksDifference]:
    """Yield how the books differ from these blocks, all of whose events the span has."""
    events = list(_events(place, blocks, span))
    shown = {one.ours.pk for one in events if one.ours is not None and one.emitted.user == one.ours.sweep.wallet}
    unseen = [one for one in _accepted(place, blocks) if one.pk not in shown]
    booked = booked_for([one.ours.pk for one in events if one.ours is not None])
    for one in events:
        for problem, message in _found(one, booked):
            if not (one.is_explained and problem in _EXPLAINABLE):
                yield _difference(place, one, problem, message)
    for execution in unseen:
        (tx,) = _accepted_transactions(execution)
        yield BooksDifference(
            problem=BooksProblem.EVENT_MISSING,
            message="Executed in our books, and the contract emitted nothing in this block.",
            venue=place.contract,
            block_number=tx.block_number,
            tx_hash=tx.tx_hash,
            execution_id=execution.execution_id,
            sweep_id=execution.sweep_id,
        )


def _events(place: ContractPlace, blocks: Blocks, span: ScannedSpan) -> Iterator[_Event]:
    shown = [(mined, emitted) for mined in span.logs if (emitted := place.rail.emitted(mined.log)) is not None]
    ids = {emitted.execution_id for _, emitted in shown}
    ours = Execution.objects.filter(network=place.network, venue=place.contract, execution_id__in=ids)
    by_id = {one.execution_id: one for one in ours.select_related("sweep__partner").prefetch_related("transactions")}
    explained = set(
        UnmatchedEvent.objects.filter(
            network=place.network,
            contract=place.contract,
            block_number__range=(blocks.first, blocks.last),
            status=UnmatchedEvent.Status.EXPLAINED,
        ).values_list("block_hash", "tx_hash", "log_position")
    )
    for mined, emitted in shown:
        is_explained = (mined.block_hash, mined.tx_hash, mined.position) in explained
        yield _Event(mined, emitted, by_id.get(emitted.execution_id), is_explained)


def _accepted(place: ContractPlace, blocks: Blocks) -> Sequence[Execution]:
    """Return the executions that we recorded as executed in these blocks."""
    accepted = SweepTransaction.objects.filter(
        status=SweepTransaction.Status.ACCEPTED,
        block_number__range=(blocks.first, blocks.last),
        execution__network=place.network,
        execution__venue=place.contract,
    )
    return list(Execution.objects.filter(transactions__in=accepted).prefetch_related("transactions"))


def _accepted_transactions(execution: Execution) -> list[SweepTransaction]:
    return [tx for tx in execution.transactions.all() if tx.status == SweepTransaction.Status.ACCEPTED]


def _found(one: _Event, booked: Mapping[UUID, frozenset[Booked]]) -> Iterator[Found]:
    execution, outcome = one.ours, one.emitted.outcome
    if execution is None:
        yield BooksProblem.EVENT_WITHOUT_SWEEP, UNKNOWN
    elif outcome is None:
        yield from _of_cancellation(execution)
    elif one.emitted.user != execution.sweep.wallet:
        yield BooksProblem.EVENT_WITHOUT_SWEEP, OF_ANOTHER_WALLET
    elif execution.status != Execution.Status.EXECUTED:
        yield BooksProblem.EVENT_NOT_RECORDED, f"Executed on chain, and {execution.status} in our books."
    else:
        yield from _of_execution(one.mined, outcome, execution)
        parties = outcome.parties
        partner_fee = execution.partner_fee or 0 if parties is None else parties.partner_fee  # V4 does not know it
        due = what_is_due(execution.sweep, outcome.output_token, outcome.total_fee, partner_fee)
        yield from entry_differences(booked.get(execution.pk, frozenset()), due)


def _of_cancellation(execution: Execution) -> Iterator[Found]:
    if execution.status == Execution.Status.EXECUTED:
        yield BooksProblem.EVENT_NOT_RECORDED, "Cancelled on chain, and executed in our books."
    elif execution.closed_at is None:  # one that had expired or failed before could not be executed anyway
        yield BooksProblem.EVENT_NOT_RECORDED, f"Cancelled on chain, and {execution.status} in our books."


def _of_execution(mined: MinedLog, outcome: EmittedOutcome, execution: Execution) -> Iterator[Found]:
    accepted = [tx.tx_hash for tx in _accepted_transactions(execution)]
    if accepted != [mined.tx_hash]:
        yield BooksProblem.OTHER_TRANSACTION, f"Our books have it in {', '.join(accepted) or 'no transaction'}."
    pairs: dict[str, tuple[object, object]] = {
        "output token": (outcome.output_token, execution.sweep.output_asset),
        "gross output": (outcome.gross_output, execution.gross_output),
        "total fee": (outcome.total_fee, execution.total_fee),
        "user's amount": (outcome.user_amount, execution.user_amount),
    }
    if outcome.parties is not None:
        pairs["partner's fee"] = (outcome.parties.partner_fee, execution.partner_fee)
        pairs["protocol's fee"] = (outcome.parties.protocol_fee, execution.protocol_fee)
        pairs["partner"] = (outcome.parties.partner_id, execution.sweep.partner.onchain_id)
    yield from amount_differences(pairs)


def _difference(place: ContractPlace, one: _Event, problem: BooksProblem, message: str) -> BooksDifference:
    return BooksDifference(
        problem=problem,
        message=f"{one.emitted.name}: {message}",
        venue=place.contract,
        block_number=one.mined.block_number,
        tx_hash=one.mined.tx_hash,
        execution_id=one.emitted.execution_id,
        sweep_id=None if one.ours is None else one.ours.sweep_id,
    )
