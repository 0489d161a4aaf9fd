"""What the demo's steps share: API clients, wallets, control of the chain, and checks that stop the demo."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dev.chain.rpc import Rpc
from dev.processes.waiting import wait_until
from dev.wallets import Wallet
from sweepapi_client import NATIVE_COIN, SweepApiError, SweepClient, finalized, token_inputs

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep, EntryPosting, EstimatedOutput, SolanaOutput, SweepState

SLIPPAGE_BPS = 100
CHAIN_SECONDS = 10
WORKER_SECONDS = 45
ON, OFF = True, False


class StepFailedError(Exception):
    """A check failed; the message is the claim that is false."""


@dataclass
class StepResult:
    """What a step checked and how its sweep ended."""

    step: str
    title: str
    passed: list[str] = field(default_factory=list)
    output: EstimatedOutput | SolanaOutput | None = None  # of the build
    sweep: Mapping[str, Any] | None = None  # its last status object
    gas_used: int | None = None

    def check(self, condition: bool, claim: str) -> None:  # noqa: FBT001 - an assertion takes a bool
        """Record the claim; raises StepFailedError if the condition is false."""
        if not condition:
            raise StepFailedError(f"not true: {claim}")
        self.record(claim)

    def record(self, claim: str) -> None:
        """Record a claim that was already checked."""
        self.passed.append(claim)

    def check_refused(self, call: Callable[[], object], http_status: int, code: str, *, what: str) -> SweepApiError:
        """Check that the API refuses the call with this status and code."""
        try:
            call()
        except SweepApiError as refusal:
            if (refusal.status, refusal.code) != (http_status, code):
                raise StepFailedError(f"{what} gets {refusal}, not {http_status} {code}") from refusal
            self.record(f"{what} gets {http_status} {code}")
            return refusal
        raise StepFailedError(f"{what} was accepted, not refused with {http_status} {code}")


class Context:
    """The running world from a partner's side, read from its world.json."""

    def __init__(self, world_file: Path) -> None:
        self._world: dict[str, Any] = json.loads(world_file.read_text())
        self.rpc = Rpc(self._world["rpcUrl"])
        self.ours, self.other = (SweepClient(self._world["baseUrl"], key) for key in self._world["apiKeys"])
        self.rolled_back = SweepClient(self._world["fallbackBaseUrl"], self._world["apiKeys"][0])
        self.wallets = [Wallet(self.rpc, user["privateKey"]) for user in self._world["users"]]
        self.chain: str = self._world["chain"]
        self.contracts: dict[str, str] = self._world["contracts"]
        self.tokens: dict[str, dict[str, Any]] = self._world["tokens"]
        self.permit2 = self.contracts["permit2"]

    @property
    def solana(self) -> dict[str, Any]:
        """The local cluster: its URLs, mints and wallets."""
        facts: dict[str, Any] = self._world["solana"]
        return facts

    @property
    def console(self) -> dict[str, str]:
        """The console's URL and an operator's credentials."""
        facts: dict[str, str] = self._world["console"]
        return facts

    def address(self, symbol: str) -> str:
        """Return a token's address; ``ETH`` is the native coin."""
        return NATIVE_COIN if symbol == "ETH" else str(self.tokens[symbol]["address"])

    def units(self, symbol: str, whole: int) -> int:
        """Convert whole tokens to the smallest unit."""
        decimals: int = self.tokens[symbol]["decimals"]
        return int(whole * 10**decimals)

    def build(
        self, wallet: Wallet, output: str, *, api: SweepClient | None = None, accept_impact_bps: int = 0, **whole: int
    ) -> BuiltSweep:
        """Build a sweep of whole tokens by symbol, and approve Permit2 where the API asks for it.

        Tokens whose pools pay too little by then stay with the user; by default they would revert the whole sweep.
        """
        amounts = {self.address(symbol): self.units(symbol, amount) for symbol, amount in whole.items()}
        built = (api or self.ours).build(
            {
                "chain": self.chain,
                "wallet": wallet.address,
                "tokens": token_inputs(amounts),
                "outputMint": self.address(output),
                "slippageBps": SLIPPAGE_BPS,
                "onLegFailure": "skip",
                "acceptPriceImpactBps": accept_impact_bps,
            }
        )
        for issue in built["issues"]["allowance"]:
            for transaction in (issue["resetTransaction"], issue["transaction"]):
                if transaction is not None:
                    self.receipt(wallet.send(transaction))
        return built

    def sign_and_send(self, wallet: Wallet, built: BuiltSweep) -> str:
        """Sign and send as the user; returns the hash."""
        return wallet.send(finalized(built, wallet.sign(built["permit2"])))

    def receipt(self, tx_hash: str) -> dict[str, Any]:
        """Wait for a transaction's receipt and return it."""
        found: list[dict[str, Any]] = []

        def mined() -> bool:
            found[:] = [receipt for receipt in [self.rpc.call("eth_getTransactionReceipt", tx_hash)] if receipt]
            return bool(found)

        wait_until(mined, within_seconds=CHAIN_SECONDS, what=f"receipt of {tx_hash}")
        return found[0]

    def wait_for_status(self, sweep_id: str, status: str) -> SweepState:
        """Wait until the worker has moved a sweep to this status; returns its status object."""
        wait_until(
            lambda: bool(self.ours.sweep(sweep_id)["status"] == status),
            within_seconds=WORKER_SECONDS,
            what=f"sweep {sweep_id} becomes {status}",
        )
        return self.ours.sweep(sweep_id)

    def listed_postings(self, hashes: Collection[str]) -> list[EntryPosting]:
        """Wait until the ledger lists what was booked for these transactions, about a second later; returns it."""
        found: list[EntryPosting] = []

        def listed() -> bool:
            found[:] = [posting for posting in self.ours.ledger_entries() if posting["txHash"] in hashes]
            return {posting["txHash"] for posting in found} == set(hashes)

        wait_until(listed, within_seconds=WORKER_SECONDS, what=f"entries of {', '.join(hashes)}")
        return found

    def pause_mining(self) -> None:
        """Keep new transactions in the mempool."""
        self.rpc.call("evm_setAutomine", OFF)

    def resume_mining(self) -> None:
        """Mine the waiting transactions, and new ones at once."""
        self.rpc.call("evm_mine")
        self.rpc.call("evm_setAutomine", ON)

    def pass_time(self, seconds: int, *, blocks: int) -> None:
        """Advance the chain's clock and mine this many blocks."""
        self.rpc.call("evm_increaseTime", seconds)
        self.rpc.call("anvil_mine", hex(blocks))
