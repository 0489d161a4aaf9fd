"""Decides what a reading of a sweep on EVM means: plain values in, a verdict out, so every case is easy to test."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.logs.log_search import SearchFinding
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.evm.logs.standing import SeenTransaction, Standing
from sweeps.models import Flag, SweepTransaction
from sweeps.protocol.rail import (
    Depth,
    Ended,
    Ending,
    Executed,
    ExecutionVerdict,
    Inclusion,
    TransactionVerdict,
    Verdict,
    Waiting,
)
from sweeps.rails.evm.follow.followed import EvmAcceptance, FollowedEvmSweep, depth_of
from sweeps.rails.evm.follow.following import EvmReading

DISPUTED = "The providers disagree about the accepted block."
BLOCK, AGREEMENT = SweepTransaction.Awaits.BLOCK, SweepTransaction.Awaits.AGREEMENT
AWAITED = "No second provider shows the same of the accepted block yet."


def decide(followed: FollowedEvmSweep, reading: EvmReading) -> Verdict:
    """Return the verdict. The reading may be older than what is followed."""
    return Verdict(
        executions={followed.execution_id: _execution(followed, reading)},
        has_run_out=followed.has_run_out(reading.sighting),
        is_final=reading.is_final,
    )


def _execution(followed: FollowedEvmSweep, reading: EvmReading) -> ExecutionVerdict:
    if followed.accepted is not None:
        return _accepted(followed, followed.accepted, reading.sighting)
    transactions = list(_transactions(followed, reading))
    is_inconsistent = any(mismatch.code == "inconsistent" for one in transactions for mismatch in one.mismatches)
    raised = frozenset({Flag.INCONSISTENT_AMOUNTS.value} if is_inconsistent else ())
    if any(one.executed for one in transactions):
        cleared = frozenset({followed.terms.used_flag})
        return ExecutionVerdict(reading.sighting.head_number, transactions, raised=raised, cleared=cleared)
    return _unexecuted(followed, reading, transactions, raised)


def _accepted(followed: FollowedEvmSweep, accepted: EvmAcceptance, sighting: Sighting) -> ExecutionVerdict:
    """Compare by the block, and once that is final by the receipt, which a single provider was enough for so far."""
    depth = depth_of(sighting, accepted.height, accepted.block_hash)
    if depth in (Depth.GONE, Depth.FINAL) and not sighting.agreed:
        obstacle = DISPUTED if sighting.is_disputed else AWAITED
        return ExecutionVerdict(sighting.head_number, obstacle=obstacle)
    if depth is not Depth.FINAL:
        return ExecutionVerdict(sighting.head_number, accepted=depth)
    receipt = sighting.receipts.get(accepted.tx_hash)
    is_unused = followed.is_left_unused(sighting)
    if receipt is None and not is_unused:
        return ExecutionVerdict(sighting.head_number, obstacle="No provider shows the accepted transaction any more.")
    executed = None if receipt is None else _shown(followed, receipt, accepted)
    if executed is None:
        message = "The final block does not show the execution that was accepted."
        return ExecutionVerdict(sighting.head_number, accepted=Depth.GONE, obstacle=message)
    if is_unused:
        message = f"The final block shows the execution that was accepted, but its {followed.terms.identity} is unused."
        return ExecutionVerdict(sighting.head_number, obstacle=message)
    return ExecutionVerdict(sighting.head_number, accepted=depth, log_position=executed.log_position)


def _shown(followed: FollowedEvmSweep, receipt: Receipt, accepted: EvmAcceptance) -> Executed | None:
    """Return what a receipt shows in that very block; None unless it is what was accepted."""
    is_in_block = (receipt.block_number, receipt.block_hash) == (accepted.height, accepted.block_hash)
    executed = followed.match(receipt).executed if is_in_block and receipt.succeeded else None
    is_same = executed is not None and (executed.amounts, executed.skipped) == (accepted.paid, accepted.skipped)
    return executed if is_same else None


def _transactions(followed: FollowedEvmSweep, reading: EvmReading) -> Iterator[TransactionVerdict]:
    """Yield the verdict on each mined transaction, up to the first that executed the sweep; a found one is last."""
    known = reading.sighting.seen
    seen = {tx_hash: known[tx_hash] for tx_hash in followed.tx_hashes if tx_hash in known}
    found = reading.finding.seen if reading.finding is not None else None
    if found is not None and not (found.standing is Standing.ALONE and found.receipt.tx_hash in seen):
        seen.pop(found.receipt.tx_hash, None)
        seen[found.receipt.tx_hash] = found
    was_ended = reading.finding is not None and reading.finding.agreed  # by a cancellation, or on other terms
    is_explained = was_ended or any(followed.explains_use(one.receipt) for one in seen.values())
    for one in seen.values():
        verdict = _transaction(followed, one.receipt)
        waiting = _missing(followed, one, verdict, reading.sighting, is_explained=is_explained)
        if waiting is not None:
            yield TransactionVerdict(verdict.tx_hash, verdict.inclusion, waiting)
            continue
        yield replace(verdict, is_on_one_word=one.standing is Standing.ALONE)
        if verdict.executed is not None:
            return


def _unexecuted(
    followed: FollowedEvmSweep, reading: EvmReading, transactions: Sequence[TransactionVerdict], raised: frozenset[str]
) -> ExecutionVerdict:
    """Compare by the identity: the execution ends if it can't be used any more; an unexplained use is flagged."""
    sighting, finding = reading.sighting, reading.finding
    used = frozenset({followed.terms.used_flag})
    ended, obstacle, cursor = None, "", followed.search_cursor if sighting.state is not False else ""
    if finding is not None:
        ended, obstacle = _found(followed, finding)
        cursor = "" if finding.resume_at is None else str(finding.resume_at)
    elif sighting.agreed and followed.is_proven_unused(sighting):
        ended = Ended(Ending.RAN_OUT)
    is_cancelled = ended is not None and ended.ending is Ending.CANCELLED
    return ExecutionVerdict(
        sighting.head_number,
        transactions,
        ended=ended,
        raised=raised | used if sighting.state and not is_cancelled else raised,
        cleared=used if sighting.state is False or is_cancelled else frozenset(),
        obstacle=obstacle,
        search_cursor=cursor,
    )


def _found(followed: FollowedEvmSweep, finding: SearchFinding) -> tuple[Ended | None, str]:
    """Return how the execution ended, or None and the obstacle."""
    hit = finding.hit
    if hit is None:
        return None, f"The {followed.terms.identity} is used, but the event that used it has not been found yet."
    if not isinstance(hit.event.value, Ended):
        return None, "An event shows an execution, but no receipt confirms it."
    if not finding.agreed:
        return None, f"The providers disagree about the event that used the {followed.terms.identity}."
    return replace(hit.event.value, tx_hash=hit.tx_hash), ""


def _transaction(followed: FollowedEvmSweep, receipt: Receipt) -> TransactionVerdict:
    """Return what a receipt means."""
    inclusion = Inclusion(receipt.block_number, receipt.block_hash, receipt.gas_used)
    if not receipt.succeeded:
        return TransactionVerdict(receipt.tx_hash, inclusion, reverted=True)
    match = followed.match(receipt)
    return TransactionVerdict(receipt.tx_hash, inclusion, executed=match.executed, mismatches=match.mismatches)


def _missing(
    followed: FollowedEvmSweep,
    seen: SeenTransaction,
    verdict: TransactionVerdict,
    sighting: Sighting,
    *,
    is_explained: bool,
) -> Waiting | None:
    """Return what is missing before a verdict counts.

    ``is_explained`` says that a known transaction used the identity.
    """
    if seen.standing is Standing.UNPLACED:
        return Waiting(BLOCK)
    is_contradicted = seen.standing is Standing.CONTRADICTED
    if is_contradicted or (verdict.executed is not None and False in seen.states):  # the identity is unused at the head
        return Waiting(AGREEMENT, is_contradicted=True)
    if verdict.executed is None:  # a refusal never counts on one word, nor while something unknown used the identity
        is_doubtful = seen.standing is Standing.ALONE or (True in seen.states and not is_explained)
        return Waiting(AGREEMENT) if is_doubtful else None
    is_bounded = verdict.executed.amounts.gross_output <= followed.most_on_one_word
    if seen.standing is Standing.ONLY:
        is_safe = sighting.safe_number is not None and sighting.safe_number >= seen.receipt.block_number
        return None if is_bounded or is_safe else Waiting(BLOCK)
    if seen.standing is Standing.ALONE:
        return None if is_bounded and seen.receipt.tx_hash in followed.waited_for else Waiting(AGREEMENT)
    return None
