"""Stores the events of our contracts that match nothing that we offered, and has operators explain them."""

from collections.abc import Sequence

import structlog
from django.db import transaction
from django.utils import timezone

from sweeps.rails.evm.models import UnmatchedEvent
from sweeps.rails.evm.reconcile.comparing import Unmatched

log = structlog.get_logger(__name__)


def store(network: str, found: Sequence[Unmatched]) -> None:
    """Store those that are new and raise an alert for each; a span that is read again shows the same ones."""
    for one in found:
        mined, emitted = one.mined, one.emitted
        event, is_new = UnmatchedEvent.objects.get_or_create(
            network=network,
            block_hash=mined.block_hash,
            tx_hash=mined.tx_hash,
            contract=mined.log.address,
            log_position=mined.position,
            defaults={
                "name": emitted.name,
                "execution_id": emitted.execution_id,
                "block_number": mined.block_number,
                "facts": emitted.facts,
                "sweep_id": one.sweep_id,
                "reason": one.reason,
            },
        )
        if is_new:
            log.error(
                "unmatched_event",
                network=network,
                contract=event.contract,
                name=event.name,
                execution_id=event.execution_id,
                tx_hash=event.tx_hash,
                reason=event.reason,
            )


def explain(*, event_id: int, explanation: str, explained_by: str) -> bool:
    """Record why an event happened; return False if that was explained before."""
    with transaction.atomic():
        event = UnmatchedEvent.objects.select_for_update().get(id=event_id)
        if event.status == UnmatchedEvent.Status.EXPLAINED:
            return False
        event.status, event.explanation = UnmatchedEvent.Status.EXPLAINED, explanation.strip()
        event.explained_by, event.explained_at = explained_by, timezone.now()
        event.save()
    return True
