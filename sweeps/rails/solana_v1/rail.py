"""The Solana rail, as the rest of the service sees it."""

from collections.abc import Sequence

from sweepapi.errors import SweepNotCancellable
from sweepapi.networks import SOLANA_BUILD_MODE, Networks
from sweeps.models import SweepTransaction
from sweeps.protocol.rail import Mismatch
from sweeps.rails.solana_v1.build import issuing, planning
from sweeps.rails.solana_v1.discover import discovery
from sweeps.rails.solana_v1.follow import deciding, followed, following
from sweeps.rails.solana_v1.presenting import SolanaPresentation
from sweeps.rails.solana_v1.reconcile import reconciling
from sweeps.store.stored import StoredSweep


class SolanaV1:
    """Sweeps through transactions that the user signs, composed of a swap API's instructions."""

    name = "solana_v1"
    mode = SOLANA_BUILD_MODE
    present = SolanaPresentation()

    plan = staticmethod(planning.plan_v1)
    issue = staticmethod(issuing.issue)
    store = staticmethod(issuing.store)
    discover = staticmethod(discovery.discover)
    follow = staticmethod(followed.follow)
    read = staticmethod(following.read)
    find_executed = staticmethod(reconciling.find_executed)
    decide = staticmethod(deciding.decide)
    next_check = staticmethod(following.next_check)
    clock = staticmethod(following.clock)

    def explain_revert(
        self,
        _registry: Networks,
        _tx: SweepTransaction,
        *,
        timeout_seconds: float,  # noqa: ARG002
    ) -> Sequence[Mismatch]:
        """Return nothing: the check that finds a failed transaction explains it."""
        return ()

    def withdraw(self, _stored: StoredSweep) -> None:
        """Refuse: nothing on chain can invalidate a blockhash early."""
        raise SweepNotCancellable("A sweep on Solana can't be cancelled; its transactions expire with their blockhash.")

    def send_withdrawals(self, _registry: Networks) -> None:
        """There is nothing to send."""
