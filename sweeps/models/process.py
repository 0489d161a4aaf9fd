"""What each running process knows, so that any page of the console can show all of them."""

from typing import ClassVar

from django.db import models
from django.db.models.functions import Now


class RunningProcess(models.Model):
    """The last report of a process; ``processes`` writes and reads it."""

    name = models.CharField(max_length=200, primary_key=True)  # its kind, host and number there
    kind = models.CharField(max_length=16)
    release = models.CharField(max_length=32)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField(db_default=Now())  # by the database's clock
    providers = models.JSONField(default=list)  # a ``ProviderState`` each
    notes = models.JSONField(default=dict)  # what else it measures, by the names of ``processes``

    class Meta:
        ordering: ClassVar = ["kind", "name"]

    def __str__(self) -> str:
        return self.name
