"""Decides what a reading of a sweep on Solana means: plain values in, a verdict out, so every case is easy to test.

A transaction is ours if it holds all instructions that were built, in their order, and only such others as wallets
change or add. The reference key alone proves nothing: anyone can name it.
"""

from collections.abc import Iterator

from sweepapi.solana.landed.opinions import Found
from sweepapi.solana.landed.progress import SearchSighting
from sweepapi.solana.landed.sightings import Sighting
from sweepapi.solana.landed.tracking import Gone, TrackedSighting
from sweeps.models import Flag
from sweeps.protocol.rail import (
    Depth,
    Ended,
    Ending,
    Executed,
    ExecutionVerdict,
    Inclusion,
    Mismatch,
    TransactionVerdict,
    Verdict,
)
from sweeps.rails.solana_v1.follow.followed import FollowedExecution, FollowedSolanaSweep, SolanaAcceptance
from sweeps.rails.solana_v1.follow.following import SolanaReading

# Strangers may name a reference key as often as they like, and users may send what fails.
MAX_REJECTED = 10
MAX_CANDIDATES = 20

_OTHER = Mismatch(
    "instructions", "differs", "The transaction names the reference key, but is not the one built for it."
)
_SECOND = Mismatch("reference", "used", "Another transaction with the same instructions executed the sweep.")
_INCONSISTENT = Mismatch("amounts", "inconsistent", "The fee that was paid is not that of the output.")


def decide(followed: FollowedSolanaSweep, reading: SolanaReading) -> Verdict:
    """Return the verdict. The reading may be older than what is followed."""
    return Verdict(
        executions={one.id: _execution(followed, one, reading.sightings.get(one.id)) for one in followed.executions},
        is_final=reading.is_final,
    )


def _execution(
    followed: FollowedSolanaSweep, execution: FollowedExecution, sighting: Sighting | None
) -> ExecutionVerdict:
    accepted = execution.accepted
    if isinstance(sighting, TrackedSighting) and accepted is not None:
        return _accepted(followed, execution, accepted, sighting)
    if isinstance(sighting, SearchSighting):
        return _searched(followed, execution, sighting)
    return ExecutionVerdict(search_cursor=execution.search_cursor)


def _accepted(
    followed: FollowedSolanaSweep, execution: FollowedExecution, accepted: SolanaAcceptance, sighting: TrackedSighting
) -> ExecutionVerdict:
    slot, outcome = sighting.head.slot, sighting.outcome
    if sighting.is_disputed:
        return ExecutionVerdict(slot, obstacle="The providers do not agree about the accepted transaction.")
    if isinstance(outcome, Gone):
        return ExecutionVerdict(slot, accepted=Depth.GONE)
    if isinstance(outcome, Found):
        shown = followed.paid(execution, outcome.landed), outcome.block_hash
        if outcome.landed.is_successful and shown == (accepted.paid, accepted.block_hash):
            return ExecutionVerdict(slot, accepted=Depth.FINAL)
        message = "The final block does not show the execution that was accepted."
        return ExecutionVerdict(slot, accepted=Depth.GONE, obstacle=message)
    return ExecutionVerdict(slot, accepted=Depth.INCLUDED if sighting.is_included else Depth.UNKNOWN)


def _searched(
    followed: FollowedSolanaSweep, execution: FollowedExecution, sighting: SearchSighting
) -> ExecutionVerdict:
    transactions = list(_transactions(followed, execution, sighting))
    is_inconsistent = any(_INCONSISTENT in one.mismatches for one in transactions)
    is_executed = any(one.executed is not None for one in transactions)
    is_expired = sighting.is_expired and not is_executed
    return ExecutionVerdict(
        sighting.head.slot,
        transactions,
        ended=Ended(Ending.RAN_OUT) if is_expired else None,
        raised=frozenset({Flag.INCONSISTENT_AMOUNTS.value} if is_inconsistent else ()),
        obstacle="" if is_expired or is_executed or execution.accepted else _obstacle(execution, sighting),
        # If its block leaves the chain, the accepted transaction is searched for again.
        search_cursor=execution.search_cursor if is_executed else sighting.read_up_to,
    )


def _obstacle(execution: FollowedExecution, sighting: SearchSighting) -> str:
    if not sighting.is_whole:
        return "Not everything that names the reference key could be read yet."
    if sighting.head.final_height > execution.awaited_until_height:
        return "Too few providers prove that the transaction can't land any more."
    return ""


def _transactions(
    followed: FollowedSolanaSweep, execution: FollowedExecution, sighting: SearchSighting
) -> Iterator[TransactionVerdict]:
    """Yield the verdicts on these transactions, oldest first, of which only the first can execute the sweep."""
    accepted = execution.accepted
    recorded, is_executed = set(execution.known), accepted is not None
    for found in sighting.found:
        if accepted is not None and found.landed.signature == accepted.signature:
            continue  # another check accepted it since this one began
        verdict = _transaction(followed, execution, found, is_executed=is_executed)
        is_executed = is_executed or verdict.executed is not None
        limit = MAX_CANDIDATES if verdict.reverted else MAX_REJECTED
        if verdict.executed is not None or verdict.tx_hash in recorded or len(recorded) < limit:
            recorded.add(verdict.tx_hash)
            yield verdict


def _transaction(
    followed: FollowedSolanaSweep, execution: FollowedExecution, found: Found, *, is_executed: bool
) -> TransactionVerdict:
    landed = found.landed
    inclusion = Inclusion(landed.slot, found.block_hash, landed.units)
    if not execution.is_built(landed):
        return TransactionVerdict(landed.signature, inclusion, mismatches=[_OTHER])
    if not landed.is_successful:
        failure = Mismatch("transaction", "reverted", f"The transaction failed: {landed.error}")
        return TransactionVerdict(landed.signature, inclusion, reverted=True, mismatches=[failure])
    paid = followed.paid(execution, landed)
    if is_executed or paid is None:
        return TransactionVerdict(landed.signature, inclusion, mismatches=[_SECOND if is_executed else _INCONSISTENT])
    is_below_minimum = paid.gross_output < execution.min_gross
    executed = Executed(paid, is_below_minimum=is_below_minimum)
    return TransactionVerdict(landed.signature, inclusion, executed=executed)
