"""Looks up the outcome of transactions: many subjects in one batch, and a second opinion before anything follows.

The caller defines what to read in addition to the receipts, and what to conclude from a sighting. Receipts are read at
two providers at the same time, where there are two, and then the blocks at their heights: how far a receipt can be
relied on is its standing. Any other conclusion that can't be undone counts only if two providers, where there are two,
lead to the same (see ``rpc/agreement.py``).
"""

import time
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import BLOCK_TIMESTAMP, Read, multicall
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, Receipt
from sweepapi.evm.logs.standing import SeenTransaction, Standing, TransactionView, weigh
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError
from sweepapi.rpc.hedging import Patience, first_answers, usual_patience


@dataclass(frozen=True)
class Sighting:
    """What was read of one subject."""

    head_number: int
    safe_number: int | None  # None where the chain has no safe block yet
    final_number: int | None  # as above
    receipts: Mapping[str, Receipt | None]
    canonical: Block | None  # the block at the accepted height; None if not queried, or the provider lags
    state: Any  # the value of the subject's read on the safe block; None where it can't be read
    safe_timestamp: int | None  # seconds since 1970, of the same block as ``state``
    newest_state: Any = None  # the same read on the newest block; None if not queried, or unreadable
    seen: Mapping[str, SeenTransaction] = field(default_factory=dict)  # what the providers together show
    agreed: bool = True  # False: a second provider should have come to the same conclusion, and did not
    is_disputed: bool = False  # providers came to different conclusions, and no two to the same


@dataclass(frozen=True)
class Conclusion:
    """What a sighting means for its subject, for comparison with that of another provider."""

    value: object
    closes: bool = True  # False: nothing follows from it, but it contradicts those that would close something


@dataclass(frozen=True)
class Subject:
    """What to read."""

    key: Hashable
    read: Read  # of a contract's state, with one returned value
    tx_hashes: tuple[str, ...]
    accepted_height: int | None  # of the block whose hash is queried; the receipts of others are placed and weighed
    conclude: Callable[[Sighting], Conclusion | None]  # None where the provider can't say
    content: Callable[[Receipt], Hashable]  # what has to be the same of a receipt at two providers

    @property
    def awaits_receipt(self) -> bool:
        return self.accepted_height is None and bool(self.tx_hashes)


def read_sightings(
    *, chain: Chain, pool: ProviderPool, subjects: Sequence[Subject], timeout_seconds: float | None = None
) -> dict[Hashable, Sighting]:
    """Return a sighting of each subject, by its key.

    One round trip, and one more for the blocks of receipts below the head; on a chain whose finality goes by distance
    another one before them. With ``timeout_seconds``, which is for all of them, a request waits for the result: then
    two providers have to do, no state is read below the head where that takes a round trip, and who is slow is not
    waited for. Otherwise further providers are queried, one after the other, while those before disagree. Raises
    ``ChainUnavailableError``.
    """
    asking = _Asking(
        chain=chain,
        pool=pool,
        deadline=time.monotonic() + (timeout_seconds or pool.timeout_seconds),
        is_waited_for=timeout_seconds is not None,
    )
    count = pool.needed if any(one.awaits_receipt for one in subjects) else 1
    opinions = asking.ask_together(subjects, count=count)
    while not asking.is_waited_for and len(opinions) < len(pool.providers):
        doubtful = [one for one in subjects if _needs_another(one, opinions, pool)]
        if not doubtful:
            break
        try:
            opinions.append(asking.ask_another(doubtful, exclude=[one.provider for one in opinions]))
        except ChainUnavailableError:
            break
    return {one.key: _agreed(pool, one, opinions) for one in subjects}


@dataclass(frozen=True)
class _SightingOpinion:
    """What one provider showed of those subjects that it was queried about."""

    provider: Provider
    head: Block
    sightings: Mapping[Hashable, Sighting]
    hashes: Mapping[int, str]  # of the blocks that it showed, by height
    unread: frozenset[str]  # hashes for which it answered neither with a receipt nor with none: it has no opinion

    def view(self, subject: Subject, tx_hash: str) -> TransactionView:
        sighting = self.sightings[subject.key]
        receipt = sighting.receipts[tx_hash]
        return TransactionView(
            head_number=self.head.number,
            receipt=receipt,
            content=None if receipt is None else subject.content(receipt),
            block_hash=None if receipt is None else self.hashes.get(receipt.block_number),
            state=sighting.newest_state,
        )

    def with_blocks(self, blocks: Sequence[Any]) -> "_SightingOpinion":
        hashes = {block.number: block.hash for block in blocks if isinstance(block, Block)}
        return replace(self, hashes={**self.hashes, **hashes})

    def unplaced_heights(self, subjects: Sequence[Subject]) -> list[int]:
        """Return the heights of the receipts of subjects that await them, except its head."""
        receipts = (
            receipt
            for one in subjects
            if one.awaits_receipt
            for receipt in self.sightings[one.key].receipts.values()
            if receipt is not None
        )
        return sorted({receipt.block_number for receipt in receipts} - {self.head.number})


@dataclass(frozen=True)
class _SightingQuestion:
    """The calls of one round trip, and what the answers to them mean."""

    chain: Chain
    subjects: Sequence[Subject]
    state_at: str | int | None  # the safe block; None: no state is read there

    @property
    def calls(self) -> list[Call]:
        tags = [tag for tag in (self.chain.finality.safe, self.chain.finality.final) if isinstance(tag, str)]
        calls = [_block_call("latest"), *(_block_call(tag) for tag in tags)]
        if self.state_at is not None:
            calls.append(_state_call(self.chain, self.subjects, self.state_at))
        for one in self.subjects:
            calls += _calls_of(one)
        # After the receipts: so it is not older than they are, unless it belongs to another node behind the same URL.
        return [*calls, _state_call(self.chain, self.awaiting, "latest")] if self.awaiting else calls

    @property
    def awaiting(self) -> list[Subject]:
        return [one for one in self.subjects if one.awaits_receipt]

    def opinion(self, provider: Provider, values: Sequence[Any]) -> _SightingOpinion:
        """Return what the results of the calls show."""
        remaining = iter(values)
        head: Block = next(remaining)
        safe_number, final_number = (
            _height(reference, head, remaining) for reference in (self.chain.finality.safe, self.chain.finality.final)
        )
        timestamp, states = None, dict[Hashable, Any]()
        if self.state_at is not None:
            timestamp, states = _states(self.subjects, next(remaining))
        answers = {
            one.key: ([next(remaining) for _ in one.tx_hashes], _canonical(one, remaining)) for one in self.subjects
        }
        _, newest = _states(self.awaiting, next(remaining)) if self.awaiting else (None, {})
        sightings = {
            one.key: Sighting(
                head_number=head.number,
                safe_number=safe_number,
                final_number=final_number,
                receipts=dict(zip(one.tx_hashes, (_known(each, head) for each in answers[one.key][0]), strict=True)),
                canonical=answers[one.key][1],
                state=states.get(one.key),
                safe_timestamp=timestamp,
                newest_state=newest.get(one.key),
            )
            for one in self.subjects
        }
        unread = frozenset(
            tx_hash
            for one in self.subjects
            for tx_hash, answer in zip(one.tx_hashes, answers[one.key][0], strict=True)
            if isinstance(answer, CallFailedError)
        )
        return _SightingOpinion(provider, head, sightings, {head.number: head.hash}, unread)


@dataclass(frozen=True)
class _Asking:
    """Where the requests of one read go, and until when."""

    chain: Chain
    pool: ProviderPool
    deadline: float  # in monotonic seconds
    is_waited_for: bool

    def ask_together(self, subjects: Sequence[Subject], *, count: int) -> list[_SightingOpinion]:
        """Return the opinions of up to this many providers, in which the receipts are placed."""
        question = _SightingQuestion(self.chain, subjects, self._state_at())
        answers = self.pool.ask_together(
            question.calls, count=count, deadline=self.deadline, is_waited_for=self.is_waited_for
        )
        return self._placed(subjects, [question.opinion(*one) for one in answers.items()])

    def ask_another(self, subjects: Sequence[Subject], *, exclude: Sequence[Provider]) -> _SightingOpinion:
        """Return the opinion of one provider more."""
        question = _SightingQuestion(self.chain, subjects, self._state_at())
        left = max(self.deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
        answer = self.pool.ask(question.calls, timeout_seconds=left, exclude=exclude)
        (opinion,) = self._placed(subjects, [question.opinion(*answer)])
        return opinion

    def _state_at(self) -> str | int | None:
        safe = self.chain.finality.safe
        if isinstance(safe, str):
            return safe
        if self.is_waited_for:
            return None
        left = max(self.deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
        _, (head,) = self.pool.ask([_block_call("latest")], timeout_seconds=left)
        height: int = head.number - safe
        return max(height, 0)

    def _placed(self, subjects: Sequence[Subject], opinions: Sequence[_SightingOpinion]) -> list[_SightingOpinion]:
        """Add the blocks at the heights of receipts, read at each provider that shows one there."""
        heights = {one.provider: one.unplaced_heights(subjects) for one in opinions}
        asked = [provider for provider, needed in heights.items() if needed]
        if not asked:
            return list(opinions)

        def blocks(provider: Provider) -> list[Any]:
            left = max(self.deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
            # A block that can't be read must not affect the other subjects.
            calls = [replace(_block_call(height), error_policy=ErrorPolicy.ANY) for height in heights[provider]]
            return provider.batch(calls, timeout_seconds=left)

        # Each has just answered, so a check of the worker waits as long as it can.
        patience: Patience = usual_patience if self.is_waited_for else lambda _: self.deadline - time.monotonic()
        try:
            shown = first_answers(asked, blocks, count=len(asked), deadline=self.deadline, patience=patience)
        except ChainUnavailableError:
            return list(opinions)
        return [one.with_blocks(shown.get(one.provider, ())) for one in opinions]


def _needs_another(subject: Subject, opinions: Sequence[_SightingOpinion], pool: ProviderPool) -> bool:
    """Whether a further provider has to be queried about a subject, given what those that were queried show."""
    sightings = [one.sightings[subject.key] for one in opinions if subject.key in one.sightings]
    conclusions = [one for sighting in sightings if (one := subject.conclude(sighting)) is not None]
    if any(one.closes for one in conclusions) and all(conclusions.count(one) < 2 for one in conclusions):  # noqa: PLR2004 - two decide
        return True
    if subject.accepted_height is not None and len(sightings) == 1 and None in sightings[0].receipts.values():
        return True
    seen = _seen(subject, opinions, pool)
    return any(one.standing in (Standing.ALONE, Standing.CONTRADICTED, Standing.UNPLACED) for one in seen.values())


def _seen(subject: Subject, opinions: Sequence[_SightingOpinion], pool: ProviderPool) -> dict[str, SeenTransaction]:
    """Return the transactions of a subject that await their receipt and have one."""
    if not subject.awaits_receipt:
        return {}
    asked = [one for one in opinions if subject.key in one.sightings]
    views = {
        tx_hash: [one.view(subject, tx_hash) for one in asked if tx_hash not in one.unread]
        for tx_hash in subject.tx_hashes
    }
    weighed = {tx_hash: weigh(some, providers=len(pool.providers)) for tx_hash, some in views.items()}
    return {tx_hash: seen for tx_hash, seen in weighed.items() if seen is not None}


def _agreed(pool: ProviderPool, subject: Subject, opinions: Sequence[_SightingOpinion]) -> Sighting:
    """Return what the providers that decide show of a subject; of the first one, if nothing would be closed."""
    sightings = {one.provider: one.sightings[subject.key] for one in opinions if subject.key in one.sightings}
    conclusions = {provider: subject.conclude(sighting) for provider, sighting in sightings.items()}
    shown = next(iter(sightings.values()))
    if any(one is not None and one.closes for one in conclusions.values()):
        decision = decide([Opinion(*one) for one in conclusions.items()], needed=pool.needed)
        report(pool, decision, subject=subject.key)
        if decision.supporters:
            shown = sightings[decision.supporters[0]]
        else:
            shown = replace(shown, agreed=False, is_disputed=decision.is_disputed)
    return replace(shown, seen=_seen(subject, opinions, pool))


def _height(reference: str | int, head: Block, tagged: Iterator[Block | None]) -> int | None:
    """Return the height of the safe or final block: the next of those read by tag, or that far below the head."""
    if isinstance(reference, int):
        return max(head.number - reference, 0)
    block = next(tagged)
    return None if block is None else block.number


def _block_call(reference: str | int) -> Call:
    return head_call() if reference == "latest" else optional_block_call(reference)


def _state_call(chain: Chain, subjects: Sequence[Subject], at: str | int) -> Call:
    """One call for the state of all subjects and the block's time, so that all are of the same block."""
    return multicall(
        multicall3=chain.multicall3,
        reads=[Read(chain.multicall3, BLOCK_TIMESTAMP), *(one.read for one in subjects)],
        at=at,
        error_policy=ErrorPolicy.ANY,
    )


def _states(subjects: Sequence[Subject], answer: Any) -> tuple[int | None, dict[Hashable, Any]]:  # noqa: ANN401 - values, or a failure
    """Return the time of the block, and each subject's state there; None where it can't be read."""
    if isinstance(answer, CallFailedError):
        return None, {}
    timestamp, *states = answer
    read = {one.key: state[0] for one, state in zip(subjects, states, strict=True) if state is not None}
    return None if timestamp is None else timestamp[0], read


def _calls_of(subject: Subject) -> list[Call]:
    # Anyone may report any hash: a receipt that can't be read must not affect the other subjects.
    receipts = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in subject.tx_hashes
    ]
    return receipts if subject.accepted_height is None else [*receipts, _block_call(subject.accepted_height)]


def _canonical(subject: Subject, remaining: Iterator[Any]) -> Block | None:
    return None if subject.accepted_height is None else next(remaining)


def _known(answer: Any, head: Block) -> Receipt | None:  # noqa: ANN401 - a receipt, None, or a failure
    """Return the receipt, or None if its block is above this head: then it is not on this chain yet, or made up."""
    return answer if isinstance(answer, Receipt) and answer.block_number <= head.number else None
