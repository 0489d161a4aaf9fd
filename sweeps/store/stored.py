"""A sweep with everything that belongs to it, as one statement read it, and what is to be written with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from ledger.entries.posting import SweepFee
from partners.models import Partner
from sweepapi.postgres.sets import Row, instance_of
from sweeps.models import Execution, Offer, SkippedToken, Sweep, SweepToken, SweepTransaction

# The database that the instances say they are from. None has this name, so that to reach for what was not read raises
# ``ConnectionDoesNotExist`` instead of querying, and so does to save an instance.
NOT_READ = "what_the_store_did_not_read"
ModelT = TypeVar("ModelT", bound=models.Model)


class BlockId(NamedTuple):
    """What identifies a block."""

    network: str
    number: int
    hash: str


class FixedColumnError(Exception):
    """A value that the build fixed would have been changed."""


class ChangedRow(NamedTuple):
    """A row that differs from what was read, and in which columns."""

    instance: models.Model
    columns: Sequence[str]


@dataclass(eq=False)
class StoredSweep:
    """One sweep; rules change its instances and add to its lists, and the writer compares them with what was read."""

    sweep: Sweep  # with its partner, and what its rail stores beside it
    now: datetime  # by the database's clock, when it was read, or locked
    offers: list[Offer] = field(default_factory=list)  # the newest last; none if the sweep was adopted
    executions: list[Execution] = field(default_factory=list)  # by position, with what their rail stores beside them
    candidates: list[SweepTransaction] = field(default_factory=list)  # the newest last
    tokens: list[SweepToken] = field(default_factory=list)  # by position
    skipped: list[SkippedToken] = field(default_factory=list)
    # To be written with it.
    events: list[Row] = field(default_factory=list)
    fees: list[SweepFee] = field(default_factory=list)
    final_entries: list[UUID] = field(default_factory=list)
    awaited_block: BlockId | None = None  # which is followed for it from now on
    head_number: int = 0  # that was read with the block
    _as_read: list[tuple[models.Model, dict[str, Any]]] = field(default_factory=list)

    @classmethod
    def of(cls, row: Row, partner: Partner, now: datetime) -> "StoredSweep":
        """Return the sweep of a row that was read, which the caller fills with the rest."""
        sweep = instance_of(Sweep, row, database=NOT_READ)
        sweep.partner = partner
        stored = cls(sweep, now)
        stored._keep(sweep)
        return stored

    @property
    def id(self) -> UUID:
        return self.sweep.id

    @property
    def quoted_gross(self) -> int:
        """What the newest offer promised as the gross output; 0 if the sweep was adopted."""
        return self.offers[-1].expected_gross if self.offers else 0

    def micros(self, amount: int) -> int | None:
        """Return what an amount of the output was worth when it was offered, in millionths of the reference stablecoin.

        None if it had no price, or the sweep was adopted.
        """
        offer = self.offers[-1] if self.offers else None
        if offer is None or offer.expected_micros is None or not offer.expected_gross:
            return None
        return amount * offer.expected_micros // offer.expected_gross

    def make(self, model: type[ModelT], row: Row) -> ModelT:
        """Return the instance of a row that was read, and keep its values to compare it with."""
        instance = instance_of(model, row, database=NOT_READ)
        self._keep(instance)
        return instance

    def _keep(self, instance: models.Model) -> None:
        before = dict(vars(instance))
        before.update((name, list(before[name])) for name in _lists(type(instance)))
        self._as_read.append((instance, before))

    def candidates_of(self, execution: Execution) -> list[SweepTransaction]:
        return [tx for tx in self.candidates if tx.execution_id == execution.id]

    def skipped_by(self, execution: Execution) -> list[SkippedToken]:
        """Return the tokens that an execution left out, unless that was reversed."""
        booked = (execution.id, execution.booking_epoch)
        return [one for one in self.skipped if (one.execution_id, one.booking_epoch) == booked]

    def hold(self, *, now: datetime, lease_until: datetime | None) -> None:
        """Note when it was locked, as it was read; a renewal of its lease does not count as a change."""
        self.now, self.sweep.lease_until = now, lease_until
        _, before = self._as_read[0]  # of the sweep, which is the first to be read
        before["lease_until"] = lease_until

    def await_finality(self, block: BlockId, *, head_number: int) -> None:
        """Have the block of its execution checked instead of the sweep, from the next check of blocks on."""
        self.sweep.next_check_at, self.awaited_block, self.head_number = None, block, head_number

    def new(self) -> Iterator[models.Model]:
        """Yield the instances that are not stored yet."""
        every: tuple[Sequence[models.Model], ...] = (
            [self.sweep],
            self.executions,
            self.tokens,
            self.candidates,
            self.skipped,
        )
        return (one for instances in every for one in instances if one._state.adding)  # noqa: SLF001 - Django documents it

    def changes(self) -> Iterator[ChangedRow]:
        """Yield what differs from what was read; raises ``FixedColumnError`` for what the build fixed.

        If anything of it is written, so is the sweep's row, whose version rises with that.
        """
        changes = [ChangedRow(one, columns) for one, before in self._as_read if (columns := _changed(one, before))]
        if not self.sweep._state.adding and (changes or any(self.new())):  # noqa: SLF001 - Django documents it
            of_sweep = [name for one, columns in changes if one is self.sweep for name in columns]
            yield ChangedRow(self.sweep, ["version", *of_sweep])
        yield from (change for change in changes if change.instance is not self.sweep)


def _changed(instance: models.Model, before: Mapping[str, Any]) -> list[str]:
    now = vars(instance)
    if now == before:
        return []
    model = type(instance)
    changed = [name for name in columns_of(model) if now[name] != before[name]]
    fixed = getattr(model, "FIXED", now.keys())  # of tables without it, nothing ever changes
    if not_allowed := [name for name in changed if name in fixed]:
        raise FixedColumnError(f"{model.__name__} {instance.pk}: {', '.join(not_allowed)}")
    return changed


@cache
def columns_of(model: type[models.Model]) -> Sequence[str]:
    """Return the columns of a table, apart from what the database generates."""
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django documents it
    return [field.attname for field in fields if not field.generated]


@cache
def _lists(model: type[models.Model]) -> Sequence[str]:
    fields = model._meta.concrete_fields  # noqa: SLF001 - Django documents it
    return [field.attname for field in fields if isinstance(field, ArrayField)]
