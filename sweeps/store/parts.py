"""Reads what belongs to sweeps of any rail, in a fixed number of queries."""

from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from sweeps.models import Sweep


def read_parts(sweeps: Sequence[Sweep], *more: "str | Prefetch[Any]") -> None:
    """Read partners, executions and candidates, and ``more``, unless they were read before."""
    # Into lists, because a query set for each sweep and relation takes most of the time.
    prefetch_related_objects(
        list(sweeps),
        "partner",
        Prefetch("executions", to_attr="execution_list"),
        Prefetch("execution_list__transactions", to_attr="candidates"),
        *more,
    )
