"""A claim reads no more rows than it takes, however many are due."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from sweeps.models import Sweep
from sweeps.store import leases
from sweeps.store.stored import columns_of
from tests.factories.sweeps import SweepFactory

ROWS = 100_000
BATCH_ROWS = 200
MINUTE = timedelta(minutes=1)


@pytest.fixture
def _many_due(db: None) -> None:  # noqa: ARG001 - the tables are there
    """Store 100,000 sweeps that are due, of which PostgreSQL has no statistics yet, as after an outage."""
    Sweep.objects.filter(id=SweepFactory.create().id).update(next_check_at="2026-01-01T00:00:00Z")
    copied = ", ".join(column for column in columns_of(Sweep) if column not in ("id", "next_check_at"))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO sweeps_sweep (id, next_check_at, {copied}) "  # noqa: S608 - names of columns
            f"SELECT gen_random_uuid(), next_check_at + number * interval '1 second', {copied} "
            f"FROM sweeps_sweep, generate_series(1, {ROWS}) AS number"
        )


@pytest.mark.usefixtures("_many_due")
def test_a_claim_reads_only_what_it_takes_of_what_is_due() -> None:
    with CaptureQueriesContext(connection) as captured:
        leases.claim_due(uuid4(), lease_for=MINUTE, grace=MINUTE, rows=BATCH_ROWS)
    [claim] = [query["sql"] for query in captured if "FOR UPDATE" in query["sql"]]
    with connection.cursor() as cursor:  # in the same transaction, so that what the claim set still holds
        cursor.execute(f"EXPLAIN (ANALYZE, TIMING OFF) {claim}")
        plan = "\n".join(line for (line,) in cursor.fetchall())
    scanned = [int(rows) for rows in re.findall(r"Scan.* \(actual rows=(\d+)", plan)]
    assert max(scanned) <= 2 * BATCH_ROWS, plan
