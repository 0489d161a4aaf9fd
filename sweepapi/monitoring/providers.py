"""Counts what providers are asked and how they answer; Django imports this at its start, in every process."""

import time

from sweepapi.monitoring import metrics
from sweepapi.rpc.observing import Batch, observe


def count(batch: Batch) -> None:
    """Count each call of a batch, whose methods are those of our code, and note how its provider fared."""
    provider = (batch.network, str(batch.position))
    for method, calls in batch.methods.items():
        metrics.RPC_CALLS.labels(*provider, method, batch.outcome).inc(calls)
    metrics.RPC_SECONDS.labels(*provider).observe(batch.seconds)
    latest = metrics.PROVIDER_ANSWER if batch.outcome == "answered" else metrics.PROVIDER_FAILURE
    latest.labels(*provider).set(time.time())


observe(count)
