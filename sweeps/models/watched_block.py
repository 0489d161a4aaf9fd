"""The blocks in which sweeps were executed, followed until they are final, so that not each sweep is checked."""

from typing import ClassVar

from django.db import models

from sweepapi.fields import NetworkField


class WatchedBlock(models.Model):
    """A block that is not final yet; the completed sweeps whose execution is in it await its finality."""

    network = NetworkField()
    number = models.PositiveBigIntegerField()
    hash = models.CharField(max_length=88)
    head_number = models.PositiveBigIntegerField()  # the newest block at the last check
    is_safe = models.BooleanField(default=False)  # all of its sweeps are known to be
    due_at = models.DateTimeField()  # of the next check; while one is under way, when another may take over

    class Meta:
        indexes: ClassVar = [models.Index(fields=["due_at"], name="watched_block_due")]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["network", "number", "hash"], name="watched_block_once"),
            models.CheckConstraint(name="watched_block_has_a_hash", condition=~models.Q(hash="")),
        ]

    def __str__(self) -> str:
        return f"block {self.number} of {self.network}"
