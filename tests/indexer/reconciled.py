"""What tests of following and reconciliation look at: a sweep, how far a contract was read, and what was logged."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from indexer import following, reconciliation
from ledger.entries.reading import postings_of
from sweeps.models import Sweep
from sweeps.protocol.rail import Verdict
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.store.stored import StoredSweep
from sweeps.story.apply import apply
from tests.partner_app import PartnerApp

NETWORK = "eip155:31337"


def state(sweep: Sweep) -> tuple[str, bool, list[str]]:
    sweep.refresh_from_db()
    return sweep.status, sweep.is_open, sweep.flags


def cursor(contract: str) -> int:
    return ScannedBlocks.objects.get(network=NETWORK, contract=contract).next_block


def mark(contract: str) -> tuple[int, str | None]:
    """Return the block with which the scan of a contract goes on, and the hash of the one before."""
    return ScannedBlocks.objects.values_list("next_block", "last_hash").get(network=NETWORK, contract=contract)


def behind_final(app: PartnerApp) -> int:
    """Return the block with which a scan goes on that has read all final blocks."""
    return int(app.chain.web3.eth.get_block("finalized")["number"]) + 1


def warnings() -> list[str]:
    """Reconcile, and return what was warned of."""
    with capture_logs() as logs:
        reconciliation.reconcile()
    return [entry["event"] for entry in logs if entry["log_level"] != "info"]


def sweep_of(built: dict[str, Any]) -> Sweep:
    return Sweep.objects.get(id=built["sweepId"])


def kinds_booked(sweep: Sweep) -> list[str]:
    """Return the kinds of the sweep's entries in order."""
    return list({posting.entry_id: posting.entry.kind for posting in postings_of(sweep.id)}.values())


def polled() -> list[str]:
    """Poll, and return what was warned of."""
    with capture_logs() as logs:
        following.follow()
    return [entry["event"] for entry in logs if entry["log_level"] != "info"]


def refuse_to_settle(monkeypatch: pytest.MonkeyPatch, sweep_ids: Collection[UUID]) -> None:
    """Have the settling of these sweeps fail, as long as they are in the collection."""

    def fail_for_these(stored: StoredSweep, verdict: Verdict) -> None:
        if stored.id in sweep_ids:
            raise RuntimeError(str(stored.id))
        apply(stored, verdict)

    monkeypatch.setattr("sweeps.story.settle.apply", fail_for_these)
