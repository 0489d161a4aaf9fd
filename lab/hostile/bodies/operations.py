"""Each operation that takes a body, with one as large as it may be."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from dev.chain.chains_file import CHAIN
from sweepapi.evm.contracts.batch import MAX_LEGS
from sweepapi.evm.encoding.addresses import NATIVE_COIN, eip55
from sweepapi.evm.wallet.signatures import MAX_SIGNATURE_BYTES

MAX_TOKENS, MAX_ASSETS, MAX_RECEIPTS, LOGS_A_RECEIPT = 30, 500, 10, 20
_ID = "019bb286-3ae0-7b00-811c-fdc880dd81d4"
_HASH = "0x" + "ab" * 32
_KEY = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
_TYPES = [f"sweep.{word}" for word in ("completed", "finalized", "reversed", "failed", "expired", "voided")]


@dataclass(frozen=True)
class Operation:
    """How to send one."""

    name: str
    method: str
    path: str
    largest: dict[str, Any]


def addresses(count: int, *, seed: int = 1) -> list[str]:
    """Return addresses with their checksums, which take the most work."""
    return [
        eip55(f"0x{(seed << 64 | number) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**160:040x}")
        for number in range(count)
    ]


def _build() -> dict[str, Any]:
    wallet, *mints = addresses(MAX_TOKENS + 1)
    return {
        "chain": CHAIN,
        "wallet": wallet,
        "tokens": [{"mint": mint, "amount": "9" * 77, "symbol": "x" * 64, "decimals": 18} for mint in mints],
        "outputMint": NATIVE_COIN,
        "slippageBps": 50,
        "clientReference": "r" * 64,
        "onUnroutable": "skip",
        "onLegFailure": "skip",
        "maxSkipped": 29,
        "acceptPriceImpactBps": 10_000,
        "approvals": "unlimited",
        "execution": {"wallet": {"atomic": "supported"}},
    }


def _discover() -> dict[str, Any]:
    wallet, *candidates = addresses(MAX_ASSETS + 1)
    metadata = {"name": "A token", "symbol": "TOKEN", "decimals": 18}
    assets = [{"address": one, "balance": "0x1", "type": "erc20", "metadata": metadata} for one in candidates]
    return {
        "chain": CHAIN,
        "wallet": wallet,
        "outputMint": NATIVE_COIN,
        "candidates": {"0x7a69": assets},
        "includeHidden": True,
    }


def _solana_discover() -> dict[str, Any]:
    return {"wallet": _KEY, "outputMint": _KEY, "slippageBps": 100, "candidates": [_KEY] * 50}


def _solana_build() -> dict[str, Any]:
    tokens = [{"mint": _KEY, "amount": "9" * 19, "symbol": "x" * 64, "decimals": 6} for _ in range(MAX_TOKENS)]
    body = {"wallet": _KEY, "tokens": tokens, "outputMint": _KEY, "slippageBps": 100}
    return {**body, "closeEmptyAccounts": True, "clientReference": "r" * 64}


def _confirm() -> dict[str, Any]:
    log = {"address": addresses(1)[0], "topics": [_HASH] * 4, "data": "0x" + "00" * 64}
    receipt = {
        "logs": [log] * LOGS_A_RECEIPT,
        "status": "0x1",
        "blockHash": _HASH,
        "blockNumber": "0x28a4d1f",
        "gasUsed": "0x51f0b",
    }
    receipts = [{**receipt, "transactionHash": f"0x{number:064x}"} for number in range(MAX_RECEIPTS)]
    return {"callsStatus": {"version": "2.0.0", "id": _HASH, "chainId": "0x7a69", "status": 200, "receipts": receipts}}


def _finalize() -> dict[str, Any]:
    members = {"r": _HASH, "s": _HASH, "v": 27, "yParity": 0}
    return {"execution": "permits", "signatures": [*[members] * MAX_LEGS, "0x" + "ab" * MAX_SIGNATURE_BYTES]}


def operations() -> list[Operation]:
    """Return all; those of one object name one that does not exist, which is looked up only for a valid body."""
    post = partial(Operation, method="POST")
    endpoint = {
        "url": "https://partner.example/" + "p" * 1_000,
        "description": "d" * 200,
        "types": _TYPES,
        "timing": "final",
        "payload": "full",
    }
    wallet, *_ = addresses(1)
    return [
        post(name="quoteSweep", path="/v2/sweep/quote", largest=_build()),
        post(name="buildSweep", path="/v2/sweep/build", largest=_build()),
        post(name="discoverTokens", path="/v2/sweep/discover", largest=_discover()),
        post(name="refreshSweep", path=f"/v2/sweep/build/{_ID}/refresh", largest={}),
        post(name="cancelSweep", path=f"/v2/sweep/status/{_ID}/cancel", largest={"onChain": True}),
        post(name="finalizeSweep", path=f"/v2/sweep/status/{_ID}/finalize", largest=_finalize()),
        post(name="confirmSweep", path=f"/v2/sweep/status/{_ID}/confirm", largest=_confirm()),
        post(name="discoverSolanaTokens", path="/v1/sweep/discover", largest=_solana_discover()),
        post(name="buildSolanaSweep", path="/v1/sweep/build", largest=_solana_build()),
        post(name="createWebhook", path="/v2/webhooks", largest=endpoint),
        Operation("updateWebhook", "PATCH", f"/v2/webhooks/{_ID}", {**endpoint, "enabled": True}),
        post(name="pingWebhook", path=f"/v2/webhooks/{_ID}/ping", largest={}),
        post(name="rotateWebhookSecret", path=f"/v2/webhooks/{_ID}/rotate-secret", largest={}),
        post(name="replayWebhook", path=f"/v2/webhooks/{_ID}/replay", largest={"since": "2026-01-31T12:00:00Z"}),
        post(name="advanceSandbox", path="/v2/sandbox/advance", largest={"chain": CHAIN, "blocks": 9, "seconds": 9}),
        post(name="fundSandboxWallet", path="/v2/sandbox/fund", largest={"chain": CHAIN, "wallet": wallet}),
    ]
