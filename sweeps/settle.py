"""The one place where a sweep's status changes because of the chain.

``settle`` takes what was seen (``Sighting``) and applies it under the row's lock, in one transaction without any I/O:
status, candidates, journal entry and the time of the next look move together or not at all. Confirm and the worker both
end here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from ledger import posting
from sweepapi import chains
from sweepapi.evm.nonce_use import Finding, NonceUse, Search
from sweepapi.evm.responses import Receipt
from sweepapi.evm.sightings import Depth, Sighting, Watched
from sweepapi.evm.v5 import SweepExecuted
from sweeps import schedule
from sweeps.matching import Mismatch, Verdict, judge
from sweeps.models import Cancellation, Flag, Sweep, SweepStatus, SweepTransaction

Tx = SweepTransaction.Status
Finality = SweepTransaction.Finality


# A reorganisation, or a provider ahead of the others, may put an event below the head that its build has seen.
SEARCH_MARGIN_BLOCKS = 64


class LeaseLostError(Exception):
    """Another check took the row over while this one looked at the chain."""


@dataclass(frozen=True)
class Settled:
    """The sweep after settling, and why transactions were rejected, by hash."""

    sweep: Sweep
    mismatches: Mapping[str, Sequence[Mismatch]] = field(default_factory=dict)


def watched(sweep: Sweep) -> Watched:
    """Return what to look for on chain; reads the sweep's authorization and transactions from the database."""
    authorization, candidates = sweep.authorization, list(sweep.transactions.all())
    accepted = next((tx for tx in candidates if tx.status == Tx.ACCEPTED), None)
    return Watched(
        key=sweep.id,
        contract=authorization.contract,
        nonce=authorization.nonce,
        deadline=authorization.deadline_seconds,
        tx_hashes=() if accepted is not None else tuple(tx.tx_hash for tx in candidates),
        accepted=block_of(accepted) if accepted is not None else None,
    )


def block_of(tx: SweepTransaction) -> tuple[int, str]:
    """Return the height and hash of the block that a judged transaction was seen in."""
    if tx.block_number is None or tx.block_hash is None:
        raise ValueError(f"{tx.tx_hash} was never seen in a block")
    return tx.block_number, tx.block_hash


def search_for(sweep: Sweep, sighting: Sighting) -> Search | None:
    """Return where to search for what used the sweep's nonce; None if it is unused, or a known transaction used it."""
    authorization = sweep.authorization
    receipts = [receipt for receipt in sighting.receipts.values() if receipt is not None]
    if sweep.status == SweepStatus.COMPLETED or not sighting.nonce_used or sighting.safe_number is None:
        return None
    if any(judge(receipt, authorization).executed for receipt in receipts):
        return None
    first_block = sweep.search_from_block or max(sweep.built_at_block - SEARCH_MARGIN_BLOCKS, 0)
    return Search(
        key=sweep.id,
        contract=authorization.contract,
        nonce=authorization.nonce,
        first_block=min(first_block, sighting.safe_number),
        last_block=sighting.safe_number,
    )


def settle(*, sweep_id: UUID, sighting: Sighting, lease: UUID | None = None) -> Settled:
    """Apply a sighting to a sweep and return what came of it.

    With a ``lease`` nothing is written, and ``LeaseLostError`` raised, unless the row still carries it. The sighting
    may be older than the row: a sweep that was completed meanwhile is only taken back by evidence about its own block.
    """
    with transaction.atomic():
        sweep = (
            Sweep.objects.select_for_update(of=("self",)).select_related("authorization", "partner").get(id=sweep_id)
        )
        if lease is not None and sweep.lease_token != lease:
            raise LeaseLostError
        settlement = _Settlement(sweep, sighting, timezone.now())
        if sweep.is_open:
            settlement.apply()
            sweep.save()
        return Settled(sweep, settlement.mismatches)


class _Settlement:
    """One application of one sighting to one locked sweep."""

    def __init__(self, sweep: Sweep, sighting: Sighting, now: datetime) -> None:
        self.sweep = sweep
        self.authorization = sweep.authorization
        self.candidates = list(sweep.transactions.all())
        self.sighting = sighting
        self.finding = sighting.finding
        self.receipts = dict(sighting.receipts)
        self.now = now
        self.mismatches: dict[str, Sequence[Mismatch]] = {}

    def apply(self) -> None:
        """Move the sweep as far as the sighting allows, and say when to look again."""
        self.sweep.last_error = ""
        if self.sweep.status == SweepStatus.COMPLETED:
            self._watch()
        else:
            self._admit_discovered()
            self._judge_receipts()
            if self.sweep.status != SweepStatus.COMPLETED:
                self._weigh_nonce()
        self._note_check()

    def _admit_discovered(self) -> None:
        """Make a candidate of an execution that nobody reported."""
        receipt = self.finding.receipt if self.finding is not None else None
        if receipt is None:
            return
        self.receipts[receipt.tx_hash] = receipt
        if all(tx.tx_hash != receipt.tx_hash for tx in self.candidates):
            source = SweepTransaction.Source.DISCOVERED
            self.candidates.append(self.sweep.transactions.create(tx_hash=receipt.tx_hash, source=source))

    def _judge_receipts(self) -> None:
        for tx in self.candidates:
            receipt = self.receipts.get(tx.tx_hash)
            if receipt is not None:
                self._apply_verdict(tx, receipt, judge(receipt, self.authorization))
                if self.sweep.status == SweepStatus.COMPLETED:
                    return
        has_live = any(tx.status == Tx.SUBMITTED for tx in self.candidates)
        has_reverted = any(tx.status == Tx.REVERTED for tx in self.candidates)
        if self.sweep.status == SweepStatus.PENDING and has_reverted and not has_live:
            self.sweep.status = SweepStatus.FAILED

    def _apply_verdict(self, tx: SweepTransaction, receipt: Receipt, verdict: Verdict) -> None:
        tx.block_number, tx.block_hash, tx.gas_used = receipt.block_number, receipt.block_hash, receipt.gas_used
        if verdict.executed is not None:
            self._complete(tx, verdict.executed)
            return
        if verdict.reverted:
            tx.status, tx.reason = Tx.REVERTED, "The transaction reverted."
        else:
            tx.status, tx.reason = Tx.REJECTED, " ".join(mismatch.message for mismatch in verdict.mismatches)
            self.mismatches[tx.tx_hash] = verdict.mismatches
            if any(mismatch.code == "inconsistent" for mismatch in verdict.mismatches):
                self.sweep.flag(Flag.INCONSISTENT_AMOUNTS)
        self._place(tx, Depth.INCLUDED)
        tx.save()

    def _complete(self, tx: SweepTransaction, event: SweepExecuted) -> None:
        sweep = self.sweep
        if sweep.voided_at is not None:
            sweep.flag(Flag.EXECUTED_AFTER_VOID)
        if event.gross_output < sweep.min_gross:
            sweep.flag(Flag.BELOW_MINIMUM)
        sweep.lower(Flag.NONCE_USED)
        Cancellation.objects.filter(sweep=sweep).update(last_error="")  # whatever was in its way, it came too late
        sweep.status, sweep.completed_at = SweepStatus.COMPLETED, self.now
        sweep.gross_output, sweep.user_amount = event.gross_output, event.user_amount
        sweep.total_fee, sweep.partner_fee, sweep.protocol_fee = event.total_fee, event.partner_fee, event.protocol_fee
        for other in self.candidates:
            if other is not tx and other.status == Tx.SUBMITTED:
                other.status, other.reason = Tx.REPLACED, "Another transaction executed the sweep."
                other.save()
        tx.status, tx.confirmed_at, tx.reason = Tx.ACCEPTED, self.now, ""
        self._place(tx, Depth.INCLUDED)
        tx.save()
        posting.post_sweep_fee(
            sweep_ref=sweep.id,
            incarnation=sweep.incarnation,
            partner=sweep.partner,
            chain_id=sweep.chain_id,
            token=sweep.output_token,
            tx_hash=tx.tx_hash,
            total_fee=event.total_fee,
            partner_fee=event.partner_fee,
            settled_on_chain=True,
        )

    def _weigh_nonce(self) -> None:
        """Close the sweep if its nonce can never be used; flag it if the nonce was used by nobody we know."""
        if self.sighting.nonce_used:
            self.sweep.flag(Flag.NONCE_USED)
        elif self.sighting.nonce_used is False:
            self.sweep.lower(Flag.NONCE_USED)
            self.sweep.search_from_block = None
        if self.finding is not None:
            self._weigh_finding(self.finding)
        elif self.sighting.agreed and self.sighting.proves_unused(self.authorization.deadline_seconds):
            self._end()

    def _end(self) -> None:
        if self.sweep.status == SweepStatus.PENDING:
            self.sweep.status = SweepStatus.FAILED if self.candidates else SweepStatus.EXPIRED
        self._drop_submitted("The authorization ran out before the transaction was mined.")
        self._close()

    def _weigh_finding(self, finding: Finding) -> None:
        """Close the sweep if its nonce was cancelled for good; otherwise say what is in the way."""
        self.sweep.search_from_block = finding.resume_at
        if finding.use is not None and finding.use.cancelled_by is not None:
            if finding.agreed:
                self._cancel(finding.use)
            else:
                self.sweep.last_error = "The providers disagree about a cancellation on chain."
        elif finding.use is None:
            self.sweep.last_error = "The nonce is used, and no event was found yet that says by what."
        else:
            self.sweep.last_error = "An event says that it was executed, and no receipt bears that out."

    def _cancel(self, use: NonceUse) -> None:
        sweep = self.sweep
        wanted = Cancellation.objects.filter(sweep=sweep).values_list("reason", flat=True).first()
        reasons = [sweep.void_reason or wanted, f"cancelled on chain by {use.cancelled_by} in {use.tx_hash}"]
        sweep.status, sweep.voided_at = SweepStatus.VOID, sweep.voided_at or self.now
        sweep.void_reason = "; ".join(filter(None, reasons))
        sweep.lower(Flag.NONCE_USED)
        sweep.flag(Flag.CANCELLED_ON_CHAIN)
        self._drop_submitted("The authorization was cancelled on chain.")
        self._close()

    def _drop_submitted(self, reason: str) -> None:
        for tx in self.candidates:
            if tx.status == Tx.SUBMITTED:
                tx.status, tx.reason = Tx.DROPPED, reason
                tx.save()

    def _watch(self) -> None:
        """Follow the accepted transaction until its block is final; take the completion back if it left the chain."""
        tx = next(tx for tx in self.candidates if tx.status == Tx.ACCEPTED)
        depth = self.sighting.depth(*block_of(tx))
        if depth in (Depth.GONE, Depth.FINAL) and not self.sighting.agreed:
            self.sweep.last_error = "The providers disagree about the accepted block."
        elif depth is Depth.GONE:
            self._take_back(tx)
        else:
            self._place(tx, depth)
            tx.save()
            if depth is Depth.FINAL:
                self._close()

    def _take_back(self, tx: SweepTransaction) -> None:
        sweep = self.sweep
        posting.reverse(sweep_ref=sweep.id, incarnation=sweep.incarnation, tx_hash=tx.tx_hash)
        sweep.incarnation += 1
        sweep.flag(Flag.REORGANISED)
        sweep.lower(Flag.BELOW_MINIMUM)
        sweep.lower(Flag.EXECUTED_AFTER_VOID)
        sweep.status, sweep.completed_at = SweepStatus.PENDING, None
        sweep.gross_output = sweep.user_amount = sweep.total_fee = sweep.partner_fee = sweep.protocol_fee = None
        tx.status, tx.confirmed_at, tx.reason = Tx.SUBMITTED, None, "Its block left the chain."
        tx.block_number = tx.block_hash = tx.gas_used = None
        tx.finality, tx.confirmations = Finality.NONE, 0
        tx.save()
        for other in self.candidates:
            if other.status == Tx.REPLACED:  # its rival is gone, so it may yet be the one
                other.status, other.reason = Tx.SUBMITTED, ""
                other.save()

    def _place(self, tx: SweepTransaction, depth: Depth) -> None:
        """Note how deep the transaction's block lies; neither figure ever falls because a provider lags."""
        tx.confirmations = max(tx.confirmations, self.sighting.head_number - block_of(tx)[0] + 1)
        if depth is not Depth.UNKNOWN:
            tx.finality = Finality(depth.value)

    def _close(self) -> None:
        self.sweep.is_open, self.sweep.closed_at = False, self.now

    def _note_check(self) -> None:
        sweep = self.sweep
        sweep.check_attempts += 1
        sweep.last_checked_at = self.now
        sweep.lease_token = sweep.lease_until = None
        sweep.next_check_at = self._next_check_at() if sweep.is_open else None

    def _recheck_at(self) -> datetime:
        return schedule.recheck(self.now, chains.by_id(self.sweep.chain_id).finality)

    def _has_run_out(self) -> bool:
        """Whether the chain's clock is past the deadline, whatever the server's says."""
        safe_timestamp = self.sighting.safe_timestamp
        return safe_timestamp is not None and safe_timestamp > self.authorization.deadline_seconds

    def _changes_within_blocks(self) -> bool:
        sweep = self.sweep
        return (
            sweep.status == SweepStatus.COMPLETED
            or Flag.REORGANISED in sweep.flags  # mined again within blocks, as a rule
            or sweep.search_from_block is not None
            or (not self._has_run_out() and Cancellation.objects.filter(sweep=sweep).exists())
        )

    def _next_check_at(self) -> datetime:
        soon = [self._recheck_at()] if self._changes_within_blocks() else []
        if any(tx.status == Tx.SUBMITTED for tx in self.candidates):
            soon.append(schedule.backed_off(self.now, since=max(tx.submitted_at for tx in self.candidates)))
        if soon:
            return min(soon)
        if self.now < self.authorization.deadline and not self._has_run_out():
            if Flag.NONCE_USED in self.sweep.flags:
                return self._recheck_at()
            return schedule.after_deadline(self.authorization.deadline_seconds)
        return schedule.backed_off(self.now, since=self.authorization.deadline)
