"""Stores the offers of an EVM rail: the route of each, and with the first one what the user signs."""

from typing import Any

from sweepapi.evm.trial.legs import LegSwap, PoolSwap, RouterSwap, WrappedSwap
from sweeps.protocol.rail import Offered
from sweeps.rails.evm.build.issuing import EvmIssued
from sweeps.rails.evm.build.prompts import signable_permits
from sweeps.rails.evm.models import LastHop, Leg, LegPermit, Permit


def store(offered: Offered[EvmIssued]) -> None:
    """Store the legs and the last hop of an offer, and with the first one what the user signs."""
    issued, offer = offered.issued, offered.offer
    route, planned = issued.route, issued.planned
    if offer.sequence == 1:
        Permit.objects.create(
            sweep=offered.sweep,
            nonce=issued.permission.nonce,
            floors=route.floors,
            max_skipped=route.max_skipped,
        )
    token_ids = dict(offered.sweep.tokens.values_list("position", "id"))
    data = {call.leg: call.data for call in route.router_calls}
    legs = Leg.objects.bulk_create(
        Leg(
            offer=offer,
            token_id=token_ids[position],
            skippable=token.skippable,
            expected_output=token.expected_output,
            min_output=token.min_output,
            data=data.get(position, b""),
            price_limit=token.swap.price_limit if isinstance(token.swap, PoolSwap) else 0,
            **_swap_columns(token.swap),
        )
        for position, token in enumerate(planned.tokens)
    )
    LegPermit.objects.bulk_create(
        LegPermit(
            leg=legs[permit.leg],
            kind=permit.taken.kind.name,
            name=permit.taken.name,
            version=permit.taken.version,
            nonce=permit.taken.nonce,
        )
        for permit in signable_permits(planned)
    )
    if planned.last_hop is not None:
        last = planned.last_hop
        LastHop.objects.create(offer=offer, venue=last.venue.name, pool=last.pool, fee_tier=last.fee_tier)


def _swap_columns(swap: LegSwap | None) -> dict[str, Any]:
    match swap:
        case None:
            return {"hop": Leg.Hop.DROPPED, "path": [], "fee_tiers": []}
        case WrappedSwap(joined=joined):
            return {"hop": Leg.Hop.JOINED if joined else Leg.Hop.UNWRAPPED, "path": [], "fee_tiers": []}
        case PoolSwap(hop=hop, joined=joined, least_wrapped=least):
            return {
                "hop": Leg.Hop.JOINED if joined else Leg.Hop.POOL,
                "least_wrapped": least if joined else None,
                "exchange": hop.venue.name,
                "kind": hop.venue.kind,
                "target": hop.pool,
                "path": [hop.token_in, hop.token_out],
                "fee_tiers": [] if hop.fee_tier is None else [hop.fee_tier],
            }
        case RouterSwap(route=route):
            return {
                "hop": Leg.Hop.ROUTER,
                "exchange": route.router.name,
                "kind": route.router.kind,
                "target": route.router.address,
                "path": list(route.path),
                "fee_tiers": list(route.fee_tiers),
            }
