"""Pairs of sweeps with the same history, and everything that a check may show of them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any
from uuid import UUID

from ledger.entries.reading import postings_of
from ledger.models import Finality
from sweepapi.evm.contracts.batch import SkipReason
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.store.reading import read
from sweeps.story.settle import SweepReading, follow
from tests.factories.sweeps import (
    PermitFactory,
    SweepFactory,
    SweepTokenFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    block_at,
    evm_reading,
    executed_log,
    executed_receipt,
    found_cancellation,
    found_execution,
    receipt_of,
    skipped_log,
    unused_after_deadline,
)

REPORTED = ["0x" + f"{number:02x}" * 32 for number in (1, 2)]
DISCOVERED = "0x" + "dd" * 32
AT_100: dict[str, Any] = {"canonical": block_at(100), "head_number": 140}

Show = Callable[[SweepTransaction, SweepTransaction], EvmReading | None]


def _skipping(tx: SweepTransaction) -> EvmReading:
    return evm_reading(receipt_of(tx, skipped_log(tx.sweep, 1, SkipReason.NOT_FILLED), executed_log(tx.sweep)))


def _found(tx: SweepTransaction) -> EvmReading:
    return evm_reading(state=True, finding=found_execution(executed_receipt(replace_hash(tx, DISCOVERED))))


# What a check may show, by the first and the second reported candidate.
SHOWN: Sequence[Show] = [
    lambda *_: None,
    lambda *_: evm_reading(),
    lambda *_: evm_reading(state=True),
    lambda first, _: evm_reading(executed_receipt(first)),
    lambda _, second: evm_reading(executed_receipt(second)),
    lambda first, _: _skipping(first) if first.sweep.tokens.count() > 1 else evm_reading(),
    lambda first, _: evm_reading(receipt_of(first, succeeded=False)),
    lambda first, second: evm_reading(receipt_of(first), receipt_of(second, succeeded=False)),
    lambda first, _: _found(first),
    lambda first, _: replace(_found(first), is_final=True),
    lambda *_: evm_reading(**AT_100, safe_number=100),
    lambda first, _: evm_reading(executed_receipt(first), **AT_100, safe_number=100, final_number=100),
    lambda *_: evm_reading(head_number=101, canonical=block_at(100, fork=1)),
    lambda first, _: unused_after_deadline(first.sweep),
    lambda *_: evm_reading(state=True, finding=found_cancellation("0x" + "cA" * 20)),
]


@dataclass(frozen=True)
class Twins:
    """One is settled alone, the other one with many."""

    alone: Sweep
    among_others: Sweep


def twins(random: Random) -> Twins:
    factory = random.choice([SweepFactory, V4SweepFactory])
    tokens = random.choice([1, 3])
    return Twins(_sweep(factory, tokens), _sweep(factory, tokens))


def _sweep(factory: type[SweepFactory], tokens: int) -> Sweep:
    sweep = factory.create(permit=None)
    PermitFactory.create(sweep=sweep, floors=[300_000] * tokens, max_skipped=tokens - 1)
    for position in range(1, tokens):
        SweepTokenFactory.create(sweep=sweep, position=position)
    for tx_hash in REPORTED:
        SweepTransactionFactory.create(sweep=sweep, tx_hash=tx_hash)
    return sweep


def replace_hash(tx: SweepTransaction, tx_hash: str) -> SweepTransaction:
    return SweepTransaction(sweep=tx.sweep, execution=tx.execution, tx_hash=tx_hash)


def shown(sweep: Sweep, show: Show) -> EvmReading | None:
    return show(*sweep.transactions.filter(tx_hash__in=REPORTED).select_related("sweep").order_by("tx_hash"))


def look_at(*pairs: tuple[Sweep, EvmReading | None]) -> list[SweepReading]:
    """Return readings of sweeps as they are stored now."""
    followed = {one.stored.id: one for one in follow(read([sweep.id for sweep, _ in pairs]).values())}
    return [SweepReading(sweep.id, saw, followed[sweep.id]) for sweep, saw in pairs]


def written(sweep_id: UUID) -> dict[str, Any]:
    """Return everything that settling writes, apart from ids and times, of which only whether there is one counts."""
    sweep = Sweep.objects.get(id=sweep_id)
    execution = sweep.executions.get()
    times = [sweep.completed_at, sweep.voided_at, sweep.closed_at, sweep.next_check_at, sweep.lease_until]
    return {
        "state": [sweep.status, sweep.is_open, sorted(sweep.flags), sweep.last_error, sweep.check_attempts],
        "times": [at is not None for at in times],
        "reason": sweep.void_reason.partition(" in 0x")[0],
        "events": [
            (one.sequence, one.kind, one.from_status, one.to_status, one.cause, _facts(one.facts))
            for one in sweep.events.all()
        ],
        "candidates": list(
            sweep.transactions.values_list("tx_hash", "status", "source", "finality", "block_hash", "confirmations")
        ),
        "execution": [execution.status, execution.closed_at is None, execution.booking_epoch, execution.amounts],
        "skipped": list(execution.skipped.values_list("booking_epoch", "token__position", "reason")),
        "postings": [(one.entry.kind, one.account.name, one.amount) for one in postings_of(sweep.id)],
        "finalities": Finality.objects.filter(entry__sweep_ref=sweep.id).count(),
    }


def _facts(facts: dict[str, Any]) -> list[tuple[str, Any]]:
    return sorted((name, value) for name, value in facts.items() if name not in ("entry", "token"))
