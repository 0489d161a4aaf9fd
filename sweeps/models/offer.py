"""The offers that partners got: immutable, and several per sweep if a quote is refreshed."""

from typing import ClassVar

from django.db import models

from sweepapi.fields import Uint256Field
from sweepapi.postgres.triggers import append_only
from sweeps.models.sweep import Sweep


class Offer(models.Model):
    """One quote that was signed and returned to the partner.

    The sweep's terms, tokens, minimum and deadline are fixed by its first offer. A later one changes routes, calls and
    expectations, which are in the rail's tables.
    """

    sweep = models.ForeignKey(Sweep, on_delete=models.PROTECT, related_name="offers", db_index=False)
    sequence = models.PositiveSmallIntegerField(default=1)
    expected_gross = Uint256Field()
    # The same at the prices of the build, in millionths of the network's reference stablecoin; null if it had no price.
    expected_micros = Uint256Field(null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["sweep", "sequence"]
        triggers: ClassVar = append_only()
        constraints: ClassVar = [models.UniqueConstraint(fields=["sweep", "sequence"], name="offer_sequence")]

    def __str__(self) -> str:
        return f"offer {self.sequence} of {self.sweep_id}"
