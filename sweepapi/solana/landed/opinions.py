"""Reading the same from a certain provider, or from each of them, however many calls that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.rpc import Call, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.landed.history import Listed, block_hash_call, head_calls
from sweepapi.solana.landed.reading import transaction_call
from sweepapi.solana.landed.transactions import Landed, Unreadable

MAX_CALLS = 512  # in one request: 250 transactions and their blocks

_UNANSWERED = object()


@dataclass(frozen=True)
class Found:
    """A transaction with the hash of its block."""

    landed: Landed
    block_hash: str


def ask_one(pool: ProviderPool, provider: Provider, calls: Sequence[Call]) -> list[Any] | None:
    """Return the results of this provider, or None if it does not answer all calls."""
    values = _ask(pool, provider, calls)
    return None if _UNANSWERED in values else values


def _ask(pool: ProviderPool, provider: Provider, calls: Sequence[Call]) -> list[Any]:
    """Return the results of this provider, with gaps where it does not answer.

    Providers may take fewer calls at once, and strangers can make transactions so large that not all fit into one
    response: if a provider refuses while it still answers, each half is asked for by itself.
    """
    values: list[Any] = [_UNANSWERED] * len(calls)
    waiting = [range(start, min(start + MAX_CALLS, len(calls))) for start in range(0, len(calls), MAX_CALLS)]
    waiting.reverse()  # the last one is next, so that what proves something is read after the head
    while waiting:
        part = waiting.pop()
        try:
            values[part.start : part.stop] = provider.batch(
                calls[part.start : part.stop], timeout_seconds=pool.timeout_seconds
            )
        except BadResponseError:
            if len(part) > 1:
                if not _answers(pool, provider):
                    break
                middle = len(part) // 2
                waiting += [part[middle:], part[:middle]]
    return values


def _answers(pool: ProviderPool, provider: Provider) -> bool:
    try:
        provider.batch(head_calls(), timeout_seconds=pool.timeout_seconds)
    except BadResponseError:
        return False
    return True


def ask_each(pool: ProviderPool, calls: Sequence[Call]) -> dict[Provider, list[Any]]:
    """Return the results of each provider that answers."""
    answers = {provider: ask_one(pool, provider, calls) for provider in pool.providers}
    return {provider: values for provider, values in answers.items() if values is not None}


def read(pool: ProviderPool, first: Provider, wanted: Sequence[Listed]) -> dict[str, Found]:
    """Return these transactions by signature; what the first provider does not have is asked of the others."""
    found: dict[str, Found] = {}
    for provider in (first, *(one for one in pool.providers if one is not first)):
        missing = [one for one in wanted if one.signature not in found]
        if missing:
            found |= read_from(pool, provider, missing, commitment="confirmed")
    return found


def read_from(pool: ProviderPool, provider: Provider, wanted: Sequence[Listed], *, commitment: str) -> dict[str, Found]:
    """Return those of these transactions that the provider has at their slots, by signature."""
    slots = sorted({one.slot for one in wanted})
    calls = [transaction_call(one.signature, commitment=commitment) for one in wanted]
    calls += [block_hash_call(slot, commitment=commitment) for slot in slots]
    values = _ask(pool, provider, calls)
    hashes = dict(zip(slots, values[len(wanted) :], strict=True))
    found = {}
    for one, landed in zip(wanted, values, strict=False):
        known = landed.at(one.signature, one.slot) if isinstance(landed, Unreadable) else landed
        found[one.signature] = found_at(one.slot, known, hashes[one.slot])
    return {signature: one for signature, one in found.items() if one is not None}


def found_at(slot: int, landed: object, block_hash: object) -> Found | None:
    """Return the transaction if the provider has it, and its block, at this slot."""
    if isinstance(landed, Landed) and landed.slot == slot and isinstance(block_hash, str):
        return Found(landed, block_hash)
    return None
