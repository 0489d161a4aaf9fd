"""What decides how much can be paid out, and the facts of what was."""

from django.db import models
from django.db.models import Q
from django.utils import timezone

from ledger import triggers
from ledger.models.journal import JournalEntry
from sweepapi.fields import AccountAddressField
from sweepapi.postgres.triggers import append_only


class Finality(models.Model):
    """The execution behind a fee's entry is final on chain; only what is final can be paid out."""

    entry = models.OneToOneField(JournalEntry, on_delete=models.PROTECT, primary_key=True)
    final_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "finalities"
        triggers = [triggers.belongs_to("sweep_fee"), *append_only()]

    def __str__(self) -> str:
        return f"{self.entry_id} was final at {self.final_at:%Y-%m-%d %H:%M:%S}"


class Payout(models.Model):
    """Where a payout went, and where it was found on chain."""

    entry = models.OneToOneField(JournalEntry, on_delete=models.PROTECT, primary_key=True)
    recipient = AccountAddressField()  # a wallet of the partner, which may have been replaced since it was paid
    sender = AccountAddressField(null=True)  # null: not checked, because the network has no provider
    block_number = models.PositiveBigIntegerField(null=True)  # null with the sender

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(sender__isnull=True, block_number__isnull=True)
                | Q(sender__isnull=False, block_number__isnull=False),
                name="payout_is_checked_or_not",
            )
        ]
        triggers = [triggers.belongs_to("payout"), *append_only()]

    def __str__(self) -> str:
        return f"Payout to {self.recipient}"
