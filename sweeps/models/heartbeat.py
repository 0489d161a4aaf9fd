"""When the loop, Celery and beat were last at work, which the web processes can't know otherwise."""

from django.db import models
from django.db.models.functions import Now


class Heartbeat(models.Model):
    """The last sign of life of all processes of this name; ``heartbeats`` writes and reads it."""

    name = models.CharField(max_length=16, primary_key=True)
    at = models.DateTimeField(db_default=Now())  # by the database's clock

    def __str__(self) -> str:
        return self.name
