"""What every EVM rail follows of a sweep: its candidates, its deadline, and the identity of its execution on chain."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from django.conf import settings

from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.encoding.responses import Log, Receipt
from sweepapi.evm.logs.log_digest import digest
from sweepapi.evm.logs.log_query import Topics
from sweepapi.evm.logs.log_search import Event, LogSearch
from sweepapi.evm.logs.sightings import Conclusion, Sighting, Subject
from sweepapi.fees import Split
from sweeps.models import SkippedToken, SweepTransaction
from sweeps.protocol.rail import Depth, Executed, Mismatch, Skipped
from sweeps.store.stored import StoredSweep

# After a reorganisation, or if a provider was ahead of the others, an event may lie below the head that its build saw.
SEARCH_MARGIN_BLOCKS = 64
# An execution that one provider of several shows counts after this time, unless another one contradicts it.
ONE_WORD_AFTER = timedelta(seconds=10)


@dataclass(frozen=True)
class Match:
    """A transaction's logs compared with the terms of a sweep."""

    mismatches: Sequence[Mismatch]
    executed: Executed | None = None  # None unless everything matches


class ContractTerms(Protocol):
    """How one contract version identifies a sweep on chain, and what its event must say."""

    @property
    def identity(self) -> str:
        """What identifies the execution at the contract, in a word."""
        ...

    @property
    def used_flag(self) -> str:
        """The flag of a sweep whose identity was used on chain by no known transaction."""
        ...

    @property
    def topics(self) -> Topics:
        """The topics of every event that can explain the use of the identity."""
        ...

    def is_used(self, contract: str) -> Read:
        """Return the read of whether the identity was used."""
        ...

    def read(self, log: Log) -> Event | None:
        """Return an execution as a hint, and ``Ended`` for anything else that used the identity.

        None if the log is about something else.
        """
        ...

    def match(self, logs: Sequence[Log]) -> Match:
        """Compare the logs that the contract emitted in one transaction with these terms."""
        ...


@dataclass(frozen=True)
class EvmAcceptance:
    """The transaction that was accepted, the block that it was found in, what it paid and what it left out."""

    tx_hash: str
    height: int
    block_hash: str
    paid: Split
    skipped: tuple[Skipped, ...] = ()


@dataclass(frozen=True)
class FollowedEvmSweep:
    """The facts about a sweep and its only execution that reading and deciding need."""

    sweep_id: UUID
    execution_id: UUID
    contract: str
    terms: ContractTerms
    deadline: int  # seconds since 1970
    built_at_height: int
    search_cursor: str  # the block to go on from; blank unless a search is half done
    tx_hashes: tuple[str, ...]  # in the order of their reports; once one is accepted, only that one
    accepted: EvmAcceptance | None
    most_on_one_word: int  # the gross output up to which the word of one provider may do
    waited_for: frozenset[str]  # hashes that one provider has shown for long enough, and no other one contradicted

    @classmethod
    def of(cls, stored: StoredSweep, terms: ContractTerms) -> "FollowedEvmSweep":
        """Return what is followed of a sweep."""
        sweep, (execution,), candidates = stored.sweep, stored.executions, stored.candidates
        polled = [tx.tx_hash for tx in candidates if tx.status != SweepTransaction.Status.DISPLACED]
        tx = next((tx for tx in candidates if tx.status == SweepTransaction.Status.ACCEPTED), None)
        accepted = _accepted(stored, tx) if tx is not None else None
        shown = {tx.tx_hash: tx.shown_since for tx in candidates if tx.contradicted_since is None}
        return cls(
            sweep_id=sweep.id,
            execution_id=execution.id,
            contract=execution.venue,
            terms=terms,
            deadline=int(sweep.deadline.timestamp()),
            built_at_height=execution.built_at_height,
            search_cursor=execution.search_cursor,
            tx_hashes=tuple(polled) if accepted is None else (accepted.tx_hash,),
            accepted=accepted,
            most_on_one_word=stored.quoted_gross * settings.ONE_WORD_MAX_QUOTES,
            waited_for=frozenset(
                tx_hash for tx_hash, since in shown.items() if since and stored.now - since >= ONE_WORD_AFTER
            ),
        )

    @property
    def subject(self) -> Subject:
        """What to read on chain."""
        return Subject(
            key=self.sweep_id,
            read=self.terms.is_used(self.contract),
            tx_hashes=self.tx_hashes,
            accepted_height=self.accepted.height if self.accepted is not None else None,
            conclude=self._conclusion,
            content=self._content,
        )

    def _conclusion(self, sighting: Sighting) -> Conclusion | None:
        if self.accepted is None:
            if sighting.state is None or not self.has_run_out(sighting):
                return None
            return Conclusion("used" if sighting.state else "unused", closes=not sighting.state)
        depth = depth_of(sighting, self.accepted.height, self.accepted.block_hash)
        if depth is Depth.FINAL:  # one provider may have made the execution up, in a block that exists
            return Conclusion((depth, sighting.canonical, self.event(sighting), self.is_left_unused(sighting)))
        return Conclusion((depth, sighting.canonical)) if depth is Depth.GONE else None

    def event(self, sighting: Sighting) -> object:
        """Return what a provider shows of the accepted transaction, for comparison: all that is booked follows from it.

        That is its block, and each field of every log that the contract emitted, in their order.
        """
        receipt = sighting.receipts.get(self.tx_hashes[0])
        return None if receipt is None else self._content(receipt)

    def _content(self, receipt: Receipt) -> Hashable:
        return receipt.block_number, receipt.block_hash, receipt.succeeded, receipt.emitted_by(self.contract)

    def explains_use(self, receipt: Receipt) -> bool:
        """Whether this transaction used the identity, on whatever terms."""
        return receipt.succeeded and any(self.terms.read(log) for log in receipt.emitted_by(self.contract))

    def is_left_unused(self, sighting: Sighting) -> bool:
        """Whether a safe block shows that the identity is unused, so that what was accepted can't have happened."""
        safe_number = sighting.safe_number
        is_reached = self.accepted is not None and safe_number is not None and safe_number >= self.accepted.height
        return is_reached and sighting.state is False

    def has_run_out(self, sighting: Sighting) -> bool:
        """Whether the chain's clock is past the deadline, whatever the server's says."""
        return sighting.safe_timestamp is not None and sighting.safe_timestamp > self.deadline

    def is_proven_unused(self, sighting: Sighting) -> bool:
        """Whether what was signed can never be executed: unused on a safe block whose time is past the deadline."""
        return sighting.state is False and self.has_run_out(sighting)

    def match(self, receipt: Receipt) -> Match:
        """Compare a successful transaction with the sweep's terms.

        All logs of the sweep's contract count, because a bundler may put several sweeps into one transaction. Logs of
        other contracts don't, because anyone can emit the same bytes.
        """
        emitted = receipt.emitted_by(self.contract)
        match = self.terms.match(emitted)
        if match.executed is None:
            return match
        position = next(i for i, log in enumerate(emitted) if (event := self.terms.read(log)) and event.is_hint)
        return replace(match, executed=replace(match.executed, logs_digest=digest(emitted), log_position=position))

    def search(self, sighting: Sighting) -> LogSearch | None:
        """Return where to search for what used the identity; None if it is unused, or a known transaction used it."""
        if self.accepted is not None or not sighting.state or sighting.safe_number is None:
            return None
        known = [seen.receipt for seen in sighting.seen.values() if seen.receipt.succeeded]
        if any(self.match(receipt).executed for receipt in known):
            return None
        first_block = int(self.search_cursor or max(self.built_at_height - SEARCH_MARGIN_BLOCKS, 0))
        return LogSearch(
            key=self.sweep_id,
            contract=self.contract,
            topics=self.terms.topics,
            read=self.terms.read,
            first_block=min(first_block, sighting.safe_number),
            last_block=sighting.safe_number,
        )


def _accepted(stored: StoredSweep, tx: SweepTransaction) -> EvmAcceptance:
    (execution,) = stored.executions
    positions = {token.pk: token.position for token in stored.tokens}
    left_out = stored.skipped_by(execution)
    skipped = [Skipped(positions[one.token_id], SkippedToken.Reason(one.reason)) for one in left_out]
    return EvmAcceptance(tx.tx_hash, *tx.block, execution.amounts, tuple(skipped))


def depth_of(sighting: Sighting, height: int, block_hash: str) -> Depth:
    """Return how deep an accepted block lies; ``GONE`` if another one is canonical at its height."""
    if sighting.canonical is None or sighting.canonical.number != height:
        return Depth.UNKNOWN
    if sighting.canonical.hash != block_hash:
        return Depth.GONE
    if sighting.final_number is not None and sighting.final_number >= height:
        return Depth.FINAL
    return Depth.SAFE if sighting.safe_number is not None and sighting.safe_number >= height else Depth.INCLUDED
