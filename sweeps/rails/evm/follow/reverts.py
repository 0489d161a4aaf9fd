"""Explains a reverted transaction by replaying it on the block before its own."""

from collections.abc import Sequence

from sweepapi.evm.reverts.explaining import explain as explain_reason
from sweepapi.evm.reverts.replaying import replay
from sweepapi.networks import Networks
from sweeps.models import SweepToken, SweepTransaction
from sweeps.protocol.rail import Mismatch


def explain(registry: Networks, tx: SweepTransaction, *, timeout_seconds: float) -> Sequence[Mismatch]:
    """Return why it reverted, with the token if one is concerned; empty if that can't be found out in time."""
    reason = replay(
        pool=registry.pool(tx.sweep.network),
        tx_hash=tx.tx_hash,
        block_number=tx.block[0],
        timeout_seconds=timeout_seconds,
    )
    if reason is None:
        return []
    tokens = list(SweepToken.objects.filter(sweep_id=tx.sweep_id).values_list("asset", flat=True))
    explained = explain_reason(reason, tokens=tokens)
    if explained.token is None:
        return [Mismatch("txHash", "reverted", explained.message)]
    field = f"tokens[{tokens.index(explained.token)}].mint"
    return [Mismatch(field, "reverted", f"{explained.token}: {explained.message}")]
