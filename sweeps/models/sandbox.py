"""What the sandbox keeps about test chains and its partners' transactions on them; worth as little as those chains."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now

from partners.models import Partner
from sweepapi.fields import NetworkField


class SandboxChain(models.Model):
    """Who may change a chain now, and a replacement of its blocks that was begun."""

    network = NetworkField(primary_key=True)
    lease_token = models.UUIDField(null=True)
    lease_until = models.DateTimeField(null=True)
    unfinished = models.JSONField(null=True)

    def __str__(self) -> str:
        return self.network


class ScriptedTransaction(models.Model):
    """A partner's transaction whose outcome is not complete."""

    network = NetworkField()
    partner = models.ForeignKey(Partner, on_delete=models.CASCADE, related_name="+", db_index=False)
    tx_hash = models.CharField(max_length=66)
    raw = models.BinaryField()  # as it was signed
    outcome = models.CharField(max_length=32)  # a ForcedOutcome
    sent_at = models.DateTimeField(db_default=Now())
    is_held = models.BooleanField()  # kept back, for the partner's next advance to send
    moves = models.PositiveSmallIntegerField(default=0)  # how often it was moved into the newest block

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["partner", "network", "tx_hash"], name="scripted_once_a_partner")
        ]

    def __str__(self) -> str:
        return self.tx_hash

    @property
    def signed(self) -> str:
        """The transaction as JSON-RPC has it."""
        return f"0x{bytes(self.raw).hex()}"


class MovedClock(models.Model):
    """By how much a partner moved the clock of a chain on the last day on which it did."""

    network = NetworkField()
    partner = models.ForeignKey(Partner, on_delete=models.CASCADE, related_name="+", db_index=False)
    day = models.DateField()
    seconds = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["partner", "network"], name="moved_clock_once_a_partner")
        ]

    def __str__(self) -> str:
        return f"{self.network} {self.day}"
