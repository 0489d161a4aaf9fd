"""The providers of an EVM chain: proven by its id and genesis, with the head and its time from the latest block."""

from collections.abc import Sequence
from typing import Any

from sweepapi.evm.chain.fee_models.costs import FeeModel
from sweepapi.evm.chain.fee_models.plain import PLAIN
from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call, ErrorPolicy, ProviderPool
from sweepapi.rpc.errors import CallFailedError
from sweepapi.rpc.target import Head, Proof, Target

LAGGING_BLOCKS = 5


def target_of(
    chain_id: int,
    *,
    genesis_hash: str | None = None,
    max_head_age_seconds: int | None = None,
    fee_model: FeeModel = PLAIN,
) -> Target:
    """Return what proves that a provider is on this chain; without an age, a head is never too old."""
    proofs = [Proof(Call("eth_chainId", (), responses.quantity), chain_id)]
    if genesis_hash is not None:  # two chains can have the same id; not every node still has the first block
        first_block = Call("eth_getBlockByNumber", ("0x0", False), _block_hash, ErrorPolicy.ANY)
        proofs.append(Proof(first_block, genesis_hash))
    return Target(
        name=f"chain {chain_id}",
        network=f"eip155:{chain_id}",
        proofs=tuple(proofs),
        head_of=_head,
        lagging_blocks=LAGGING_BLOCKS,
        max_head_age_seconds=max_head_age_seconds,
        prepare=fee_model.as_read,
    )


def evm_pool(  # noqa: PLR0913 - what a pool of a chain depends on
    *,
    urls: Sequence[str],
    chain_id: int,
    timeout_seconds: float,
    genesis_hash: str | None = None,
    max_head_age_seconds: int | None = None,
    fee_model: FeeModel = PLAIN,
) -> ProviderPool:
    """Return the pool of these endpoints of a chain, in order of preference."""
    target = target_of(
        chain_id, genesis_hash=genesis_hash, max_head_age_seconds=max_head_age_seconds, fee_model=fee_model
    )
    return ProviderPool.of_urls(urls=urls, target=target, timeout_seconds=timeout_seconds)


def _block_hash(value: object) -> str:
    block = responses.optional_block(value)
    if block is None:
        raise CallFailedError("the node has no such block")
    return block.hash


def _head(call: Call, value: Any) -> Head | None:  # noqa: ANN401 - what the call decodes to
    if call.method != "eth_getBlockByNumber" or call.params[0] != "latest":
        return None
    return Head(value.number, value.timestamp)
