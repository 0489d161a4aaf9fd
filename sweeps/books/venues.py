"""Where executions were offered."""

from collections.abc import Iterator

from sweeps.models import Execution


def venues_of(network: str) -> Iterator[tuple[str, str]]:
    """Yield each venue with the name of its rail; each is found by one step through the unique index."""
    executions = Execution.objects.filter(network=network).order_by("venue")
    found = executions.values_list("venue", "sweep__rail")
    first = found.first()
    while first is not None:
        yield first
        first = found.filter(venue__gt=first[0]).first()
