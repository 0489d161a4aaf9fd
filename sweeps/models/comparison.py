"""When the books were last compared with the events on chain, and how many differences were found."""

from django.db import models
from django.db.models.functions import Now

from sweepapi.fields import NetworkField


class Comparison(models.Model):
    """The last comparison of a network that beat started; ``books`` writes and reads it."""

    network = NetworkField(primary_key=True)
    first_block = models.PositiveBigIntegerField()
    last_block = models.PositiveBigIntegerField()
    differences = models.PositiveIntegerField()
    compared_at = models.DateTimeField(db_default=Now())  # by the database's clock

    def __str__(self) -> str:
        return f"{self.network}: {self.differences} differences"
