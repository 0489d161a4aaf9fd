"""What operators did about a sweep that waits for one: who took it, and which of its flags someone has seen."""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from sweepapi.postgres.triggers import append_only
from sweeps.models.sweep import Sweep


class Handling(models.Model):
    """One thing that someone did; a flag is acknowledged once any row of its sweep has it."""

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="handlings")
    operator = models.CharField(max_length=150)
    at = models.DateTimeField(db_default=Now(), editable=False)
    is_taken = models.BooleanField(default=False)  # the operator looks after the sweep from now on
    flags = ArrayField(models.CharField(max_length=32), default=list, blank=True)  # that are acknowledged
    note = models.TextField(blank=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        triggers: ClassVar = append_only()

    def __str__(self) -> str:
        return f"{self.operator}: {self.note or 'taken'}"
