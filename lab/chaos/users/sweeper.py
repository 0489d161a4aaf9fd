"""What a story does with one sweep on an EVM chain: the partner's calls and the user's transactions, step by step.

Each step is one action of the driver. A method that takes several is a generator: what it yields is the number of other
actions that pass before it goes on.
"""

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any, cast

from dev.processes.errors import NodeError
from lab.chaos.chain import ChaosChain
from lab.chaos.journal import Journal
from lab.chaos.partner import PartnerApi, Reply
from lab.chaos.wallets import TOKENS, ChaosWallet, outbid
from sweepapi_client import NATIVE_COIN, finalized

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep, TransactionRequest

BUILD_ATTEMPTS, CONFIRM_ATTEMPTS = 12, 4
RETRY_ACTIONS = 3
SLIPPAGE_BPS = 300
FEWEST_WHOLE, MOST_WHOLE = 2, 40
GAS_IF_UNKNOWN = 1_500_000
DECIDED = 422  # the hash is stored, and its sweep not executed by it

Steps = Generator[int, None, Any]
Built = dict[str, Any]


@dataclass
class Sweeper:
    """One user of one partner; the random choices are the story's own."""

    number: int
    mode: str
    partner: int
    api: PartnerApi
    wallet: ChaosWallet
    chain: ChaosChain
    tokens: dict[str, dict[str, Any]]
    random: Random
    journal: Journal

    def build(self) -> Generator[int, None, Built | None]:
        """Build until it succeeds; None if it never does."""
        inputs = self.random.sample(TOKENS, self.random.choice((1, 1, 2)))
        output = self.random.choice([symbol for symbol in ("WETH", "USDC", "ETH") if symbol not in inputs])
        body = {
            "chain": "local",
            "wallet": self.wallet.address,
            "tokens": [{"mint": self._address(symbol), "amount": str(self._units(symbol))} for symbol in inputs],
            "outputMint": self._address(output),
            "slippageBps": SLIPPAGE_BPS,
            "clientReference": f"story {self.number}",
        }
        for _ in range(BUILD_ATTEMPTS):
            reply = self.api.post("build", "/v2/sweep/build", body, **self._facts())
            if reply.http == 201:
                self._record(reply.data)
                return reply.data
            yield RETRY_ACTIONS
        self.journal.add("gave_up", **self._facts())
        return None

    def confirm(self, built: Built, tx_hash: str) -> Generator[int, None, Reply]:
        """Report a hash, again while the outcome is unknown."""
        for _ in range(CONFIRM_ATTEMPTS):
            reply = self.report(built, tx_hash)
            if not reply.is_unknown:
                break
            yield RETRY_ACTIONS
        return reply

    def report(self, built: Built, tx_hash: str) -> Reply:
        """Report a hash once."""
        sweep = built["sweepId"]
        path = f"/v2/sweep/status/{sweep}/confirm"
        return self.api.post("confirm", path, {"txHash": tx_hash}, sweep=sweep, hash=tx_hash)

    def cancel(self, built: Built, *, on_chain: bool) -> Reply:
        sweep = built["sweepId"]
        return self.api.post("cancel", f"/v2/sweep/status/{sweep}/cancel", {"onChain": on_chain}, sweep=sweep)

    def refresh(self, built: Built) -> Built:
        """Return a new offer of the same sweep, or the old one."""
        sweep = built["sweepId"]
        reply = self.api.post("refresh", f"/v2/sweep/build/{sweep}/refresh", {}, sweep=sweep)
        return reply.data if reply.http == 200 else built

    def send(self, built: Built, *, signed_by: ChaosWallet | None = None, gas: int | None = None) -> str | None:
        """Execute the sweep, as far as the user is concerned; returns the hash, None if the node refuses it."""
        prepared = self.push(self.call(built, signed_by=signed_by), built, gas=gas)
        return None if prepared is None else prepared[0]

    def call(self, built: Built, *, signed_by: ChaosWallet | None = None) -> "TransactionRequest":
        """Return the signed call."""
        return finalized(cast("BuiltSweep", built), (signed_by or self.wallet).sign(built["permit2"]))

    def push(
        self, call: Mapping[str, Any], *builds: Built, gas: int | None = None
    ) -> tuple[str, dict[str, Any]] | None:
        """Send a transaction that concerns these sweeps; returns its hash and fields."""
        with self.chain.undisturbed():
            fields = self.wallet.prepare(call, gas=gas or int(call.get("gas") or GAS_IF_UNKNOWN))
            tx_hash = self._push(fields, builds)
        return None if tx_hash is None else (tx_hash, fields)

    def replace(self, fields: dict[str, Any], *builds: Built, **changes: Any) -> str | None:  # noqa: ANN401 - fields
        """Send another transaction with the same nonce for higher fees; None if the first one was mined already."""
        with self.chain.undisturbed():
            return self._push(outbid(fields) | changes, builds)

    def _push(self, fields: dict[str, Any], builds: Sequence[Built]) -> str | None:
        try:
            tx_hash = self.wallet.push(fields)
        except NodeError as error:
            self.journal.add("not_sent", sweeps=[built["sweepId"] for built in builds], error=str(error)[:200])
            return None
        self.journal.add("sent", hash=tx_hash, sweeps=[built["sweepId"] for built in builds])
        return tx_hash

    def _record(self, built: Built) -> None:
        authorization, witness = built["feeAuthorization"], built["permit2"]["message"]["witness"]
        self.journal.add(
            "built",
            **self._facts(),
            sweep=built["sweepId"],
            identity=authorization["nonce"] if authorization else witness["sweepRef"],
            contract=built["contractAddress"],
            wallet=self.wallet.address,
            output=built["estimatedOutput"]["token"],
            share_bps=built["feeSummary"]["partnerShareBps"],
            fee_bps=built["feeSummary"]["totalFeeBps"],
            deadline=int(built["permit2"]["message"]["deadline"]),
        )

    def _facts(self) -> dict[str, Any]:
        return {"story": self.number, "mode": self.mode, "partner": self.partner}

    def _address(self, symbol: str) -> str:
        return NATIVE_COIN if symbol == "ETH" else str(self.tokens[symbol]["address"])

    def _units(self, symbol: str) -> int:
        return int(self.random.randint(FEWEST_WHOLE, MOST_WHOLE) * 10 ** self.tokens[symbol]["decimals"])
