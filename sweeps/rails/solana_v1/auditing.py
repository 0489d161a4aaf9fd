"""Compares the books of a cluster with the transactions of our fee accounts, and repairs them when operators ask.

A sweep's transaction is known by its guard, which names its wallet, its output and its reference key. Anyone can write
such a transaction, and it does not name a partner: operators name that of each one which they want adopted.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Min
from uuid_utils.compat import uuid7

from ledger.entries.reading import Booked, booked_for
from ledger.models import Settlement
from partners.models import Partner
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.agreement import ask_agreed
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.cluster import reads
from sweepapi.solana.landed.history import block_time_call, head_calls, take_head
from sweepapi.solana.landed.opinions import ask_each
from sweeps.books import adoption
from sweeps.books.adoption import Adopted, NotAdoptableError
from sweeps.books.comparison import Adoption, Blocks, BooksDifference, BooksProblem, Found, Report
from sweeps.books.entries import amount_differences, entry_differences, stray_entries, what_is_due
from sweeps.models import Execution, SweepTransaction
from sweeps.protocol.rail import FinalSpan, Inclusion, OutputAsset
from sweeps.rails.solana_v1.rail import SolanaV1
from sweeps.rails.solana_v1.reconcile import guarded
from sweeps.rails.solana_v1.reconcile.guarded import Paid
from sweeps.rails.solana_v1.reconcile.reconciling import MARGIN_SLOTS, readings_of

log = structlog.get_logger(__name__)

SECONDS_OF_A_DAY = 95_000  # and some more, because slots may have been shorter than now
MAX_SECONDS_PER_SLOT = 1  # over a day, however slow the cluster is
UNSETTLED_SLOTS = 1_000  # more than three minutes, at 0.21 s a slot; the reconciliation reads each minute
UNKNOWN = "No execution of ours has this reference key."


class SolanaAuditor:
    """Compares and repairs the books of sweeps on Solana."""

    def final_blocks(self, registry: Networks, network: str, *, first: int | None, last: int | None) -> Blocks:
        kept = _kept(registry.pool(network))
        if first is None:
            built = Execution.objects.filter(network=network).aggregate(slot=Min("built_at_height"))["slot"]
            first = max(kept.first, 0 if built is None else built - MARGIN_SLOTS)
        return Blocks(first, kept.last if last is None else min(last, kept.last))

    def last_day(self, registry: Networks, network: str, *, compared: int | None) -> Blocks:
        pool = registry.pool(network)
        kept, (slot_seconds,) = _kept(pool), pool.batch([reads.SLOT_SECONDS])
        first = min(kept.last - int(SECONDS_OF_A_DAY / slot_seconds), kept.last if compared is None else compared + 1)
        return Blocks(max(kept.first, first), kept.last - UNSETTLED_SLOTS)

    def compare(self, registry: Networks, network: str, blocks: Blocks) -> Report:
        if blocks.first > blocks.last:
            return Report(network, blocks, 0, [])
        venue = registry.fee_wallet
        reads = list(guarded.read(registry, network, venue, blocks))
        paid = [one for read in reads for one in read.paid]
        succeeded = {key for read in reads for key, one in read.found.items() if one.landed.is_successful}
        executions = _executions(network, venue, [one.guarded.reference for one in paid])
        booked = booked_for([one.pk for one in executions.values()])
        found = [_difference(venue, one, executions, *each) for one in paid for each in _found(one, executions, booked)]
        found += _without_transaction(network, venue, blocks, {one.signature for one in paid}, succeeded)
        found += stray_entries(network, since=_time_of(registry.pool(network), blocks.first))
        return Report(network, blocks, len(paid), found)

    def find_executed(self, registry: Networks, network: str, blocks: Blocks) -> Iterator[FinalSpan]:
        venue = registry.fee_wallet
        for read in guarded.read(registry, network, venue, blocks):
            accepted = SweepTransaction.objects.filter(
                tx_hash__in=read.found, sweep__network=network, status=SweepTransaction.Status.ACCEPTED
            )
            known = set(accepted.values_list("tx_hash", flat=True))
            unknown = {signature: one for signature, one in read.found.items() if signature not in known}
            yield FinalSpan(list(readings_of(network, venue, read.head, unknown)), blocks_left=0)

    def adopt(
        self, registry: Networks, network: str, blocks: Blocks, *, named: Mapping[str, Partner], by: str
    ) -> Iterator[Adoption]:
        venue = registry.fee_wallet
        for read in guarded.read(registry, network, venue, blocks):
            known = _executions(network, venue, [one.guarded.reference for one in read.paid])
            for one in read.paid:
                if one.fee and one.guarded.reference not in known:
                    yield from _adoption(registry, network, one, named.get(one.signature), by)


def _kept(pool: ProviderPool) -> Blocks:
    """Return the final slots of which enough providers have the history."""
    heads = [take_head(values)[0] for values in ask_each(pool, head_calls()).values()]
    if len(heads) < pool.needed:
        raise ChainUnavailableError("too few providers answer")
    return Blocks(
        sorted(head.first_slot for head in heads)[pool.needed - 1],
        sorted(head.final_slot for head in heads)[-pool.needed],
    )


def _time_of(pool: ProviderPool, slot: int) -> int:
    """Return a time before that of a slot, which may have no block."""
    return int(time.time()) - (_kept(pool).last - slot) * MAX_SECONDS_PER_SLOT


def _executions(network: str, venue: str, references: Sequence[str]) -> dict[str, Execution]:
    found = Execution.objects.filter(network=network, venue=venue, execution_id__in=references)
    return {one.execution_id: one for one in found.select_related("sweep").prefetch_related("transactions")}


def _found(
    paid: Paid, executions: Mapping[str, Execution], booked: Mapping[UUID, frozenset[Booked]]
) -> Iterator[Found]:
    execution = executions.get(paid.guarded.reference)
    if execution is None:
        if paid.fee:  # otherwise there is nothing to book, and anyone may have written it
            yield BooksProblem.EVENT_WITHOUT_SWEEP, UNKNOWN
    elif execution.status != Execution.Status.EXECUTED:
        yield BooksProblem.EVENT_NOT_RECORDED, f"Executed on chain, and {execution.status} in our books."
    elif _accepted(execution) != [paid.signature]:
        yield BooksProblem.OTHER_TRANSACTION, f"Our books have it in {', '.join(_accepted(execution))}."
    else:
        pairs: dict[str, tuple[object, object]] = {
            "total fee": (paid.fee, execution.total_fee),
            "user's amount": (paid.user_amount, execution.user_amount),
        }
        yield from amount_differences(pairs)
        due = what_is_due(execution.sweep, paid.guarded.mint, paid.fee, execution.partner_fee or 0)
        yield from entry_differences(booked.get(execution.pk, frozenset()), due)


def _accepted(execution: Execution) -> list[str]:
    return [tx.tx_hash for tx in execution.transactions.all() if tx.status == SweepTransaction.Status.ACCEPTED]


def _difference(
    venue: str, paid: Paid, executions: Mapping[str, Execution], problem: BooksProblem, message: str
) -> BooksDifference:
    execution = executions.get(paid.guarded.reference)
    return BooksDifference(
        problem=problem,
        message=message,
        venue=venue,
        block_number=paid.found.landed.slot,
        tx_hash=paid.signature,
        execution_id=paid.guarded.reference,
        sweep_id=None if execution is None else execution.sweep_id,
    )


def _without_transaction(
    network: str, venue: str, slots: Blocks, paid: set[str], succeeded: set[str]
) -> Iterator[BooksDifference]:
    """Yield the executions without a transaction; one that sells nothing, and pays no fee, needs one that succeeded."""
    accepted = SweepTransaction.objects.filter(
        status=SweepTransaction.Status.ACCEPTED,
        block_number__range=(slots.first, slots.last),
        execution__network=network,
        execution__venue=venue,
    )
    for tx in accepted.select_related("execution").exclude(tx_hash__in=paid):
        if tx.execution.gross_output == 0 and tx.tx_hash in succeeded:
            continue
        yield BooksDifference(
            problem=BooksProblem.EVENT_MISSING,
            message="Executed in our books, and no fee account has a transaction of it.",
            venue=venue,
            block_number=tx.block_number,
            tx_hash=tx.tx_hash,
            execution_id=tx.execution.execution_id,
            sweep_id=tx.sweep_id,
        )


def _adoption(registry: Networks, network: str, paid: Paid, partner: Partner | None, by: str) -> Iterator[Adoption]:
    reference = paid.guarded.reference
    try:
        adopted = _adopted(registry, network, paid, partner, by)
        with transaction.atomic():
            sweep = adoption.store(adopted)
    except NotAdoptableError as refusal:
        yield Adoption(paid.signature, reference, None, str(refusal))
    except IntegrityError:
        if reference not in _executions(
            network, registry.fee_wallet, [reference]
        ):  # another run has not adopted it meanwhile
            raise
    else:
        log.warning("sweep_adopted", sweep_id=str(sweep.id), tx_hash=paid.signature, by=by)
        yield Adoption(paid.signature, reference, sweep.id)


def _adopted(registry: Networks, network: str, paid: Paid, partner: Partner | None, by: str) -> Adopted:
    landed, venue = paid.found.landed, registry.fee_wallet
    token = registry.cluster(network).output_token(paid.guarded.mint)
    if partner is None:
        raise NotAdoptableError("It names no partner: name one for this transaction.")
    if token is None:
        raise NotAdoptableError(f"Sweeps can't end in {paid.guarded.mint}.")
    (seconds,) = ask_agreed(registry.pool(network), [block_time_call(landed.slot)])
    return Adopted(
        sweep_id=uuid7(),
        partner=partner,
        rail=SolanaV1.name,
        network=network,
        venue=venue,
        execution_id=paid.guarded.reference,
        wallet=paid.guarded.wallet,
        output=OutputAsset(token.mint, token.symbol, token.decimals),
        partner_recipient=None,
        protocol_recipient=venue,
        settlement=Settlement.PAYABLE,
        tx_hash=paid.signature,
        inclusion=Inclusion(landed.slot, paid.found.block_hash, landed.units),
        log_position=None,
        amounts=paid.split(partner.share_bps_at(datetime.fromtimestamp(seconds, UTC))),
        circumstances={"adopted_by": by},
    )
