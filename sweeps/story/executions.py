"""Applies a verdict to one execution of a sweep: to its candidates, its amounts and its journal entry."""

from collections.abc import Iterator, Sequence
from functools import partial
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from ledger.balances import balance_of, is_available
from ledger.entries import posting
from ledger.models import Account, JournalEntry, Settlement
from sweepapi.fees import Split
from sweepapi.monitoring import metrics
from sweeps.models import EventKind, Execution, Flag, SkippedToken, Sweep, SweepTransaction
from sweeps.models.execution import confirmations_at
from sweeps.protocol.rail import Depth, Ended, Ending, Executed, ExecutionVerdict, Skipped, TransactionVerdict
from sweeps.store import transitions
from sweeps.store.stored import StoredSweep

log = structlog.get_logger(__name__)

Tx = SweepTransaction.Status
Finality = SweepTransaction.Finality
REVERTED = "The transaction reverted."  # the reason until a confirm explains it, unless the rail knows it at once
# Why a candidate that was never mined is given up, by how the execution ended.
DROPPED = {
    Ending.RAN_OUT: "The deadline passed before the transaction was mined.",
    Ending.CANCELLED: "The authorization was cancelled on chain.",
    Ending.TAKEN: "Another transaction took its place on chain.",
}
# Why a token was left out, as the end of a sentence.
SKIPPED = {
    SkippedToken.Reason.DROPPED: "the offer that was executed does not contain it",
    SkippedToken.Reason.BELOW_LEAST: "its pool would have paid less than the minimum",
    SkippedToken.Reason.NOT_FILLED: "its pool could not take the whole amount",
}


def fee_of(sweep: Sweep, execution: Execution, tx_hash: str, amounts: Split) -> posting.SweepFee:
    """Return the fee of an execution as it is booked."""
    return posting.SweepFee(
        sweep_ref=sweep.id,
        execution_ref=execution.id,
        booking_epoch=execution.booking_epoch,
        partner=sweep.partner,
        network=sweep.network,
        asset=sweep.output_asset,
        symbol=sweep.output_symbol,
        decimals=sweep.output_decimals,
        wallet=sweep.wallet,
        tx_hash=tx_hash,
        total_fee=amounts.total_fee,
        partner_fee=amounts.partner_fee,
        settlement=Settlement(sweep.settlement),
    )


def _report_one_word(network: str, sweep_id: UUID, tx_hash: str) -> None:
    metrics.ONE_WORD_ACCEPTANCES.labels(network).inc()
    log.warning("accepted_on_one_word", sweep_id=str(sweep_id), tx_hash=tx_hash)


class ExecutionSettlement:
    """One execution of a sweep, and its candidates."""

    verdict: ExecutionVerdict
    ended: Ended | None = None  # set if this check ended the execution

    def __init__(self, stored: StoredSweep, execution: Execution) -> None:
        self.stored = stored
        self.sweep = stored.sweep
        self.execution = execution

    @property
    def candidates(self) -> Sequence[SweepTransaction]:
        return self.stored.candidates_of(self.execution)

    def apply(self, verdict: ExecutionVerdict) -> None:
        """Move the execution as far as the verdict allows."""
        self.verdict = verdict
        if verdict.obstacle:
            self.sweep.last_error = verdict.obstacle
        if self.execution.status == Execution.Status.EXECUTED:
            self._follow()
        else:
            self._decide()

    def _decide(self) -> None:
        for flag in sorted(self.verdict.raised):
            transitions.raise_flag(self.stored, flag)
        for flag in sorted(self.verdict.cleared):
            transitions.clear_flag(self.stored, flag)
        self.execution.search_cursor = self.verdict.search_cursor
        shown = {verdict.tx_hash for verdict in self.verdict.transactions}
        for tx in self._with(Tx.SUBMITTED):
            if tx.tx_hash not in shown:
                tx.stop_waiting()
        for verdict in self.verdict.transactions:
            self._apply(verdict)
        if self.execution.status == Execution.Status.EXECUTED:
            return
        if self.verdict.ended is not None:
            self._end(self.verdict.ended)
        elif any(self._with(Tx.REVERTED)) and not any(self._with(Tx.SUBMITTED)):
            self.execution.status = Execution.Status.FAILED

    def _with(self, status: Tx) -> Iterator[SweepTransaction]:
        return (tx for tx in self.candidates if tx.status == status)

    def _apply(self, verdict: TransactionVerdict) -> None:
        if verdict.waiting is not None and self._is_one_invention_too_many(verdict.tx_hash):
            return
        tx = self._candidate(verdict)
        if verdict.waiting is not None:
            if tx.status == Tx.SUBMITTED:  # what was decided stays so until something else is
                waiting = verdict.waiting
                tx.wait(waiting.awaits, now=self.stored.now, is_contradicted=waiting.is_contradicted)
            return
        tx.stop_waiting()
        inclusion = verdict.inclusion
        tx.block_number, tx.block_hash, tx.gas_used = inclusion.block_number, inclusion.block_hash, inclusion.gas_used
        self._record_depth(tx, Depth.INCLUDED)
        reason = " ".join(mismatch.message for mismatch in verdict.mismatches)
        if verdict.executed is not None:
            if verdict.is_on_one_word:
                transaction.on_commit(partial(_report_one_word, self.sweep.network, self.sweep.id, tx.tx_hash))
            self._execute(tx, verdict.executed)
        elif verdict.reverted:
            explained = tx.reason if tx.status == Tx.REVERTED else reason
            self._mark(tx, Tx.REVERTED, EventKind.REVERTED, explained or REVERTED)
        else:
            self._mark(tx, Tx.REJECTED, EventKind.REJECTED, reason)

    def _is_one_invention_too_many(self, tx_hash: str) -> bool:
        """Whether a hash is new and another one that was found waits already: one provider may invent any number."""
        is_known = any(tx.tx_hash == tx_hash for tx in self.candidates)
        found = SweepTransaction.Source.DISCOVERED
        return not is_known and any(tx.source == found for tx in self._with(Tx.SUBMITTED))

    def _candidate(self, verdict: TransactionVerdict) -> SweepTransaction:
        """Return the candidate of this hash; a transaction that was discovered becomes one."""
        for tx in self.candidates:
            if tx.tx_hash == verdict.tx_hash:
                return tx
        tx = SweepTransaction(
            sweep=self.sweep,
            execution=self.execution,
            tx_hash=verdict.tx_hash,
            source=SweepTransaction.Source.DISCOVERED,
            submitted_at=self.stored.now,
        )
        transitions.note(self.stored, EventKind.DISCOVERED, tx_hash=tx.tx_hash)
        self.stored.candidates.append(tx)
        return tx

    def _mark(self, tx: SweepTransaction, status: Tx, kind: EventKind, reason: str) -> None:
        if tx.status != status and tx.reason != reason:  # a hash that is reported again is decided again
            transitions.note(self.stored, kind, tx_hash=tx.tx_hash, reason=reason)
        tx.status, tx.reason = status, reason

    def _execute(self, tx: SweepTransaction, executed: Executed) -> None:
        sweep, execution = self.sweep, self.execution
        if sweep.voided_at is not None:
            transitions.raise_flag(self.stored, Flag.EXECUTED_AFTER_VOID)
        if executed.is_below_minimum:
            transitions.raise_flag(self.stored, Flag.BELOW_MINIMUM)
        execution.status, execution.amounts = Execution.Status.EXECUTED, executed.amounts
        execution.cancellation_tx_hash = None
        for other in self._with(Tx.SUBMITTED):
            if other is not tx:
                other.stop_waiting()
                other.status, other.reason = Tx.REPLACED, "Another transaction executed the sweep."
        tx.status, tx.confirmed_at, tx.reason = Tx.ACCEPTED, self.stored.now, ""
        tx.logs_digest, tx.log_position = executed.logs_digest, executed.log_position
        transitions.note(self.stored, EventKind.ACCEPTED, tx_hash=tx.tx_hash, block=tx.block_number)
        self._record_skipped(tx, executed.skipped)
        self._book(tx, executed.amounts)

    def _record_skipped(self, tx: SweepTransaction, skipped: Sequence[Skipped]) -> None:
        if not skipped:
            return
        execution, tokens = self.execution, {token.position: token for token in self.stored.tokens}
        for one in skipped:
            token = tokens[one.position]
            left_out = SkippedToken(
                execution_id=execution.id, booking_epoch=execution.booking_epoch, token_id=token.pk, reason=one.reason
            )
            self.stored.skipped.append(left_out)
            facts = {"token": token.asset, "reason": SKIPPED[one.reason]}
            transitions.note(self.stored, EventKind.SKIPPED, tx_hash=tx.tx_hash, **facts)

    def _book(self, tx: SweepTransaction, amounts: Split) -> None:
        if not amounts.total_fee:
            return
        fee = fee_of(self.sweep, self.execution, tx.tx_hash, amounts)
        self.stored.fees.append(fee)
        self.execution.ledger_entry_id = fee.entry_id
        transitions.note(self.stored, EventKind.POSTED, tx_hash=tx.tx_hash, entry=str(fee.entry_id))

    def _end(self, ended: Ended) -> None:
        """Close the execution: it can't happen any more."""
        self.ended = ended
        if ended.ending is Ending.CANCELLED:
            transitions.cancelled(self.stored, self.execution, tx_hash=ended.tx_hash, reason=ended.reason)
        elif ended.ending is Ending.TAKEN:
            self.execution.status = Execution.Status.FAILED
            if all(tx.tx_hash != ended.tx_hash for tx in self._with(Tx.REJECTED)):  # it was not reported
                transitions.note(self.stored, EventKind.REJECTED, tx_hash=ended.tx_hash, reason=ended.reason)
        elif self.execution.status == Execution.Status.PENDING:
            has_candidates = bool(self.candidates)
            self.execution.status = Execution.Status.FAILED if has_candidates else Execution.Status.EXPIRED
        for tx in self._with(Tx.SUBMITTED):
            tx.stop_waiting()
            tx.status, tx.reason = Tx.DROPPED, DROPPED[ended.ending]
        self.execution.closed_at = self.stored.now

    def _follow(self) -> None:
        """Follow the accepted transaction until its block is final; undo the acceptance if the block left the chain."""
        tx = next(self._with(Tx.ACCEPTED))
        depth = self.verdict.accepted
        if depth is Depth.GONE:
            self._undo(tx)
            return
        before = tx.finality
        self._record_depth(tx, depth)
        if tx.finality != before:
            transitions.note(self.stored, EventKind.FINALITY, tx_hash=tx.tx_hash, finality=tx.finality)
        if depth is Depth.FINAL:
            tx.log_position = self.verdict.log_position
            self._finish()

    def _finish(self) -> None:
        self.execution.closed_at = self.stored.now
        if self.execution.ledger_entry_id is not None:
            self.stored.final_entries.append(self.execution.ledger_entry_id)
        if Flag.PARTNER_IN_DEBT in self.sweep.flags and not self._others_lost_their_fee():
            transitions.clear_flag(self.stored, Flag.PARTNER_IN_DEBT)
        if all(tx.status != Tx.REJECTED for tx in self.stored.candidates):  # so one provider made up what contradicted
            transitions.clear_flag(self.stored, Flag.INCONSISTENT_AMOUNTS)

    def _others_lost_their_fee(self) -> bool:
        """Whether a final fee of another execution was reversed, and that execution is not final again."""
        lost = JournalEntry.objects.filter(
            execution_ref=OuterRef("pk"), finality__isnull=False, reversed_by__isnull=False
        )
        is_final = Q(status=Execution.Status.EXECUTED, closed_at__isnull=False)
        others = Execution.objects.filter(sweep_id=self.sweep.id).exclude(pk=self.execution.pk).exclude(is_final)
        return others.filter(Exists(lost)).exists()

    def _undo(self, tx: SweepTransaction) -> None:
        execution = self.execution
        transitions.note(self.stored, EventKind.REORGANISED, tx_hash=tx.tx_hash, block=tx.block_number)
        if execution.ledger_entry_id is not None:
            self._reverse(JournalEntry.objects.get(id=execution.ledger_entry_id))
        execution.ledger_entry_id = None
        execution.booking_epoch += 1
        execution.status, execution.amounts = Execution.Status.PENDING, None
        transitions.raise_flag(self.stored, Flag.REORGANISED)
        for flag in (Flag.BELOW_MINIMUM, Flag.EXECUTED_AFTER_VOID, Flag.EXECUTED_AFTER_CLOSE, Flag.PARTIAL):
            transitions.clear_flag(self.stored, flag)
        tx.status, tx.confirmed_at, tx.reason = Tx.SUBMITTED, None, "Its block left the chain."
        tx.block_number, tx.block_hash, tx.gas_used = None, "", None
        tx.logs_digest, tx.log_position = "", None
        tx.finality, tx.confirmations = Finality.NONE, 0
        for other in self._with(Tx.REPLACED):  # the accepted one is gone, so these may be mined
            other.status, other.reason = Tx.SUBMITTED, ""

    def _reverse(self, entry: JournalEntry) -> None:
        """Reverse the booking; what was paid out of it meanwhile leaves a debt, which no payout can hide."""
        reversal = posting.reverse(entry)
        transitions.note(self.stored, EventKind.REVERSED, tx_hash=entry.tx_hash, entry=str(reversal.id))
        debt = self._debt_left_by_reversing(entry)
        if debt:
            transitions.raise_flag(self.stored, Flag.PARTNER_IN_DEBT)
            log.warning("partner_in_debt", sweep_id=str(self.sweep.id), partner=self.sweep.partner.name, debt=debt)

    def _debt_left_by_reversing(self, entry: JournalEntry) -> int:
        """Return the partner's debt in this asset; 0 if nothing of this entry was available before."""
        available = entry.postings.filter(is_available("entry"), account__name=Account.Name.PARTNER_PAYABLE)
        if not available.exists():
            return 0
        balance = balance_of(self.sweep.partner, network=entry.network, asset=entry.asset)
        return 0 if balance is None else balance.debt

    def _record_depth(self, tx: SweepTransaction, depth: Depth) -> None:
        """Record confirmations and finality; neither decreases when a provider lags."""
        if tx.block_number is not None:
            tx.confirmations = confirmations_at(self.verdict.head_number, tx.block_number, before=tx.confirmations)
        if depth is not Depth.UNKNOWN:
            tx.finality = max(Finality(tx.finality), Finality(depth.value), key=list(Finality).index)
