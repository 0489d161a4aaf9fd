"""The service in the benchmark's own process, with one partner, and the market that its builds sweep."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from django.db import transaction
from django.test import Client

from dev.chain.chains_file import CHAIN
from dev.chain.listing import list_tokens
from dev.chain.rpc import Rpc
from dev.processes.waiting import wait_until
from dev.wallets import Wallet
from partners.models import ApiKey, FeeShare, Partner
from sweepapi import networks
from sweepapi_client import NATIVE_COIN

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep

LISTED_OF_EACH_KIND = 15
PAYOUT_WALLET = "0x" + "0a" * 20
MINING_SECONDS = 10
AMOUNT = 5 * 10**18  # of each listed token, of which every wallet has a thousand


@dataclass(frozen=True)
class Service:
    """Builds for one partner against the local chain, whose state benchmarks may change."""

    world: dict[str, Any]
    rpc: Rpc
    wallets: Sequence[Wallet]
    client: Client
    listed: Sequence[str]  # thirty tokens, V3 and V2 in turn

    @classmethod
    def start(cls) -> Self:
        """Add a partner and thirty more tokens to the world of ``python -m dev exec``."""
        world = json.loads(Path(os.environ["DEV_WORLD_FILE"]).read_text(encoding="utf-8"))
        rpc = Rpc(world["rpcUrl"])
        holders = [user["address"] for user in world["users"]]
        by_kind = [
            list_tokens(rpc, world["contracts"], holders, count=LISTED_OF_EACH_KIND, kind=kind)
            for kind in ("uniswap_v3", "uniswap_v2")
        ]
        return cls(
            world=world,
            rpc=rpc,
            wallets=[Wallet(rpc, user["privateKey"]) for user in world["users"]],
            client=Client(headers={"x-api-key": issued_key()}, SERVER_NAME="localhost"),
            listed=list(chain.from_iterable(zip(*by_kind, strict=True))),
        )

    def token(self, symbol: str) -> str:
        """Return a token's address; ``ETH`` is the native coin."""
        return NATIVE_COIN if symbol == "ETH" else str(self.world["tokens"][symbol]["address"])

    def decimals(self, symbol: str) -> int:
        return int(self.world["tokens"][symbol]["decimals"])

    def body(self, tokens: Sequence[str], output: str, **changes: str) -> str:
        """Return the request for a build of equal amounts of these tokens."""
        return self.request(dict.fromkeys(tokens, AMOUNT), output, wallet=self.wallets[0], **changes)

    def request(self, amounts: Mapping[str, int], output: str, *, wallet: Wallet, **changes: str) -> str:
        """Return the request for a build of these amounts, by token."""
        body = {
            "chain": CHAIN,
            "wallet": wallet.address,
            "tokens": [{"mint": token, "amount": str(amount)} for token, amount in amounts.items()],
            "outputMint": output,
            "slippageBps": 100,
        }
        return json.dumps(body | changes)

    def post(self, body: str) -> bytes:
        """Build, and return the body of the answer; raises RuntimeError if the build is refused."""
        response = self.client.post("/v2/sweep/build", body, content_type="application/json")
        if response.status_code != HTTPStatus.CREATED:
            raise RuntimeError(f"a build was refused: {response.content!r}")
        return response.content

    def build(self, body: str) -> BuiltSweep:
        """Build, and return the data of the answer."""
        data: BuiltSweep = json.loads(self.post(body))["data"]
        return data

    def receipt(self, tx_hash: str) -> dict[str, Any]:
        """Wait for a transaction's receipt and return it."""
        found: list[dict[str, Any]] = []

        def mined() -> bool:
            found[:] = filter(None, [self.rpc.call("eth_getTransactionReceipt", tx_hash)])
            return bool(found)

        wait_until(mined, within_seconds=MINING_SECONDS, what=f"receipt of {tx_hash}")
        return found[0]

    @contextmanager
    def knowing_no_tokens(self, output: str) -> Iterator[None]:
        """Let the service know only the last of the listed tokens, from a build of it into this output."""
        with networks.replaced_by(replace(networks.current())):
            self.build(self.body(self.listed[-1:], output))
            yield

    @contextmanager
    def rolled_back(self) -> Iterator[None]:
        """Revert what the block does to the chain."""
        snapshot = self.rpc.call("evm_snapshot")
        yield
        self.rpc.call("evm_revert", snapshot)


@contextmanager
def reading_from(url: str) -> Iterator[None]:
    """Let the service read the chain from this provider only."""
    with networks.replaced_by(replace(networks.current(), rpc_urls={CHAIN: [url]})):
        yield


def issued_key(mode: str = "test") -> str:
    """Add a partner, and return a key of it in plaintext."""
    with transaction.atomic():
        partner = Partner.objects.create(name=f"Benchmark, {mode}", payout_wallet=PAYOUT_WALLET)
        FeeShare.objects.create(partner=partner, share_bps=4000)
    _, plaintext = ApiKey.issue(partner=partner, name="benchmark", mode=mode)
    return plaintext
