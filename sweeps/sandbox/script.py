"""What the sandbox still has to do with the transactions of a partner, and how far the partner moved the clock.

What is kept of a partner is bounded in rows and bytes: after a day without an outcome a transaction is forgotten.
"""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from sweeps.models import MovedClock, ScriptedTransaction
from sweeps.sandbox.node import NodeRefusedError
from sweeps.sandbox.outcomes import ForcedOutcome

KEPT = timedelta(days=1)
MAX_SCRIPTED = 100
MAX_SCRIPTED_BYTES = 256 * 1024  # of all of them; a sweep has a few thousand


class Script:
    """The scripted transactions of one partner on one chain; only who changes the chain alone changes them."""

    def __init__(self, network: str, partner_id: UUID) -> None:
        self._of_partner: dict[str, Any] = {"network": network, "partner_id": partner_id}

    def read(self) -> list[ScriptedTransaction]:
        """Return them in the order in which they were sent."""
        fresh = ScriptedTransaction.objects.filter(**self._of_partner, sent_at__gt=timezone.now() - KEPT)
        return list(fresh.order_by("sent_at", "id"))

    def require_room(self, raw: str) -> None:
        """Raise ``NodeRefusedError`` if this transaction is more than is kept."""
        kept = self.read()
        if len(kept) >= MAX_SCRIPTED or sum(len(one.raw) for one in kept) + len(raw) // 2 - 1 > MAX_SCRIPTED_BYTES:
            message = "Too many of your transactions wait for an advance of the sandbox."
            raise NodeRefusedError({"code": -32000, "message": message})

    def keep(self, tx_hash: str, raw: str, outcome: ForcedOutcome, *, is_held: bool) -> None:
        ScriptedTransaction.objects.filter(sent_at__lte=timezone.now() - KEPT).delete()
        ScriptedTransaction.objects.update_or_create(
            **self._of_partner,
            tx_hash=tx_hash,
            defaults={"raw": bytes.fromhex(raw[2:]), "outcome": outcome, "is_held": is_held},
        )

    def count_seconds(self, seconds: int, day: date, *, at_most: int) -> bool:
        """Count seconds by which the partner moves the clock that day, unless they would be too many."""
        with transaction.atomic():
            clocks = MovedClock.objects.select_for_update()
            moved, _ = clocks.get_or_create(**self._of_partner, defaults={"day": day})
            total = seconds + (moved.seconds if moved.day == day else 0)
            if total <= at_most:
                moved.day, moved.seconds = day, total
                moved.save()
        return total <= at_most
