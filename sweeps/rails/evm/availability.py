"""Whether sweeps would work on each chain right now: measured, cached for seconds, and bounded in time.

A chain is available when some provider returns a recent head, and everything about the contracts that one round trip
can read is as configured: their code, signer, fees, roles and allow-lists, and that they are not paused. Differences
are logged whenever they change.
"""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from threading import Lock, Thread

import structlog

from sweepapi import networks
from sweepapi.evm.chains import Chain
from sweepapi.evm.deployment.comparison import compare
from sweepapi.evm.deployment.specification import deployed
from sweepapi.evm.errors import ChainUnavailableError, SpecificationError

log = structlog.get_logger(__name__)

FRESH_SECONDS = 5.0
# Up to this age the last measurement is returned while a new one runs in the background.
STALE_SECONDS = 60.0
MEASURE_TIMEOUT_SECONDS = 1.0


@dataclass
class _Memory:
    """The last measurement of this process; monotonic seconds."""

    available: dict[str, bool] = field(default_factory=dict)
    differences: dict[str, list[str]] = field(default_factory=dict)  # by chain, as last logged
    measured_at: float = -STALE_SECONDS
    measuring: Lock = field(default_factory=Lock)

    def age_seconds(self) -> float:
        return time.monotonic() - self.measured_at


_memory = _Memory()


@dataclass(frozen=True)
class ChainStatus:
    """A chain, and whether sweeps can be built there now."""

    chain: Chain
    is_available: bool


def chain_statuses() -> Sequence[ChainStatus]:
    """Return the status of every enabled chain."""
    available = _available_chains()
    return [ChainStatus(chain, available.get(chain.name, False)) for chain in networks.current().enabled]


def _available_chains() -> dict[str, bool]:
    """Return which enabled chains are available, by name.

    The result is usually seconds old. Only the first request after a long pause waits for a measurement, and no longer
    than its timeout.
    """
    age_seconds = _memory.age_seconds()
    if age_seconds >= STALE_SECONDS and _memory.measuring.acquire(timeout=MEASURE_TIMEOUT_SECONDS):
        _remember_and_release(MEASURE_TIMEOUT_SECONDS)
    elif age_seconds >= FRESH_SECONDS and _memory.measuring.acquire(blocking=False):
        # No request waits for this, so providers get their usual timeout.
        Thread(target=_remember_and_release, args=(None,), daemon=True).start()
    return _memory.available


def _remember_and_release(timeout_seconds: float | None) -> None:
    try:
        if _memory.age_seconds() >= FRESH_SECONDS:  # else another request measured while this one waited
            _memory.available = _measure(timeout_seconds)
            _memory.measured_at = time.monotonic()
    finally:
        _memory.measuring.release()


def _measure(timeout_seconds: float | None) -> dict[str, bool]:
    enabled = networks.current().enabled
    with ThreadPoolExecutor(max_workers=max(len(enabled), 1)) as executor:
        results = executor.map(_is_available, enabled, repeat(timeout_seconds))
        return {chain.name: result for chain, result in zip(enabled, results, strict=True)}


def _is_available(chain: Chain, timeout_seconds: float | None) -> bool:
    at = deployed(chain)
    if at is None:
        return False
    try:
        found = compare(
            specification=networks.current().specification(chain),
            at=at,
            pool=networks.current().pool(chain.network),
            timeout_seconds=timeout_seconds,
        )
    except ChainUnavailableError:
        return False
    except SpecificationError as error:
        _log_change(chain, [str(error)])
        return False
    _log_change(chain, [str(difference) for difference in found.differences])
    max_age = chain.finality.max_head_age_seconds
    is_recent = max_age is None or time.time() - found.head.timestamp <= max_age
    return is_recent and not found.differences


def _log_change(chain: Chain, differences: list[str]) -> None:
    """Log once what differs from the configuration, and once that it agrees again."""
    if _memory.differences.get(chain.name, []) == differences:
        return
    _memory.differences[chain.name] = differences
    if differences:
        log.warning("contracts_differ", chain=chain.name, differences=differences)
    else:
        log.info("contracts_agree", chain=chain.name)
