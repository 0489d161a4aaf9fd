"""A sweep and everything known about it, in terms that hold for every rail.

A ``Sweep`` is one build: who gets what, under which fee terms, until when. What may happen on chain for it is an
``Execution``, identified by (network, venue, execution id); a transaction hash is only a hint where to look. What was
offered to the partner is an ``Offer``; what became of the sweep is a sequence of ``SweepEvent`` rows. Facts that only
one rail knows are in that rail's own tables.
"""

from sweeps.models.event import Cause, EventKind, SweepEvent
from sweeps.models.execution import Execution, SweepTransaction
from sweeps.models.offer import Offer, OfferAnswer
from sweeps.models.sweep import NO_PROVIDER_ANSWERED, Flag, Sweep, SweepStatus, SweepToken

__all__ = [
    "NO_PROVIDER_ANSWERED",
    "Cause",
    "EventKind",
    "Execution",
    "Flag",
    "Offer",
    "OfferAnswer",
    "Sweep",
    "SweepEvent",
    "SweepStatus",
    "SweepToken",
    "SweepTransaction",
]
