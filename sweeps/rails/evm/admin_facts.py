"""The facts that operators see about a sweep on any EVM rail: what the user signs, and how each offer swaps it."""

from collections.abc import Iterator

from sweeps.models import Sweep
from sweeps.rails.evm.models import LastHop, Leg, Permit


def leg_facts(sweep: Sweep) -> Iterator[tuple[str, str]]:
    """Yield a label and a description for what the user signs, and for every leg and last hop of every offer."""
    for permit in Permit.objects.filter(sweep=sweep):
        yield "Floors", ", ".join(map(str, permit.floors))
        yield "Tokens that may be left out", str(permit.max_skipped)
        yield "Permit2 nonce", str(permit.nonce)
    for leg in Leg.objects.filter(offer__sweep=sweep).select_related("offer", "token"):
        yield f"Offer {leg.offer.sequence}: {leg.token.symbol}", _description(leg)
    for last in LastHop.objects.filter(offer__sweep=sweep).select_related("offer"):
        yield f"Offer {last.offer.sequence}: last hop", f"{last.venue}, {last.pool}"


def _description(leg: Leg) -> str:
    parts = [leg.get_hop_display()]
    if leg.target is not None:
        parts.append(f"{leg.exchange} at {leg.target}")
    if leg.skippable:
        parts.append("skippable")
    if leg.least_wrapped is not None:
        parts.append(f"at least {leg.least_wrapped} of the wrapped coin")
    return ", ".join([*parts, f"expected {leg.expected_output}, at least {leg.min_output}"])
