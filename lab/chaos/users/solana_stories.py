"""The stories of sweeps on Solana, where nothing is reported: sent, sent in part, dropped by a fork, or never sent."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from dev.chain.rpc import Rpc
from dev.processes.errors import NodeError
from dev.wallets import SolanaWallet
from lab.chaos.journal import Journal
from lab.chaos.partner import PartnerApi
from lab.chaos.users.sweeper import BUILD_ATTEMPTS, RETRY_ACTIONS, SLIPPAGE_BPS, Built, Steps

AMOUNTS = {"USDT": 50_000, "JUP": 100_000, "PYUSD": 50_000, "BONK": 100_000_000}
OUTPUT = "USDC"
SOON, LATER = 2, 15


@dataclass
class SolanaUser:
    """One user of one partner."""

    number: int
    partner: int
    api: PartnerApi
    wallet: SolanaWallet
    rpc: Rpc
    mints: dict[str, dict[str, Any]]
    random: Random
    journal: Journal

    def build(self) -> Steps:
        """Build until it succeeds; None if it never does."""
        inputs = self.random.sample(list(AMOUNTS), self.random.randint(1, len(AMOUNTS)))
        body = {
            "wallet": self.wallet.address,
            "tokens": [{"mint": self._mint(symbol), "amount": str(AMOUNTS[symbol])} for symbol in inputs],
            "outputMint": self._mint(OUTPUT),
            "slippageBps": SLIPPAGE_BPS,
            "closeEmptyAccounts": False,
        }
        facts = {"story": self.number, "mode": "v1", "partner": self.partner}
        for _ in range(BUILD_ATTEMPTS):
            reply = self.api.post("build", "/v1/sweep/build", body, **facts)
            if reply.http == 201:
                self._record(reply.data, facts)
                return reply.data
            yield RETRY_ACTIONS
        self.journal.add("gave_up", **facts)
        return None

    def send(self, built: Built, transaction: dict[str, Any]) -> str | None:
        """Sign and send one of the transactions; None if the node refuses it."""
        try:
            signature = self.wallet.send(transaction["transaction"])
        except NodeError as error:
            self.journal.add("not_sent", sweeps=[built["sweepId"]], error=str(error)[:200])
            return None
        self.journal.add("sent", hash=signature, sweeps=[built["sweepId"]])
        return signature

    def _record(self, built: Built, facts: dict[str, Any]) -> None:
        self.journal.add(
            "built",
            **facts,
            sweep=built["sweepId"],
            references=[one["referenceKey"] for one in built["transactions"]],
            wallet=self.wallet.address,
            output=built["estimatedOutput"]["token"],
            share_bps=built["feeSummary"]["partnerShareBps"],
            fee_bps=built["feeSummary"]["totalFeeBps"],
            deadline=0,
        )

    def _mint(self, symbol: str) -> str:
        return str(self.mints[symbol]["mint"])


Story = Callable[[SolanaUser], Steps]


def sent(user: SolanaUser) -> Steps:
    """Every transaction is sent."""
    built = yield from user.build()
    for transaction in built["transactions"] if built else ():
        yield user.random.choice((0, SOON))
        user.send(built, transaction)


def sent_in_part(user: SolanaUser) -> Steps:
    """Only the first transaction is sent."""
    built = yield from user.build()
    if built:
        yield SOON
        user.send(built, built["transactions"][0])


def dropped(user: SolanaUser) -> Steps:
    """The fork with the transaction is abandoned; in half of the stories it lands again."""
    built = yield from user.build()
    signature = user.send(built, built["transactions"][0]) if built else None
    if not built or not signature:
        return
    yield SOON
    try:
        [state] = user.rpc.call("getSignatureStatuses", [signature])["value"]
        if state is None or state["confirmationStatus"] == "finalized":
            return
        user.rpc.call("dev_dropTransaction", signature)
    except NodeError as error:
        user.journal.add("not_dropped", hash=signature, error=str(error)[:200])
        return
    user.journal.add("dropped", hash=signature)
    if user.random.random() < 0.5:
        yield SOON
        user.send(built, built["transactions"][0])


def abandoned(user: SolanaUser) -> Steps:
    """Built and never sent."""
    yield from user.build()


WEIGHTS: dict[Story, int] = {sent: 5, sent_in_part: 1, dropped: 2, abandoned: 2}
