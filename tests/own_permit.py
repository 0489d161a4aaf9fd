"""A V4 sweep that its user sends without us: under the same reference, with a permit and on terms of their own."""

from typing import Any

from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount

from sweepapi.evm.contracts import v4
from sweepapi.evm.contracts.batch import BatchHop, BatchLeg, BatchRoute, Permission, RouterCall
from sweepapi.evm.contracts.permit2 import BatchPermit
from tests.local_chain import PERMIT2, LocalChain

FAR_FUTURE = 2**40
FLOOR = 1


def send_own(chain: LocalChain, user: LocalAccount, built: dict[str, Any]) -> str:
    """Execute the call of a V4 answer with a new permit of the user, who would take next to nothing.

    Returns the hash once it is mined. An answer to another build (other tokens, another output) is executed under its
    own reference, so change its ``sweepRef`` first to take that of another sweep.
    """
    raw_route, (output_token, fee_bps, sweep_ref), *_ = built["transactionTemplate"]["args"]
    route = _route(raw_route)
    order = v4.SweepOrderV4(output_token, route.floors, route.max_skipped, int(fee_bps), sweep_ref)
    nonce = chain.web3.eth.get_transaction_count(user.address)  # any that the user has not used before
    permit = BatchPermit(
        spender=built["contractAddress"],
        permitted=[(leg.token, leg.amount) for leg in route.legs],
        nonce=nonce,
        deadline=FAR_FUTURE,
        witness=order.witness,
    )
    typed_data = permit.typed_data(chain_id=built["chainId"], permit2=PERMIT2).for_wallets()
    signature = bytes(user.sign_message(encode_typed_data(full_message=typed_data)).signature)
    arguments = v4.sweep_arguments(route=route, order=order, permission=Permission(nonce, FAR_FUTURE, signature))
    data = "0x" + v4.SWEEP.encode(*arguments).hex()
    return chain.send(user, {"to": built["contractAddress"], "data": data})


def under_reference_of(sweep: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return the answer to another build as if it had this sweep's reference."""
    args = list(other["transactionTemplate"]["args"])
    args[1] = [*args[1][:2], sweep["transactionTemplate"]["args"][1][2]]
    return other | {"transactionTemplate": other["transactionTemplate"] | {"args": args}}


def _route(raw: list[Any]) -> BatchRoute:
    legs, last_hop, max_skipped, calls = raw
    return BatchRoute(
        legs=[BatchLeg(token, int(amount), FLOOR, _hop(int(hop))) for token, amount, _, hop in legs],
        last_hop=_hop(int(last_hop)),
        max_skipped=int(max_skipped),
        router_calls=[RouterCall(int(leg), router, bytes.fromhex(data[2:])) for leg, router, data in calls],
    )


def _hop(packed: int) -> BatchHop:
    joined, skippable, dropped = (bool(packed >> bit & 1) for bit in (40, 41, 42))
    return BatchHop(
        fee=packed & 0xFFFFFF,
        venue=packed >> 24 & 0xFFFF,
        joined=joined,
        skippable=skippable,
        dropped=dropped,
        price_limit=(packed >> 43 & 0x3FFFFF) << (packed >> 65 & 0xFF),
        least=packed >> 128,
    )
