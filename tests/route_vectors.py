"""The routes of the EIP-712 vectors, as Python's types."""

from typing import Any

from eth_utils.address import to_checksum_address

from sweepapi.evm.contracts.batch import BatchHop, BatchLeg, BatchRoute, RouterCall


def route_of(vector: dict[str, Any]) -> BatchRoute:
    fields = vector["route"]
    return BatchRoute(
        legs=[
            BatchLeg(to_checksum_address(leg["token"]), int(leg["amount"]), int(leg["floor"]), _hop(leg["hop"]))
            for leg in fields["legs"]
        ],
        last_hop=_hop(fields["lastHop"]),
        max_skipped=int(fields["maxSkipped"]),
        router_calls=[
            RouterCall(int(call["leg"]), to_checksum_address(call["router"]), bytes.fromhex(call["data"][2:]))
            for call in fields["routerCalls"]
        ],
    )


def _hop(fields: dict[str, Any]) -> BatchHop:
    return BatchHop(
        fee=int(fields["fee"]),
        venue=int(fields["venue"]),
        joined=fields["joined"],
        skippable=fields["skippable"],
        dropped=fields["dropped"],
        least=int(fields["least"]),
    )
