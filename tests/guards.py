"""Fails tests that do network I/O inside a database transaction, which would hold its locks meanwhile."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from kombu import Producer

from partners.webhooks import attempts
from partners.webhooks.deliverer import Deliverer
from sweepapi.evm.signers.aws_kms import KmsFeeSigner
from sweepapi.evm.signers.web3signer import Web3SignerFeeSigner
from sweepapi.rpc import Provider
from sweepapi.solana.swap_api import SwapApi
from sweeps.sandbox.node import SandboxNode

# The swap API's requests run in threads of their own, so the call that starts them is watched; as do deliveries of
# webhooks, for which the database's thread waits.
IO = (
    (Provider, "_post"),
    (SandboxNode, "_post"),
    (SwapApi, "quotes"),
    (KmsFeeSigner, "_ask"),
    (Web3SignerFeeSigner, "_ask"),
    (Producer, "publish"),
    (attempts, "post"),
    (Deliverer, "_collect"),
)


def in_own_transaction() -> bool:
    """Whether this thread is inside an ``atomic`` block, except for the one that pytest-django opens around a test."""
    return any(not vars(block)["_from_testcase"] for block in connection.atomic_blocks)


def watch_io(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Make every call over the network inside a transaction fail; returns the list that records them."""
    breaches: list[str] = []
    for owner, name in IO:
        monkeypatch.setattr(owner, name, _guarded(getattr(owner, name), f"{owner.__name__}.{name}", breaches))
    return breaches


def _guarded(original: Callable[..., Any], label: str, breaches: list[str]) -> Callable[..., Any]:
    def guarded(*args: Any, **kwargs: Any) -> Any:
        if in_own_transaction():
            breaches.append(label)
            raise AssertionError(f"{label} was called inside a database transaction")
        return original(*args, **kwargs)

    return guarded
