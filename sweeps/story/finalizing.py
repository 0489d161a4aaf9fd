"""Completes a sweep's transaction with what the user's wallet signed; nothing is stored."""

from typing import Any

from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.rails.registry import EVM_RAILS
from sweeps.story.decided import refuse_unexecutable


def finalize_sweep(registry: Networks, sweep: Sweep, signed: Any) -> Any:  # noqa: ANN401 - the rails' own types
    """Return the transaction to send; raises the error of a sweep that can't be executed, and those of ``finalize``."""
    refuse_unexecutable(sweep)
    return EVM_RAILS[sweep.rail].finalize(registry, sweep, signed)
