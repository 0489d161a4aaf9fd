"""Compares amounts and entries of executions with what they should be."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef

from ledger.entries.reading import Booked
from ledger.models import Account, JournalEntry, Settlement
from sweeps.books.comparison import BooksDifference, BooksProblem, Found
from sweeps.models import Execution, Sweep

CLOCKS_DIFFER = timedelta(hours=1)  # at most: block times are the chain's, ids are from our clock


def amount_differences(pairs: Mapping[str, tuple[object, object]]) -> Iterator[Found]:
    """Yield what is not the same on chain and in our books, by its name."""
    for name, (on_chain, ours) in pairs.items():
        if on_chain != ours:
            yield BooksProblem.OTHER_AMOUNTS, f"The {name} is {on_chain} on chain, and {ours} in our books."


def what_is_due(sweep: Sweep, asset: str, total_fee: int, partner_fee: int) -> frozenset[Booked]:
    """Return what should be booked for an execution with this fee."""
    is_paid = sweep.settlement == Settlement.ON_CHAIN
    partner_account = Account.Name.PARTNER_SETTLED if is_paid else Account.Name.PARTNER_PAYABLE
    due = (
        Booked(asset, Account.Name.FEES_CHARGED, None, total_fee),
        Booked(asset, partner_account, sweep.partner_id, -partner_fee),
        Booked(asset, Account.Name.PROTOCOL_REVENUE, None, partner_fee - total_fee),
    )
    return frozenset(one for one in due if one.amount)


def entry_differences(booked: frozenset[Booked], due: frozenset[Booked]) -> Iterator[Found]:
    """Yield how what is booked for one execution differs from what should be."""
    if booked == due:
        return
    if not booked:
        yield BooksProblem.ENTRY_MISSING, f"Nothing is booked, and {_text(due)} should be."
    elif booked == {Booked(one.asset, one.account, one.partner_id, 2 * one.amount) for one in due}:
        yield BooksProblem.ENTRY_DOUBLED, f"It is booked twice: {_text(booked)}."
    else:
        yield BooksProblem.ENTRY_DIFFERS, f"Booked is {_text(booked)}, and {_text(due)} should be."


def _text(booked: frozenset[Booked]) -> str:
    return ", ".join(sorted(f"{one.account} {one.amount}" for one in booked)) or "nothing"


def oldest_id(timestamp: int) -> UUID:
    """Return an id below all that were made after this time, in seconds since 1970: ids begin with their time."""
    time = datetime.fromtimestamp(timestamp, UTC) - CLOCKS_DIFFER
    return UUID(int=max(int(time.timestamp() * 1000), 0) << 80)


def stray_entries(network: str, since: int) -> Iterator[BooksDifference]:
    """Yield the entries since a time that no executed execution has, unless they are reversed."""
    has_execution = Exists(Execution.objects.filter(ledger_entry=OuterRef("pk")))
    stray = JournalEntry.objects.filter(
        ~has_execution,
        id__gte=oldest_id(since),
        kind=JournalEntry.Kind.SWEEP_FEE,
        network=network,
        reversed_by__isnull=True,
    )
    for entry in stray:
        yield BooksDifference(
            problem=BooksProblem.ENTRY_WITHOUT_EXECUTION,
            message=f"Entry {entry.pk} is booked for a sweep that was not executed.",
            tx_hash=entry.tx_hash,
            sweep_id=entry.sweep_ref,
        )
