"""The books compared with the chain: the kinds of differences, and the result that the metrics read."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

import structlog
from django.db.models.functions import Now

from sweeps.models import Comparison

log = structlog.get_logger(__name__)

COMPARED_EVERY = timedelta(days=1)
MAX_LOGGED = 20  # `manage.py reconcile` shows all


class BooksProblem(StrEnum):
    """How the books and the chain can differ."""

    EVENT_WITHOUT_SWEEP = "event_without_sweep"
    EVENT_NOT_RECORDED = "event_not_recorded"  # the sweep is known, and not as what the event says
    EVENT_MISSING = "event_missing"  # recorded as executed or cancelled, and the chain does not show it
    OTHER_TRANSACTION = "other_transaction"  # recorded with another transaction than that of the event
    OTHER_AMOUNTS = "other_amounts"  # or another token, or another partner
    ENTRY_MISSING = "entry_missing"
    ENTRY_DOUBLED = "entry_doubled"
    ENTRY_DIFFERS = "entry_differs"
    ENTRY_WITHOUT_EXECUTION = "entry_without_execution"


Found = tuple[BooksProblem, str]  # a difference, and what it is in a sentence


@dataclass(frozen=True)
class Blocks:
    """A range of blocks, or of slots on Solana; the last one is included."""

    first: int
    last: int


@dataclass(frozen=True, kw_only=True)
class BooksDifference:
    """One difference, with what is known of its place; None where that does not apply."""

    problem: BooksProblem
    message: str  # for operators
    venue: str | None = None
    block_number: int | None = None
    tx_hash: str | None = None
    execution_id: str | None = None  # as the chain names it
    sweep_id: UUID | None = None

    def as_json(self) -> dict[str, object]:
        return {**asdict(self), "sweep_id": None if self.sweep_id is None else str(self.sweep_id)}


@dataclass(frozen=True)
class Report:
    """What a comparison of a network found."""

    network: str
    blocks: Blocks
    events: int  # that were read
    differences: Sequence[BooksDifference]


@dataclass(frozen=True)
class Adoption:
    """What became of an event without a sweep."""

    tx_hash: str
    execution_id: str
    sweep_id: UUID | None  # None if it was not adopted
    refusal: str = ""  # why not


def is_due(network: str) -> bool:
    """Return whether the last comparison of a network that was kept is older than a day."""
    recent = Comparison.objects.filter(network=network, compared_at__gt=Now() - COMPARED_EVERY)
    return not recent.exists()


def compared_up_to(network: str) -> int | None:
    """Return the last block of the last comparison that was kept; None if there was none."""
    last: int | None = Comparison.objects.filter(network=network).values_list("last_block", flat=True).first()
    return last


def keep(report: Report) -> None:
    """Store the result for the metrics, and raise an alert if there are differences."""
    Comparison.objects.update_or_create(
        network=report.network,
        defaults={
            "first_block": report.blocks.first,
            "last_block": report.blocks.last,
            "differences": len(report.differences),
            "compared_at": Now(),
        },
    )
    if report.differences:
        log.error(
            "books_differ",
            network=report.network,
            first_block=report.blocks.first,
            last_block=report.blocks.last,
            count=len(report.differences),
            first_ones=[difference.as_json() for difference in report.differences[:MAX_LOGGED]],
        )
