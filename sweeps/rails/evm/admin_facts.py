"""The facts that operators see about a sweep on any EVM rail: how each offer swaps each token."""

from collections.abc import Iterator

from sweeps.models import Sweep
from sweeps.rails.evm.models import Leg


def leg_facts(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Yield a label and a description for every leg of every offer."""
    for leg in Leg.objects.filter(offer__sweep=sweep).select_related("offer", "token"):
        swap = f"{leg.get_funding_display()}, {leg.router}" if leg.router else "Not swapped"
        outputs = f"expected {leg.expected_output}, at least {leg.min_output}"
        yield f"Offer {leg.offer.sequence}: {leg.token.symbol}", f"{swap}, {outputs}"
