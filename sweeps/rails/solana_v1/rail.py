"""The Solana rail, as the rest of the service sees it."""

from sweepapi.errors import SweepNotCancellable
from sweepapi.networks import SOLANA_BUILD_MODE
from sweeps.models import Sweep
from sweeps.rails.solana_v1.presenting import SolanaPresentation


class SolanaV1:
    """Sweeps through transactions that the user signs, composed of a swap API's instructions."""

    name = "solana_v1"
    mode = SOLANA_BUILD_MODE
    present = SolanaPresentation()

    def withdraw(self, _sweep: Sweep) -> None:
        """Refuse: nothing on chain can invalidate a blockhash early."""
        raise SweepNotCancellable(
            "A sweep on Solana can't be cancelled: its transactions expire by themselves, with their blockhash, in minutes."
        )

    def send_withdrawals(self) -> None:
        """There is nothing to send."""
