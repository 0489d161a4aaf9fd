"""Judges what was seen of a V5 sweep: plain values in, a verdict out, so that every case is easy to test."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID

from sweepapi.evm.log_search import Event, Finding, Search
from sweepapi.evm.multicall import Read
from sweepapi.evm.responses import Log, Receipt
from sweepapi.evm.sightings import Sighting, Subject
from sweepapi.evm.v5 import (
    CANCELLED_TOPIC,
    EXECUTED_TOPIC,
    IS_NONCE_USED,
    SweepExecuted,
    decode_cancelled,
    decode_executed,
)
from sweepapi.fees import Split, split
from sweeps.models import Flag
from sweeps.rails.evm.following import NONCE_USED, Seen, depth_of
from sweeps.rails.rail import (
    Depth,
    Ending,
    ExecutionVerdict,
    Inclusion,
    Mismatch,
    TransactionVerdict,
    Verdict,
)

# After a reorganisation, or if a provider was ahead of the others, an event may lie below the head that its build saw.
SEARCH_MARGIN_BLOCKS = 64


@dataclass(frozen=True)
class Terms:
    """The values that an event must match: the sweep's terms, whichever offer was executed."""

    nonce: int
    user: str
    partner_id: str
    partner_recipient: str | None  # never None on V5, which pays the partner on chain
    protocol_recipient: str
    output_token: str
    token_count: int
    total_fee_bps: int
    partner_share_bps: int


@dataclass(frozen=True)
class V5Watched:
    """The facts about a sweep and its only execution that looking and judging need."""

    sweep_id: UUID
    execution_id: UUID
    contract: str
    terms: Terms
    deadline: int  # seconds since 1970
    built_at_height: int
    search_cursor: str  # the block to go on from; blank unless a search is half done
    tx_hashes: tuple[str, ...]  # in the order of their reports; empty once one is accepted
    accepted: tuple[int, str] | None  # height and hash of the accepted transaction's block

    @property
    def subject(self) -> Subject:
        """What to look for on chain."""
        return Subject(
            key=self.sweep_id,
            read=Read(self.contract, IS_NONCE_USED, (self.terms.nonce,)),
            tx_hashes=self.tx_hashes,
            accepted_height=self.accepted[0] if self.accepted is not None else None,
            conclude=self._conclusion,
        )

    def _conclusion(self, sighting: Sighting) -> object:
        if self.accepted is None:
            return "unused" if self.is_proven_unused(sighting) else None
        depth = depth_of(sighting, *self.accepted)
        return (depth, sighting.canonical) if depth in (Depth.GONE, Depth.FINAL) else None

    def has_run_out(self, sighting: Sighting) -> bool:
        """Whether the chain's clock is past the deadline, whatever the server's says."""
        return sighting.safe_timestamp is not None and sighting.safe_timestamp > self.deadline

    def is_proven_unused(self, sighting: Sighting) -> bool:
        """Whether it can never be executed: unused on a safe block whose time is past the deadline."""
        return sighting.state is False and self.has_run_out(sighting)

    def search(self, sighting: Sighting) -> Search | None:
        """Return where to search for what used the nonce; None if it is unused, or a known transaction used it."""
        if self.accepted is not None or not sighting.state or sighting.safe_number is None:
            return None
        receipts = [receipt for receipt in sighting.receipts.values() if receipt is not None]
        if any(_transaction(self, receipt).executed for receipt in receipts):
            return None
        first_block = int(self.search_cursor or max(self.built_at_height - SEARCH_MARGIN_BLOCKS, 0))
        return Search(
            key=self.sweep_id,
            contract=self.contract,
            topics=((EXECUTED_TOPIC, CANCELLED_TOPIC), f"0x{self.terms.nonce:064x}"),
            read=self._read_log,
            first_block=min(first_block, sighting.safe_number),
            last_block=sighting.safe_number,
        )

    def _read_log(self, log: Log) -> Event | None:
        """Return the cancellation, or the execution as a hint: its receipt is judged, not this event."""
        cancelled = decode_cancelled(log)
        event = cancelled or decode_executed(log)
        if event is None or event.nonce != self.terms.nonce:
            return None
        return Event(None, is_hint=True) if cancelled is None else Event(cancelled.by, is_hint=False)


def judge(watched: V5Watched, seen: Seen) -> Verdict:
    """Return the verdict. What was seen may be older than what is watched."""
    return Verdict(
        executions={watched.execution_id: _execution(watched, seen)}, has_run_out=watched.has_run_out(seen.sighting)
    )


def _execution(watched: V5Watched, seen: Seen) -> ExecutionVerdict:
    if watched.accepted is not None:
        return _accepted(watched.accepted, seen.sighting)
    transactions = list(_transactions(watched, seen))
    is_inconsistent = any(mismatch.code == "inconsistent" for one in transactions for mismatch in one.mismatches)
    raised = frozenset({Flag.INCONSISTENT_AMOUNTS.value} if is_inconsistent else ())
    if any(one.executed for one in transactions):
        cleared = frozenset({NONCE_USED})
        return ExecutionVerdict(seen.sighting.head_number, transactions, raised=raised, cleared=cleared)
    return _unexecuted(watched, seen, transactions, raised)


def _accepted(block: tuple[int, str], sighting: Sighting) -> ExecutionVerdict:
    depth = depth_of(sighting, *block)
    if depth in (Depth.GONE, Depth.FINAL) and not sighting.agreed:
        return ExecutionVerdict(sighting.head_number, obstacle="The providers disagree about the accepted block.")
    return ExecutionVerdict(sighting.head_number, accepted=depth)


def _transactions(watched: V5Watched, seen: Seen) -> Iterator[TransactionVerdict]:
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
    watched: V5Watched, seen: Seen, transactions: Sequence[TransactionVerdict], raised: frozenset[str]
) -> ExecutionVerdict:
    """Judge by the nonce: the execution ends if it can never be used, and is flagged if something unknown used it."""
    sighting, finding = seen.sighting, seen.finding
    used = frozenset({NONCE_USED})
    ending, reason, obstacle, cursor = None, "", "", watched.search_cursor if sighting.state is not False else ""
    if finding is not None:
        ending, reason, obstacle = _found(finding)
        cursor = "" if finding.resume_at is None else str(finding.resume_at)
    elif sighting.agreed and watched.is_proven_unused(sighting):
        ending = Ending.RAN_OUT
    is_unexplained = bool(sighting.state) and ending is not Ending.CANCELLED
    is_explained = sighting.state is False or ending is Ending.CANCELLED
    return ExecutionVerdict(
        sighting.head_number,
        transactions,
        ending=ending,
        ending_reason=reason,
        raised=raised | used if is_unexplained else raised,
        cleared=used if is_explained else frozenset(),
        obstacle=obstacle,
        search_cursor=cursor,
    )


def _found(finding: Finding) -> tuple[Ending | None, str, str]:
    """Return the ending and its reason, or None and the obstacle."""
    hit = finding.hit
    if hit is None:
        return None, "", "The nonce is used, but the event that used it has not been found yet."
    if hit.event.is_hint:
        return None, "", "An event shows an execution, but no receipt confirms it."
    if not finding.agreed:
        return None, "", "The providers disagree about a cancellation on chain."
    return Ending.CANCELLED, f"cancelled on chain by {hit.event.value} in {hit.tx_hash}", ""


def _transaction(watched: V5Watched, receipt: Receipt) -> TransactionVerdict:
    """Compare a receipt with the sweep's terms.

    All logs of the sweep's contract count, because a bundler may put several sweeps into one transaction. Logs of other
    contracts don't, because anyone can emit the same bytes.
    """
    inclusion = Inclusion(receipt.block_number, receipt.block_hash, receipt.gas_used)
    if not receipt.succeeded:
        return TransactionVerdict(receipt.tx_hash, inclusion, reverted=True)
    mismatches, event = _matched(watched, receipt)
    if event is None or mismatches:
        return TransactionVerdict(receipt.tx_hash, inclusion, mismatches=mismatches)
    return TransactionVerdict(receipt.tx_hash, inclusion, executed=_paid(event))


def _matched(watched: V5Watched, receipt: Receipt) -> tuple[list[Mismatch], SweepExecuted | None]:
    events = [
        event for log in receipt.logs if log.address == watched.contract and (event := decode_executed(log)) is not None
    ]
    if not events:
        return [Mismatch("event", "missing", "The contract emitted no SweepExecutedV5.")], None
    ours = next((event for event in events if event.nonce == watched.terms.nonce), None)
    if ours is None:
        return [Mismatch("nonce", "differs", "The event belongs to another authorization.")], None
    return [*_differences(ours, watched.terms), *_inconsistencies(ours, watched.terms)], ours


def _differences(event: SweepExecuted, terms: Terms) -> list[Mismatch]:
    pairs = {
        "user": (event.user, terms.user),
        "partnerId": (event.partner_id, terms.partner_id),
        "partnerRecipient": (event.partner_recipient, terms.partner_recipient),
        "protocolRecipient": (event.protocol_recipient, terms.protocol_recipient),
        "outputToken": (event.output_token, terms.output_token),
        "tokenCount": (event.token_count, terms.token_count),
    }
    return [
        Mismatch(name, "differs", f"The event has {seen}, the authorization {signed}.")
        for name, (seen, signed) in pairs.items()
        if seen != signed
    ]


def _inconsistencies(event: SweepExecuted, terms: Terms) -> list[Mismatch]:
    if _paid(event) == split(event.gross_output, terms.total_fee_bps, terms.partner_share_bps):
        return []
    return [Mismatch("amounts", "inconsistent", "The event's amounts contradict the signed basis points.")]


def _paid(event: SweepExecuted) -> Split:
    return Split(event.gross_output, event.total_fee, event.partner_fee, event.protocol_fee, event.user_amount)
