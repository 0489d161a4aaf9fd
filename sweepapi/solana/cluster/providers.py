"""The providers of a Solana cluster: proven by its genesis hash, with the slot that some of their methods show."""

from collections.abc import Sequence
from typing import Any

from sweepapi.rpc import Call, ProviderPool
from sweepapi.rpc.errors import BadResponseError
from sweepapi.rpc.target import Head, Proof, Target
from sweepapi.solana.cluster.clusters import Cluster
from sweepapi.solana.encoding.addresses import public_key
from sweepapi.solana.encoding.responses import Clock

LAGGING_SLOTS = 50  # ten seconds, at 0.21 s a slot


def solana_pool(*, urls: Sequence[str], cluster: Cluster, timeout_seconds: float) -> ProviderPool:
    """Return the pool of these endpoints of a cluster, in order of preference."""
    target = Target(
        name=f"cluster {cluster.name}",
        network=cluster.network,
        proofs=(Proof(Call("getGenesisHash", (), _genesis_hash), cluster.genesis_hash),),
        head_of=_head,
        lagging_blocks=LAGGING_SLOTS,
        max_head_age_seconds=cluster.max_head_age_seconds,
    )
    return ProviderPool.of_urls(urls=urls, target=target, timeout_seconds=timeout_seconds)


def _genesis_hash(result: object) -> str:
    try:
        return str(public_key(result))  # type: ignore[arg-type]  # what is not text raises TypeError
    except (TypeError, ValueError) as error:
        raise BadResponseError("getGenesisHash: not a hash") from error


def _head(call: Call, value: Any) -> Head | None:  # noqa: ANN401 - what the call decodes to
    if isinstance(value, Clock):
        return Head(value.slot, value.unix_timestamp)
    if call.method == "getEpochInfo":
        return Head(value.slot)
    return Head(value) if call.method == "getSlot" else None
