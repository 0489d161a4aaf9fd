"""Reading the same from a certain provider, or from each of them, however many calls that takes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from sweepapi.rpc import Call, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.history import Listed, block_hash_call, head_calls
from sweepapi.solana.landed import Landed, transaction_call

log = structlog.get_logger(__name__)

MAX_CALLS = 256  # in one request


@dataclass(frozen=True)
class Found:
    """A transaction with the hash of its block."""

    landed: Landed
    block_hash: str


def needed(pool: ProviderPool) -> int:
    """Return how many providers must say the same before anything closes or is final."""
    return min(len(pool.providers), 2)


def ask_one(pool: ProviderPool, provider: Provider, calls: Sequence[Call]) -> list[Any] | None:
    """Return the results of this provider, or None if it does not answer."""
    values: list[Any] = []
    try:
        for start in range(0, len(calls), MAX_CALLS):
            part = calls[start : start + MAX_CALLS]
            values += provider.batch(part, timeout_seconds=pool.timeout_seconds)
    except BadResponseError as error:
        log.warning("provider_failed", provider=repr(provider), error=str(error))
        return None
    return values


def _ask_in_parts(pool: ProviderPool, provider: Provider, calls: Sequence[Call]) -> list[Any]:
    """Return the results of this provider, None where it has none.

    Transactions of strangers may be so large that not all fit into one response; those parts are asked for in halves.
    """
    values: list[Any] = []
    for start in range(0, len(calls), MAX_CALLS):
        part = calls[start : start + MAX_CALLS]
        shown = ask_one(pool, provider, part)
        if shown is None and len(part) > 1 and ask_one(pool, provider, head_calls()) is not None:
            middle = len(part) // 2
            shown = [*_ask_in_parts(pool, provider, part[:middle]), *_ask_in_parts(pool, provider, part[middle:])]
        values += [None] * len(part) if shown is None else shown
    return values


def ask_each(pool: ProviderPool, calls: Sequence[Call]) -> list[list[Any]]:
    """Return the results of each provider that answers."""
    answers = (ask_one(pool, provider, calls) for provider in pool.providers)
    return [values for values in answers if values is not None]


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
    values = _ask_in_parts(pool, provider, calls)
    hashes = dict(zip(slots, values[len(wanted) :], strict=True))
    return {
        one.signature: found
        for one, landed in zip(wanted, values, strict=False)
        if (found := found_at(one.slot, landed, hashes[one.slot])) is not None
    }


def found_at(slot: int, landed: object, block_hash: object) -> Found | None:
    """Return the transaction if the provider has it, and its block, at this slot."""
    if isinstance(landed, Landed) and landed.slot == slot and isinstance(block_hash, str):
        return Found(landed, block_hash)
    return None
