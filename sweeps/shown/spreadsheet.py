"""Sweeps as a CSV file for operators: a line a sweep, written in pieces."""

import csv
from collections.abc import Iterator

from django.db.models import QuerySet

from ledger.csv_files import Echo, inert
from sweepapi.networks import Networks
from sweepapi.token_amounts import whole_tokens
from sweeps.models import Sweep

HEADERS = (
    *("id", "created_at", "partner", "reference", "network", "wallet", "status", "open", "flags", "transaction"),
    *("output", "gross", "to_user", "to_partner", "to_protocol", "last_error"),
)
CHUNK = 500


def as_csv(sweeps: QuerySet[Sweep], registry: Networks) -> Iterator[str]:
    """Yield the lines, amounts in whole tokens; those of what was not executed are blank."""
    writer = csv.writer(Echo())
    yield writer.writerow(HEADERS)
    found = sweeps.select_related("partner").prefetch_related("transactions", "executions")
    for sweep in found.iterator(chunk_size=CHUNK):
        yield writer.writerow(_cells(sweep, registry))


def _cells(sweep: Sweep, registry: Networks) -> list[str]:
    newest = max(sweep.transactions.all(), key=lambda tx: tx.pk, default=None)
    done = [one.amounts for one in sweep.executions.all() if one.gross_output is not None]
    sums = [
        sum(getattr(split, name) for split in done)
        for name in ("gross_output", "user_amount", "partner_fee", "protocol_fee")
    ]
    return [
        str(sweep.id),
        sweep.created_at.isoformat(),
        inert(sweep.partner.name),
        inert(sweep.client_reference),
        registry.name_of(sweep.network),
        sweep.wallet,
        sweep.status,
        "yes" if sweep.is_open else "no",
        " ".join(sweep.flags),
        "" if newest is None else newest.tx_hash,
        inert(sweep.output_symbol),
        *(whole_tokens(units, sweep.output_decimals) if done else "" for units in sums),
        inert(sweep.last_error),
    ]
