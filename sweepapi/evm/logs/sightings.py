"""Looks up the outcome of transactions: many subjects in one batch, and a second opinion before one closes.

The caller defines what to read in addition to the receipts, and what to conclude from a sighting. A null receipt means
"not known here", so another provider is queried. A conclusion that can't be undone counts only if two providers, where
there are two, lead to the same (see ``rpc/agreement.py``).
"""

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sweepapi.evm.chain.blocks import head_call, optional_block_call
from sweepapi.evm.chain.chains import Chain
from sweepapi.evm.chain.multicall import BLOCK_TIMESTAMP, Read, multicall
from sweepapi.evm.encoding import responses
from sweepapi.evm.encoding.responses import Block, Receipt
from sweepapi.rpc import MIN_TIMEOUT_SECONDS, Call, ErrorPolicy, Provider, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.rpc.errors import CallFailedError, ChainUnavailableError


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
    accepted_height: int | None  # of the block whose hash is queried
    conclude: Callable[[Sighting], Conclusion | None]  # None where the provider can't say


def read_sightings(
    *, chain: Chain, pool: ProviderPool, subjects: Sequence[Subject], timeout_seconds: float | None = None
) -> dict[Hashable, Sighting]:
    """Return a sighting of each subject, by its key.

    One round trip where the first provider knows every receipt and nothing closes, two on a chain whose finality goes
    by tags, and one more for each further provider while they disagree. With ``timeout_seconds``, which is for all of
    them, a request waits for the result, so slow providers are hedged. Raises ``ChainUnavailableError``.
    """
    asking = _Asking(
        chain=chain,
        pool=pool,
        deadline=time.monotonic() + (timeout_seconds or pool.timeout_seconds),
        is_hedged=timeout_seconds is not None,
    )
    opinions: list[_SightingOpinion] = []
    doubtful: Sequence[Subject] = subjects
    while doubtful and len(opinions) < len(pool.providers):
        try:
            opinions.append(asking.ask(doubtful, exclude=[one.provider for one in opinions]))
        except ChainUnavailableError:
            if not opinions:
                raise
            break
        doubtful = [
            one for one in doubtful if _needs_another(one, [opinion.sightings[one.key] for opinion in opinions])
        ]
    return {one.key: _agreed(pool, one, opinions) for one in subjects}


@dataclass(frozen=True)
class _SightingOpinion:
    """What one provider showed of those subjects that it was queried about."""

    provider: Provider
    sightings: Mapping[Hashable, Sighting]


@dataclass(frozen=True)
class _Asking:
    """Where the requests of one read go, and until when."""

    chain: Chain
    pool: ProviderPool
    deadline: float  # in monotonic seconds
    is_hedged: bool

    def ask(self, subjects: Sequence[Subject], *, exclude: Sequence[Provider]) -> _SightingOpinion:
        safe, final = self.chain.finality.safe, self.chain.finality.final
        if isinstance(safe, int) or isinstance(final, int):
            _, (head,) = self._send([_block_call("latest")], exclude)
            safe, final = (max(head.number - tag, 0) if isinstance(tag, int) else tag for tag in (safe, final))
        calls = [_block_call("latest"), _block_call(safe), _block_call(final), _state_call(self.chain, subjects, safe)]
        for one in subjects:
            calls += _calls_of(one)
        provider, values = self._send(calls, exclude)
        return _SightingOpinion(provider, _sightings(subjects, values))

    def _send(self, calls: Sequence[Call], exclude: Sequence[Provider]) -> tuple[Provider, list[Any]]:
        left = max(self.deadline - time.monotonic(), MIN_TIMEOUT_SECONDS)
        return self.pool.ask(calls, timeout_seconds=left, exclude=exclude, hedged=self.is_hedged)


def _needs_another(subject: Subject, sightings: Sequence[Sighting]) -> bool:
    """Whether a further provider has to be queried about a subject, given what those that were queried show."""
    conclusions = [one for sighting in sightings if (one := subject.conclude(sighting)) is not None]
    if any(one.closes for one in conclusions):
        return all(conclusions.count(one) < 2 for one in conclusions)  # noqa: PLR2004 - two decide
    return len(sightings) == 1 and None in sightings[0].receipts.values()


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
    if subject.accepted_height is not None:  # no receipt counts for an accepted one but that of those who decide
        return shown
    return replace(shown, receipts={tx_hash: _first_known(tx_hash, shown, sightings) for tx_hash in shown.receipts})


def _first_known(tx_hash: str, shown: Sighting, sightings: Mapping[Provider, Sighting]) -> Receipt | None:
    return next((known for one in (shown, *sightings.values()) if (known := one.receipts[tx_hash]) is not None), None)


def _block_call(reference: str | int) -> Call:
    return head_call() if reference == "latest" else optional_block_call(reference)


def _state_call(chain: Chain, subjects: Sequence[Subject], safe: str | int) -> Call:
    """One call for the state of all subjects and the block's time, so that all are of the same block."""
    return multicall(
        multicall3=chain.multicall3,
        reads=[Read(chain.multicall3, BLOCK_TIMESTAMP), *(one.read for one in subjects)],
        at=safe,
        error_policy=ErrorPolicy.ANY,
    )


def _calls_of(subject: Subject) -> list[Call]:
    # Anyone may report any hash: a receipt that can't be read must not affect the other subjects.
    receipts = [
        Call("eth_getTransactionReceipt", (tx_hash,), responses.receipt_of(tx_hash), ErrorPolicy.ANY)
        for tx_hash in subject.tx_hashes
    ]
    return receipts if subject.accepted_height is None else [*receipts, _block_call(subject.accepted_height)]


def _known(answer: Any, head: Block) -> Receipt | None:  # noqa: ANN401 - a receipt, None, or a failure
    """Return the receipt, or None if its block is above this head: then it is not on this chain yet, or made up."""
    return answer if isinstance(answer, Receipt) and answer.block_number <= head.number else None


def _sightings(subjects: Sequence[Subject], values: Sequence[Any]) -> dict[Hashable, Sighting]:
    head, safe, final, states, *rest = values
    timestamp, *read = [None] * (len(subjects) + 1) if isinstance(states, CallFailedError) else states
    remaining = iter(rest)
    sightings: dict[Hashable, Sighting] = {}
    for one, state in zip(subjects, read, strict=True):
        receipts = {tx_hash: _known(next(remaining), head) for tx_hash in one.tx_hashes}
        at_height: Block | None = next(remaining) if one.accepted_height is not None else None
        sightings[one.key] = Sighting(
            head_number=head.number,
            safe_number=safe.number if safe is not None else None,
            final_number=final.number if final is not None else None,
            receipts=receipts,
            canonical=at_height,
            state=state[0] if state is not None else None,
            safe_timestamp=timestamp[0] if timestamp is not None else None,
        )
    return sightings
