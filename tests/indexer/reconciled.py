"""What tests of the reconciliation look at: a sweep, how far a contract was read, and what was logged."""

from structlog.testing import capture_logs

from indexer import tasks
from sweeps.models import Sweep
from sweeps.rails.evm.models import ScannedBlocks
from tests.partner_app import PartnerApp

NETWORK = "eip155:31337"


def state(sweep: Sweep) -> tuple[str, bool, list[str]]:
    sweep.refresh_from_db()
    return sweep.status, sweep.is_open, sweep.flags


def cursor(contract: str) -> int:
    return ScannedBlocks.objects.get(network=NETWORK, contract=contract).next_block


def behind_final(app: PartnerApp) -> int:
    """Return the block with which a scan goes on that has read all final blocks."""
    return int(app.chain.web3.eth.get_block("finalized")["number"]) + 1


def warnings() -> list[str]:
    """Reconcile, and return what was warned of."""
    with capture_logs() as logs:
        tasks.reconcile()
    return [entry["event"] for entry in logs if entry["log_level"] != "info"]
