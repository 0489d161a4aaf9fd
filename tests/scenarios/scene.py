"""A partner's sweeps on the local chain, the worker that follows them, and blocks that come and go."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from eth_account.signers.local import LocalAccount

from indexer import blocks, checks
from ledger.entries.reading import postings_of
from sweeps.models import Sweep, SweepTransaction, WatchedBlock
from tests.local_chain import GAS, signed_data
from tests.partner_app import PartnerApp

GWEI = 10**9


@dataclass(frozen=True)
class Scene:
    """The partner's application and the chain that its users send to."""

    app: PartnerApp

    def pooled(self, built: dict[str, Any], *, nonce: int, fee_gwei: int, user: LocalAccount | None = None) -> str:
        """Send a signed sweep under an account nonce while mining is paused; returns its hash."""
        wallet = user or self.app.user
        transaction = built["transaction"]
        return self.pool(wallet, transaction["to"], signed_data(wallet, built), nonce=nonce, fee_gwei=fee_gwei)

    def pool(self, wallet: LocalAccount, to: str, data: str, *, nonce: int, fee_gwei: int) -> str:
        """Send a transaction that takes the place of one with the same nonce and a lower fee; returns its hash."""
        transaction = {
            "to": to,
            "data": data,
            "value": 0,
            "chainId": self.app.chain.world["chainId"],
            "nonce": nonce,
            "gas": GAS,
            "maxFeePerGas": fee_gwei * GWEI,
            "maxPriorityFeePerGas": fee_gwei * GWEI,
        }
        signed = wallet.sign_transaction(transaction)
        return self.app.chain.web3.eth.send_raw_transaction(signed.raw_transaction).to_0x_hex()

    def next_nonce(self, wallet: LocalAccount | None = None) -> int:
        """Return the account nonce of a wallet's next transaction."""
        return self.app.chain.web3.eth.get_transaction_count((wallet or self.app.user).address)

    def check(self) -> None:
        """Let the worker check every block that it follows, and at every open sweep that does not await one."""
        WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=1))
        blocks.check_due()
        active = Sweep.objects.filter(is_open=True, next_check_at__isnull=False)
        active.update(next_check_at=timezone.now() - timedelta(minutes=1))
        checks.check_due()


def stored(built: dict[str, Any]) -> Sweep:
    return Sweep.objects.get(id=built["sweepId"])


def status_of(built: dict[str, Any]) -> tuple[str, bool]:
    """Return the sweep's status, and whether it is open."""
    sweep = stored(built)
    return sweep.status, sweep.is_open


def candidates_of(built: dict[str, Any]) -> dict[str, str]:
    """Return the status of each of the sweep's transactions, by hash."""
    return dict(SweepTransaction.objects.filter(sweep_id=built["sweepId"]).values_list("tx_hash", "status"))


def booked(built: dict[str, Any]) -> list[tuple[str, int]]:
    """Return the kind of each of the sweep's entries and the fee that it books, in their order."""
    postings = postings_of(UUID(built["sweepId"]))
    return [(posting.entry.kind, posting.amount) for posting in postings if posting.account.name == "fees_charged"]


def total_booked(built: dict[str, Any]) -> int:
    """Return the fee that is booked once all reversals are taken off."""
    return sum(amount for _, amount in booked(built))
