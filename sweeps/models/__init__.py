"""A sweep and everything known about it, in terms that hold for every rail.

A ``Sweep`` is one build: wallet, tokens, recipients, fee terms and deadline. Each operation that it can cause on chain
is an ``Execution``, identified by (network, venue, execution id); a transaction hash is only a hint where to search.
Each quote given to the partner is an ``Offer``, and each change since then a ``SweepEvent``. Facts that only one rail
knows are in that rail's own tables.
"""

from sweeps.models.build_stop import BuildStop
from sweeps.models.chain_head import ChainHead
from sweeps.models.comparison import Comparison
from sweeps.models.event import Cause, EventKind, SweepEvent
from sweeps.models.execution import Execution, SkippedToken, SweepTransaction, TokenOutcome
from sweeps.models.handling import Handling
from sweeps.models.heartbeat import Heartbeat
from sweeps.models.hourly_sum import HourlySum
from sweeps.models.offer import Offer
from sweeps.models.process import RunningProcess
from sweeps.models.sandbox import MovedClock, SandboxChain, ScriptedTransaction
from sweeps.models.sweep import NO_PROVIDER_ANSWERED, Flag, Sweep, SweepStatus, SweepToken
from sweeps.models.watched_block import WatchedBlock

__all__ = [
    "NO_PROVIDER_ANSWERED",
    "BuildStop",
    "Cause",
    "ChainHead",
    "Comparison",
    "EventKind",
    "Execution",
    "Flag",
    "Handling",
    "Heartbeat",
    "HourlySum",
    "MovedClock",
    "Offer",
    "RunningProcess",
    "SandboxChain",
    "ScriptedTransaction",
    "SkippedToken",
    "Sweep",
    "SweepEvent",
    "SweepStatus",
    "SweepToken",
    "SweepTransaction",
    "TokenOutcome",
    "WatchedBlock",
]
