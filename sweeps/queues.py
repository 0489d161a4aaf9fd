"""What of the sweeps waits for operators: one definition for the console's home and the filter of its list."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from sweeps.models import Handling, SweepStatus, SweepTransaction
from sweeps.models.sweep import FLAGS_TO_REVIEW

STUCK_AFTER = timedelta(minutes=10)


@dataclass(frozen=True)
class Queue:
    """Sweeps that have a condition in common."""

    name: str
    title: str
    condition: Callable[[], Q]
    is_bad: bool  # whether one is too many


def _sent(**facts: object) -> Exists:
    return Exists(SweepTransaction.objects.filter(sweep=OuterRef("pk"), **facts))


def _stuck() -> Q:
    return _pending() & Q(_sent(status=SweepTransaction.Status.SUBMITTED, submitted_at__lt=Now() - STUCK_AFTER))


def _never_sent() -> Q:
    return _pending() & ~Q(_sent())


def _pending() -> Q:
    return Q(is_open=True, status=SweepStatus.PENDING)


def _flagged() -> Q:
    """Return the sweeps with a flag that no one has acknowledged; the first part is the condition of their index."""
    seen = Handling.objects.filter(sweep=OuterRef("pk"), flags__contains=OuterRef("flags"))
    return ~Q(flags=[]) & Q(flags__overlap=list(FLAGS_TO_REVIEW)) & ~Q(Exists(seen))


def _failing() -> Q:
    return Q(is_open=True) & ~Q(last_error="")


QUEUE_OF_FLAGGED = Queue("flagged", "Flagged, and not acknowledged", _flagged, is_bad=True)
QUEUES = (
    Queue("stuck", "Sent over ten minutes ago, and not decided", _stuck, is_bad=True),
    QUEUE_OF_FLAGGED,
    Queue("failing", "Open, and the last check failed", _failing, is_bad=True),
    Queue("unsent", "Offered, and nothing was sent yet", _never_sent, is_bad=False),
)
