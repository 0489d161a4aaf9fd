"""What partners prove their entries by: hashes of their trees, and the checkpoints that were signed.

All of it follows from the entries. It is stored so that a proof does not read them all, and so that a month is signed
once only.
"""

from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from partners.models import Partner
from sweepapi.modes import Mode
from sweepapi.postgres.triggers import append_only


class SubtreeHash(models.Model):
    """The hash of a complete subtree of ``2^level`` entries of a partner and mode."""

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)
    mode = models.CharField(max_length=4, choices=Mode)
    level = models.PositiveSmallIntegerField()
    index = models.BigIntegerField()  # from the left, from zero
    hash = models.BinaryField()  # 32 bytes

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["partner", "mode", "level", "index"], name="subtree_hash_once"),
            models.CheckConstraint(condition=Q(mode__in=["live", "test"]), name="subtree_hash_mode_known"),
        ]

    def __str__(self) -> str:
        return f"subtree {self.index} of level {self.level}"


class StatementEra(models.Model):
    """When trees began that may differ from those before: after a restore, which may lose entries that were signed."""

    begun_at = models.DateTimeField(db_default=Now(), editable=False)
    reason = models.TextField()

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [models.CheckConstraint(condition=~Q(reason=""), name="statement_era_has_a_reason")]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its name in the origin of a tree; a number could be given twice, because a restore may lose this row."""
        return f"{self.begun_at:%Y%m%dT%H%M%S%fZ}"


class Checkpoint(models.Model):
    """The signed state of a tree at the end of a month, as it was signed; stored once."""

    partner = models.ForeignKey(Partner, on_delete=models.PROTECT, related_name="+", db_index=False)
    mode = models.CharField(max_length=4, choices=Mode)
    month = models.CharField(max_length=7)  # such as 2026-11
    size = models.BigIntegerField()  # entries until then
    root = models.BinaryField()  # 32 bytes
    totals = models.JSONField()  # what the month moved on each account, in the fields of the API
    note = models.TextField()  # signed
    issued_at = models.DateTimeField(db_default=Now(), editable=False)

    class Meta:
        triggers: ClassVar = append_only()
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["partner", "mode", "month"], name="checkpoint_once_a_month"),
            models.CheckConstraint(condition=Q(mode__in=["live", "test"], size__gte=0), name="checkpoint_is_sound"),
        ]
        # Finds the last month that was signed, into which no entry is numbered any more.
        indexes: ClassVar = [models.Index(fields=["month"], name="checkpoint_by_month")]

    def __str__(self) -> str:
        return f"{self.month} at {self.size}"

    @property
    def era(self) -> str:
        """The last part of the origin, which is the note's first line."""
        return self.note.partition("\n")[0].rpartition("/")[2]
