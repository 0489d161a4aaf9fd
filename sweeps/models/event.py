"""The history of a sweep: every status change and every other notable event, in sequence."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from sweepapi.fields import TransactionHashField
from sweepapi.postgres.triggers import append_only
from sweeps.models.sweep import Sweep, SweepStatus


class EventKind(models.TextChoices):
    """What happened."""

    STATUS = "status"  # the only kind with a status before and after, and a cause
    REPORTED = "transaction_reported"
    DISPLACED = "transaction_displaced"
    DISCOVERED = "transaction_discovered"
    ACCEPTED = "transaction_accepted"
    SKIPPED = "token_skipped"
    REVERTED = "transaction_reverted"
    REJECTED = "transaction_rejected"
    REORGANISED = "transaction_reorganised"
    FINALITY = "finality_reached"
    FLAG_RAISED = "flag_raised"
    FLAG_CLEARED = "flag_cleared"
    POSTED = "entry_posted"
    REVERSED = "entry_reversed"
    CANCELLATION_REQUESTED = "cancellation_requested"
    CANCELLED = "cancelled_on_chain"
    CLOSED = "closed"
    REOPENED = "reopened"


class Cause(models.TextChoices):
    """Why the status changed."""

    BUILT = "built"
    REPORTED = "reported"  # a new hash for a sweep that had failed
    EXECUTED = "executed"
    REVERTED = "reverted"
    RAN_OUT = "ran_out"
    TAKEN = "taken"
    VOIDED = "voided"
    CANCELLED = "cancelled"
    REORGANISED = "reorganised"
    ADOPTED = "adopted"  # the first event of a sweep whose build was lost


class SweepEvent(models.Model):
    """One event, written in the same database transaction as the change that it records."""

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="events", db_index=False)
    sequence = models.PositiveIntegerField()
    kind = models.CharField(max_length=32, choices=EventKind)
    from_status = models.CharField(max_length=16, blank=True)  # blank unless of kind status; blank for the first
    to_status = models.CharField(max_length=16, choices=SweepStatus, blank=True)  # blank unless of kind status
    cause = models.CharField(max_length=16, choices=Cause, blank=True)  # as above
    at = models.DateTimeField(auto_now_add=True)
    tx_hash = TransactionHashField(null=True, blank=True)  # null where no transaction is concerned
    facts = models.JSONField(default=dict)  # what the sentence about it needs

    class Meta:
        ordering: ClassVar = ["sweep", "sequence"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["sweep", "sequence"], name="event_sequence"),
            models.CheckConstraint(
                name="event_of_status_has_a_cause",
                condition=(Q(kind=EventKind.STATUS) & ~Q(to_status="") & ~Q(cause=""))
                | Q(~Q(kind=EventKind.STATUS), from_status="", to_status="", cause=""),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} ({self.sequence})"

    @property
    def type(self) -> str:
        """The name under which partners know it."""
        return f"sweep_{self.to_status}" if self.kind == EventKind.STATUS else self.kind
