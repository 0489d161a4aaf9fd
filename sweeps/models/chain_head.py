"""How far each chain was at the last poll of its logs, and what its clock showed: readers have no chain to ask."""

from django.db import models
from django.db.models.functions import Now

from sweepapi.fields import NetworkField


class ChainHead(models.Model):
    """The newest blocks of a chain, as the last poll of its logs showed them; the next one begins above the final."""

    network = NetworkField(unique=True)
    number = models.PositiveBigIntegerField()
    safe_number = models.PositiveBigIntegerField(null=True, blank=True)  # null where the chain has no safe block yet
    final_number = models.PositiveBigIntegerField(null=True, blank=True)  # as above
    timestamp = models.PositiveBigIntegerField()  # of the newest one, in seconds since 1970
    seen_at = models.DateTimeField(db_default=Now())  # by the database's clock

    def __str__(self) -> str:
        return f"block {self.number} of {self.network}"
