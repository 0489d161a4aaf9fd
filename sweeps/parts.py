"""Reads what belongs to sweeps and what looking at them and settling them needs, in a fixed number of queries."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects

from sweeps.models import InputToken, Sweep, SweepToken


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


def read_tokens(sweeps: Sequence[Sweep]) -> None:
    """Read the tokens, which a sweep has up to thirty of."""
    tokens = defaultdict(list)
    rows = SweepToken.objects.filter(sweep__in=sweeps).order_by("sweep", "position")
    for sweep_id, token_id, position, asset in rows.values_list("sweep_id", "id", "position", "asset"):
        tokens[sweep_id].append(InputToken(token_id, position, asset))
    for sweep in sweeps:
        sweep.input_tokens = tokens[sweep.id]
