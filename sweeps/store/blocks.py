"""The watched blocks: leased for a check, locked after their sweeps, and deleted once no sweep awaits them."""

from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import connection
from django.db.models import F
from django.db.models.functions import Greatest, Now

from sweeps.models import SweepTransaction, WatchedBlock
from sweeps.store.statements import statement

_LOCK = "SELECT FROM sweeps_watchedblock WHERE id = ANY(%(blocks)s) ORDER BY network, number, hash FOR UPDATE"


def claim(networks: Collection[str], *, rows: int, lease: timedelta) -> list[WatchedBlock]:
    """Take the blocks of these networks that are due for the longest time, by the database's clock."""
    parameters: dict[str, Any] = {"lease": lease, "networks": list(networks), "blocks": rows}
    return list(WatchedBlock.objects.raw(statement("claim_blocks"), parameters))


def renew(block_ids: Collection[int], *, held_until: Collection[datetime], lease: timedelta) -> set[datetime]:
    """Extend the lease of those of these blocks that are due at one of these times; return until when."""
    parameters: dict[str, Any] = {"lease": lease, "blocks": list(block_ids), "held_until": list(held_until)}
    with connection.cursor() as cursor:
        cursor.execute(statement("renew_blocks"), parameters)
        return {due_at for (due_at,) in cursor.fetchall()}


def put_off(block_ids: Collection[int], delay: timedelta) -> None:
    """Leave these blocks alone for so long."""
    WatchedBlock.objects.filter(id__in=block_ids).update(due_at=Now() + delay)


def note_head(block_ids: Collection[int], head_number: int, *, recheck: timedelta) -> None:
    """Record which head a check of these blocks read, and when to check them again."""
    found = WatchedBlock.objects.filter(id__in=block_ids)
    found.update(head_number=Greatest(F("head_number"), head_number), due_at=Now() + recheck)


def hashes(block_ids: Collection[int]) -> Mapping[int, str]:
    """Return the hashes of those of these blocks that exist."""
    return dict(WatchedBlock.objects.filter(id__in=block_ids).values_list("id", "hash"))


def lock(block_ids: Collection[int]) -> None:
    """Lock these blocks, so that no sweep begins to await them until the transaction ends."""
    with connection.cursor() as cursor:
        cursor.execute(_LOCK, {"blocks": list(block_ids)})


def with_accepted(block_ids: Collection[int], finality: SweepTransaction.Finality) -> set[int]:
    """Return those of these blocks that sweeps await whose accepted transaction is recorded as that deep."""
    accepted = SweepTransaction.objects.filter(
        sweep__watched_block__in=block_ids, status=SweepTransaction.Status.ACCEPTED, finality=finality
    )
    return set(accepted.order_by().values_list("sweep__watched_block", flat=True).distinct())


def note_safe(block_ids: Collection[int]) -> None:
    """Record that these blocks are safe, and that all of their sweeps are known to be."""
    WatchedBlock.objects.filter(id__in=block_ids).update(is_safe=True)


def delete_unused(block_ids: Collection[int]) -> None:
    """Delete those of these blocks that no sweep awaits."""
    with connection.cursor() as cursor:
        cursor.execute(statement("delete_unused_blocks"), {"blocks": list(block_ids)})
