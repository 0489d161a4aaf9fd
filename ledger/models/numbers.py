"""The one order of the ledger: a number for each entry, given once the entry is committed.

Listings, months and balances of the past go by these numbers. The time of an entry does not do: it is earlier than the
commit, so an entry of a slow transaction would appear behind those that were listed before.
"""

from django.db import models
from django.db.models import Q

from ledger import triggers
from ledger.models.journal import JournalEntry
from partners.models import Partner
from sweepapi.modes import Mode
from sweepapi.postgres.triggers import append_only


class EntryNumber(models.Model):
    """The place of an entry in the ledger, and in the entries of its partner and mode; neither order has gaps."""

    number = models.BigIntegerField(primary_key=True)  # 1, 2, 3, …
    entry = models.OneToOneField(JournalEntry, on_delete=models.PROTECT, related_name="numbered")
    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)
    mode = models.CharField(max_length=4, choices=Mode)  # that its network had then, since the partner's order is kept
    partner_number = models.BigIntegerField()  # 0, 1, 2, …
    numbered_at = models.DateTimeField()  # by the database's clock; never before that of a lower number

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["partner", "mode", "partner_number"], name="entry_number_of_partner"),
            models.CheckConstraint(condition=Q(number__gte=1, partner_number__gte=0), name="entry_number_counts_up"),
            models.CheckConstraint(condition=Q(mode__in=["live", "test"]), name="entry_number_mode_known"),
        ]
        # Finds the first and the last number of a time.
        indexes = [models.Index(fields=["partner", "mode", "numbered_at"], name="entry_number_by_time")]
        triggers = [triggers.number_follows_the_one_before, *append_only()]

    def __str__(self) -> str:
        return f"No. {self.number}"
