"""The providers of an EVM chain: proven by its chain id, with the head and its time from the latest block."""

from collections.abc import Sequence
from typing import Any

from sweepapi.evm import responses
from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.provider import Head, Target

LAGGING_BLOCKS = 5


def target_of(chain_id: int, *, max_head_age_seconds: int | None = None) -> Target:
    """Return what proves that a provider is on this chain; without an age, a head is never too old."""
    return Target(
        name=f"chain {chain_id}",
        proof=Call("eth_chainId", (), responses.quantity),
        expected=chain_id,
        head_of=_head,
        lagging_blocks=LAGGING_BLOCKS,
        max_head_age_seconds=max_head_age_seconds,
    )


def evm_pool(
    *, urls: Sequence[str], chain_id: int, timeout_seconds: float, max_head_age_seconds: int | None = None
) -> ProviderPool:
    """Return the pool of these endpoints of a chain, in order of preference."""
    target = target_of(chain_id, max_head_age_seconds=max_head_age_seconds)
    return ProviderPool.of_urls(urls=urls, target=target, timeout_seconds=timeout_seconds)


def _head(call: Call, value: Any) -> Head | None:  # noqa: ANN401 - what the call decodes to
    if call.method != "eth_getBlockByNumber" or call.params[0] != "latest":
        return None
    return Head(value.number, value.timestamp)
