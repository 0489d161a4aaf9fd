"""Calls, pools and a clock for the tests of providers."""

import json
from collections.abc import Callable
from typing import Any

from sweepapi.evm.chain.providers import target_of
from sweepapi.evm.encoding import responses
from sweepapi.rpc import Call, ProviderPool

CHAIN_ID = 31337
HEAD = Call("eth_getBlockByNumber", ("latest", False), responses.block)
NUMBER = Call("eth_blockNumber", (), responses.quantity)

# Turns a batch into HTTP status and body.
Reply = Callable[[list[dict[str, Any]]], tuple[int, bytes]]


class ManualClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds

    def forward(self, seconds: float) -> None:
        self.seconds += seconds


def pool_of(*urls: str, clock: ManualClock | None = None, timeout_seconds: float = 2.0, **facts: Any) -> ProviderPool:
    """Return a pool of the local chain; ``facts`` are those of its target."""
    target = target_of(CHAIN_ID, **facts)
    return ProviderPool.of_urls(urls=urls, target=target, timeout_seconds=timeout_seconds, clock=clock or ManualClock())


def error(code: Any, message: str | None, **fields: Any) -> Reply:
    """Return an error for every call except ``eth_chainId``."""

    def reply(batch: list[dict[str, Any]]) -> tuple[int, bytes]:
        failure = {"code": code, "message": message, **fields}
        answers = [
            {"id": request["id"], "result": hex(CHAIN_ID)}
            if request["method"] == "eth_chainId"
            else {"id": request["id"], "error": failure}
            for request in batch
        ]
        return 200, json.dumps(answers).encode()

    return reply
