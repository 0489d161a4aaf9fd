"""A statement as CSV (RFC 4180, UTF-8), line by line, so that its length doesn't matter.

Each asset has a record ``opening``, its lines, and a record ``closing``. Amounts of the month are on the lines only, so
the sum of a column is the sum of the month; ``balance`` is what was owed after each record, and ``final`` the part of
the closing balance whose executions are final.
"""

import csv
from collections.abc import Iterator
from itertools import islice

from ledger.csv_files import Echo, inert
from ledger.statements.month import Month
from ledger.statements.reading import sections
from ledger.statements.values import Column, Line, ShownAsset, StatementSection
from partners.models import Partner

COLUMNS = (
    *("record", "network", "asset", "symbol", "decimals"),
    *("number", "posted_at", "kind", "sweep_id", "tx_hash", "entry_id", "state"),
    *Column,
    *("balance", "final"),
)
_RECORDS_AT_A_TIME = 500


def csv_chunks(partner: Partner, month: Month) -> Iterator[str]:
    """Yield the file in pieces."""
    records = _records(partner, month)
    while chunk := "".join(islice(records, _RECORDS_AT_A_TIME)):
        yield chunk


def _records(partner: Partner, month: Month) -> Iterator[str]:
    writer = csv.DictWriter(Echo(), COLUMNS)
    yield writer.writeheader()
    for section in sections(partner, month):
        about = _about(section.shown)
        for record in _of_section(section):
            yield writer.writerow(about | record)


def _of_section(section: StatementSection) -> Iterator[dict[str, object]]:
    totals = section.opening
    yield {"record": "opening", "balance": totals.closing}
    for line in section.lines:
        totals = totals.after(line)
        yield _of_line(line) | {"balance": totals.closing}
    yield {"record": "closing", "balance": totals.closing, "final": totals.final}


def _of_line(line: Line) -> dict[str, object]:
    return {
        "record": "line",
        "number": line.number,
        "posted_at": f"{line.posted_at:%Y-%m-%dT%H:%M:%S.%fZ}",
        "kind": line.kind,
        "sweep_id": line.sweep_ref,
        "tx_hash": line.tx_hash,
        "entry_id": line.entry_id,
        "state": line.state,
        line.column: line.amount,
    }


def _about(shown: ShownAsset) -> dict[str, object]:
    symbol = None if shown.symbol is None else inert(shown.symbol)
    return {"network": shown.network, "asset": shown.asset, "symbol": symbol, "decimals": shown.decimals}
