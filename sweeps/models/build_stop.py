"""Stops of builds: one person's brake, which acts at the next request, and counts until it is lifted."""

from collections.abc import Callable

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from partners.models import Partner
from sweepapi.fields import NetworkField


class BuildStop(models.Model):
    """No new offers on a network, for a partner, or at all; offers that were made before can still be executed."""

    network = NetworkField(null=True, blank=True)  # null: on all
    partner = models.ForeignKey(Partner, models.PROTECT, null=True, blank=True, related_name="+")  # null: for all
    reason = models.CharField(max_length=500)
    stopped_by = models.CharField(max_length=150)
    stopped_at = models.DateTimeField(db_default=Now())
    lifted_by = models.CharField(max_length=150, blank=True)
    lifted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = [F("lifted_at").desc(nulls_first=True), "-stopped_at"]
        default_permissions = ["view", "add", "change"]
        constraints = [
            models.UniqueConstraint(
                fields=["network", "partner"],
                condition=Q(lifted_at=None),
                nulls_distinct=False,
                name="one_stop_at_a_time",
            ),
            models.CheckConstraint(
                condition=Q(lifted_at=None, lifted_by="") | (Q(lifted_at__isnull=False) & ~Q(lifted_by="")),
                name="a_stop_is_lifted_by_someone",
            ),
        ]

    def __str__(self) -> str:
        return f"builds {self.scope(str)}"

    def clean(self) -> None:
        """Raise ``ValidationError`` for a second stop of the same builds, which forms do not see by the constraint."""
        same = BuildStop.objects.filter(network=self.network, partner=self.partner, lifted_at=None)
        if self.pk is None and same.exists():
            raise ValidationError("These builds are stopped already.")

    def lift(self, *, lifted_by: str) -> bool:
        """Let these builds go on; returns whether they were stopped until now."""
        return BuildStop.objects.filter(pk=self.pk, lifted_at=None).update(lifted_at=Now(), lifted_by=lifted_by) > 0

    def scope(self, name_of: Callable[[str], str]) -> str:
        """Say which builds it stops; ``name_of`` names a network."""
        where = f"on {name_of(self.network)}" if self.network else "on all networks"
        return f"{where}{f' for {self.partner}' if self.partner else ''}"
