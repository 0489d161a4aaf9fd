"""Presents V4 sweeps: to partners in the shapes that EVM rails share, to operators with V4's own facts."""

from collections.abc import Iterable, Iterator

from sweeps.models import Sweep
from sweeps.rails.evm.admin_facts import leg_facts
from sweeps.rails.evm.base import EvmPresentation
from sweeps.rails.evm_v4.evidence import evidence


class V4Presentation(EvmPresentation):
    """The shapes of the V4 rail."""

    evidence = staticmethod(evidence)

    def obstacles(self, _sweep: Sweep) -> Iterable[str]:
        """Return nothing: V4 sweeps can't be cancelled on chain."""
        return ()

    def admin_facts(self, sweep: Sweep) -> Iterator[tuple[str, str]]:
        """Yield what the user signs, the routes and the reference."""
        yield from leg_facts(sweep)
        yield "sweepRef", sweep.executions.get().execution_id
