"""Whether sweeps would work on each chain right now: measured, remembered for seconds, and never waited for long.

A chain is available when some provider shows a recent head, and the contract there answers, is not paused and has our
fee signer.
"""

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock, Thread

from sweepapi import chains
from sweepapi.evm import answers
from sweepapi.evm.chains import Chain
from sweepapi.evm.errors import ChainUnavailableError
from sweepapi.evm.multicall import Read, multicall
from sweepapi.evm.rpc import Call
from sweepapi.evm.v5 import FEE_SIGNER, PAUSED

FRESH_SECONDS = 5.0
# Up to this age the last measurement is answered while a new one is made beside the request.
STALE_SECONDS = 60.0
MEASURE_TIMEOUT_SECONDS = 1.0


@dataclass
class _Memory:
    """The last measurement of this process; monotonic seconds."""

    available: dict[str, bool] = field(default_factory=dict)
    measured_at: float = -STALE_SECONDS
    measuring: Lock = field(default_factory=Lock)

    def age_seconds(self) -> float:
        return time.monotonic() - self.measured_at


_memory = _Memory()


def available_chains() -> dict[str, bool]:
    """Return which enabled chains are available, by name.

    The answer is seconds old as a rule. Only the first request in a long time waits for a measurement, and no longer
    than its timeout.
    """
    if _memory.age_seconds() >= STALE_SECONDS:
        with _memory.measuring:
            if _memory.age_seconds() >= STALE_SECONDS:
                _remember()
    elif _memory.age_seconds() >= FRESH_SECONDS and _memory.measuring.acquire(blocking=False):
        Thread(target=_remember_and_release, daemon=True).start()
    return _memory.available


def _remember() -> None:
    _memory.available = _measure()
    _memory.measured_at = time.monotonic()


def _remember_and_release() -> None:
    try:
        _remember()
    finally:
        _memory.measuring.release()


def _measure() -> dict[str, bool]:
    enabled = chains.enabled()
    with ThreadPoolExecutor(max_workers=max(len(enabled), 1)) as executor:
        results = executor.map(_is_available, enabled)
        return {chain.name: result for chain, result in zip(enabled, results, strict=True)}


def _is_available(chain: Chain) -> bool:
    if chain.v5_contract is None or chain.protocol_recipient is None:
        return False
    reads = [Read(chain.v5_contract, FEE_SIGNER), Read(chain.v5_contract, PAUSED)]
    calls = [
        Call("eth_getBlockByNumber", ("latest", False), answers.block),
        multicall(multicall3=chain.multicall3, reads=reads, all_needed=True),
    ]
    try:
        _, (head, ((signer,), (paused,))) = chains.pool(chain.chain_id).ask(
            calls, timeout_seconds=MEASURE_TIMEOUT_SECONDS
        )
    except ChainUnavailableError:
        return False
    max_age = chain.finality.max_head_age_seconds
    is_recent = max_age is None or time.time() - head.timestamp <= max_age
    return is_recent and not paused and signer.lower() == chains.fee_signer().address.lower()
