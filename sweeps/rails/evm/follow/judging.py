"""Judges what was seen of a sweep on any EVM rail: plain values in, a verdict out, so every case is easy to test."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from sweepapi.evm.encoding.responses import Receipt
from sweepapi.evm.logs.log_search import SearchFinding
from sweepapi.evm.logs.sightings import Sighting
from sweeps.models import Flag
from sweeps.protocol.rail import (
    Depth,
    Ended,
    Ending,
    Executed,
    ExecutionVerdict,
    Inclusion,
    TransactionVerdict,
    Verdict,
)
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.follow.watching import EvmAcceptance, FollowedEvmSweep, depth_of

DISPUTED = "The providers disagree about the accepted block."
AWAITED = "No second provider shows the same of the accepted block yet."


def judge(watched: FollowedEvmSweep, seen: EvmReading) -> Verdict:
    """Return the verdict. What was seen may be older than what is watched."""
    return Verdict(
        executions={watched.execution_id: _execution(watched, seen)},
        has_run_out=watched.has_run_out(seen.sighting),
        is_final=seen.is_final,
    )


def _execution(watched: FollowedEvmSweep, seen: EvmReading) -> ExecutionVerdict:
    if watched.accepted is not None:
        return _accepted(watched, watched.accepted, seen.sighting)
    transactions = list(_transactions(watched, seen))
    is_inconsistent = any(mismatch.code == "inconsistent" for one in transactions for mismatch in one.mismatches)
    raised = frozenset({Flag.INCONSISTENT_AMOUNTS.value} if is_inconsistent else ())
    if any(one.executed for one in transactions):
        cleared = frozenset({watched.terms.used_flag})
        return ExecutionVerdict(seen.sighting.head_number, transactions, raised=raised, cleared=cleared)
    return _unexecuted(watched, seen, transactions, raised)


def _accepted(watched: FollowedEvmSweep, accepted: EvmAcceptance, sighting: Sighting) -> ExecutionVerdict:
    """Judge by the block, and once that is final by the receipt, which a single provider was enough for so far."""
    depth = depth_of(sighting, accepted.height, accepted.block_hash)
    if depth in (Depth.GONE, Depth.FINAL) and not sighting.agreed:
        obstacle = DISPUTED if sighting.is_disputed else AWAITED
        return ExecutionVerdict(sighting.head_number, obstacle=obstacle)
    if depth is not Depth.FINAL:
        return ExecutionVerdict(sighting.head_number, accepted=depth)
    receipt = sighting.receipts.get(accepted.tx_hash)
    is_unused = watched.is_left_unused(sighting)
    if receipt is None and not is_unused:
        return ExecutionVerdict(sighting.head_number, obstacle="No provider shows the accepted transaction any more.")
    executed = None if receipt is None else _shown(watched, receipt, accepted)
    if executed is None:
        message = "The final block does not show the execution that was accepted."
        return ExecutionVerdict(sighting.head_number, accepted=Depth.GONE, obstacle=message)
    if is_unused:
        message = f"The final block shows the execution that was accepted, but its {watched.terms.identity} is unused."
        return ExecutionVerdict(sighting.head_number, obstacle=message)
    return ExecutionVerdict(sighting.head_number, accepted=depth, log_index=executed.log_index)


def _shown(watched: FollowedEvmSweep, receipt: Receipt, accepted: EvmAcceptance) -> Executed | None:
    """Return what a receipt shows in that very block; None unless it is what was accepted."""
    is_in_block = (receipt.block_number, receipt.block_hash) == (accepted.height, accepted.block_hash)
    executed = _transaction(watched, receipt).executed if is_in_block else None
    is_same = executed is not None and (executed.amounts, executed.skipped) == (accepted.paid, accepted.skipped)
    return executed if is_same else None


def _transactions(watched: FollowedEvmSweep, seen: EvmReading) -> Iterator[TransactionVerdict]:
    """Yield the verdict on each known receipt, up to the first that executed the sweep; a discovered one comes last."""
    receipts = dict(seen.sighting.receipts)
    found = seen.finding.receipt if seen.finding is not None else None
    known = [receipt for tx_hash in watched.tx_hashes if (receipt := receipts.get(tx_hash)) is not None]
    if found is not None:
        known = [receipt for receipt in known if receipt.tx_hash != found.tx_hash]
    for receipt in known:
        verdict = _transaction(watched, receipt)
        yield verdict
        if verdict.executed is not None:
            return
    if found is not None:
        yield _transaction(watched, found)


def _unexecuted(
    watched: FollowedEvmSweep, seen: EvmReading, transactions: Sequence[TransactionVerdict], raised: frozenset[str]
) -> ExecutionVerdict:
    """Judge by the identity: the execution ends if it can't be used any more; an unexplained use is flagged."""
    sighting, finding = seen.sighting, seen.finding
    used = frozenset({watched.terms.used_flag})
    ended, obstacle, cursor = None, "", watched.search_cursor if sighting.state is not False else ""
    if finding is not None:
        ended, obstacle = _found(watched, finding)
        cursor = "" if finding.resume_at is None else str(finding.resume_at)
    elif sighting.agreed and watched.is_proven_unused(sighting):
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


def _found(watched: FollowedEvmSweep, finding: SearchFinding) -> tuple[Ended | None, str]:
    """Return how the execution ended, or None and the obstacle."""
    hit = finding.hit
    if hit is None:
        return None, f"The {watched.terms.identity} is used, but the event that used it has not been found yet."
    if not isinstance(hit.event.value, Ended):
        return None, "An event shows an execution, but no receipt confirms it."
    if not finding.agreed:
        return None, f"The providers disagree about the event that used the {watched.terms.identity}."
    return replace(hit.event.value, tx_hash=hit.tx_hash), ""


def _transaction(watched: FollowedEvmSweep, receipt: Receipt) -> TransactionVerdict:
    inclusion = Inclusion(receipt.block_number, receipt.block_hash, receipt.gas_used)
    if not receipt.succeeded:
        return TransactionVerdict(receipt.tx_hash, inclusion, reverted=True)
    match = watched.match(receipt)
    return TransactionVerdict(receipt.tx_hash, inclusion, executed=match.executed, mismatches=match.mismatches)
