"""What the steps of the story share: clients, wallets, the chain's levers, and a strict word for what must hold."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.chain.rpc import Rpc
from dev.partner_client import NATIVE_COIN, RefusedError, SweepApi, Wallet, finalize
from dev.waiting import wait_until

SLIPPAGE_BPS = 100
CHAIN_SECONDS = 10
WORKER_SECONDS = 45
ON, OFF = True, False


class StepFailedError(Exception):
    """Something that must hold does not; the message is the sentence that is not true."""


@dataclass
class Outcome:
    """What a step showed."""

    step: str
    title: str
    held: list[str] = field(default_factory=list)
    output: dict[str, Any] | None = None  # estimatedOutput of the build: token, symbol, decimals
    sweep: dict[str, Any] | None = None  # its last status object
    gas_used: int | None = None

    def hold(self, truth: bool, sentence: str) -> None:  # noqa: FBT001 - the point of the call
        """Note that the sentence holds; raises StepFailedError if it does not."""
        if not truth:
            raise StepFailedError(f"it does not hold that {sentence}")
        self.note(sentence)

    def note(self, sentence: str) -> None:
        """Note that a sentence holds which was waited for or checked elsewhere."""
        self.held.append(sentence)

    def refused(self, call: Callable[[], object], http_status: int, code: str, *, what: str) -> RefusedError:
        """Hold that the API refuses the call in this way."""
        try:
            call()
        except RefusedError as refusal:
            if (refusal.http_status, refusal.code) != (http_status, code):
                raise StepFailedError(f"{what} is answered {refusal}, not {http_status} {code}") from refusal
            self.note(f"{what} is answered {http_status} {code}")
            return refusal
        raise StepFailedError(f"{what} was taken, but has to be refused with {http_status} {code}")


class Stage:
    """The running world, seen from outside through its world.json."""

    def __init__(self, world_file: Path) -> None:
        self._world: dict[str, Any] = json.loads(world_file.read_text())
        self.rpc = Rpc(self._world["rpcUrl"])
        self.ours, self.other = (SweepApi(self._world["baseUrl"], key) for key in self._world["apiKeys"])
        self.wallets = [Wallet(self.rpc, user["privateKey"]) for user in self._world["users"]]
        self.contract: str = self._world["contracts"]["v5"]
        self.permit2: str = self._world["contracts"]["permit2"]

    def address(self, symbol: str) -> str:
        """Return a token's address; ``ETH`` is the native coin."""
        return NATIVE_COIN if symbol == "ETH" else str(self._world["tokens"][symbol]["address"])

    def units(self, symbol: str, whole: int) -> int:
        """Return an amount in the token's smallest unit."""
        decimals: int = self._world["tokens"][symbol]["decimals"]
        return int(whole * 10**decimals)

    def build(self, wallet: Wallet, output: str, **whole: int) -> dict[str, Any]:
        """Build a sweep of whole units by symbol and give Permit2 the allowances that the API asks for."""
        built = self.ours.build(
            chain=self._world["chain"],
            wallet=wallet.address,
            amounts={self.address(symbol): self.units(symbol, amount) for symbol, amount in whole.items()},
            output=self.address(output),
            slippage_bps=SLIPPAGE_BPS,
        )
        for issue in built["issues"]["allowance"]:
            for transaction in (issue["resetTransaction"], issue["transaction"]):
                if transaction is not None:
                    self.receipt(wallet.send(transaction))
        return built

    def sign_and_send(self, wallet: Wallet, built: dict[str, Any]) -> str:
        """Let the user sign and send; returns the hash."""
        return wallet.send(finalize(built, wallet.sign(built["permit2"])))

    def receipt(self, tx_hash: str) -> dict[str, Any]:
        """Return the receipt of a transaction that is about to be mined."""
        found: list[dict[str, Any]] = []

        def mined() -> bool:
            found[:] = [receipt for receipt in [self.rpc.call("eth_getTransactionReceipt", tx_hash)] if receipt]
            return bool(found)

        wait_until(mined, within_seconds=CHAIN_SECONDS, what=f"receipt of {tx_hash}")
        return found[0]

    def wait_for_status(self, sweep_id: str, status: str) -> dict[str, Any]:
        """Read a sweep until the worker has brought it there."""
        wait_until(
            lambda: bool(self.ours.sweep(sweep_id)["status"] == status),
            within_seconds=WORKER_SECONDS,
            what=f"the worker makes sweep {sweep_id} {status}",
        )
        return self.ours.sweep(sweep_id)

    def pause_mining(self) -> None:
        """Let transactions wait in the pool."""
        self.rpc.call("evm_setAutomine", OFF)

    def resume_mining(self) -> None:
        """Mine what waits, and from now on at once."""
        self.rpc.call("evm_mine")
        self.rpc.call("evm_setAutomine", ON)

    def pass_time(self, seconds: int, *, blocks: int) -> None:
        """Move the chain's clock, and let so many blocks follow that it is past what the chain calls safe."""
        self.rpc.call("evm_increaseTime", seconds)
        self.rpc.call("anvil_mine", hex(blocks))
