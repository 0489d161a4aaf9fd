"""The sweep that is copied: built and reported through the API, and executed on the local chain."""

from __future__ import annotations

import json
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lab.bench.service import Service
from lab.bench.sweeps.identity import transaction_hash
from sweepapi.evm.contracts.v5 import decode_executed
from sweepapi.evm.encoding import responses
from sweepapi_client import finalized

if TYPE_CHECKING:
    from sweepapi_client.types import BuiltSweep

TOKENS = 5
OUTPUT = "WETH"


@dataclass(frozen=True)
class Template:
    """A sweep that is pending although the chain executed it: it was reported with another hash."""

    sweep_id: UUID
    nonce: int
    receipt: dict[str, Any]

    @classmethod
    def submitted(cls, service: Service) -> Template:
        """Build a sweep, report a hash that the chain does not know, and execute the sweep unseen."""
        built = build(service)
        confirm(service, built["sweepId"], transaction_hash(0), HTTPStatus.ACCEPTED)
        receipt = execute(service, built)
        events = [decode_executed(log) for log in responses.logs(receipt["logs"])]
        (event,) = filter(None, events)
        return cls(UUID(built["sweepId"]), event.nonce, receipt)


def build(service: Service) -> BuiltSweep:
    """Build a sweep of five tokens."""
    return service.build(service.body(service.listed[:TOKENS], service.token(OUTPUT)))


def execute(service: Service, built: BuiltSweep) -> dict[str, Any]:
    """Do what the user does, and return the receipt."""
    wallet = service.wallets[0]
    for issue in built["issues"]["allowance"]:
        for approval in filter(None, (issue["resetTransaction"], issue["transaction"])):
            service.receipt(wallet.send(approval))
    return service.receipt(wallet.send(finalized(built, wallet.sign(built["permit2"]))))


def confirm(service: Service, sweep_id: str, tx_hash: str, expected: HTTPStatus) -> None:
    """Report a transaction; raises RuntimeError unless the answer has this status."""
    response = service.client.post(
        f"/v2/sweep/status/{sweep_id}/confirm", json.dumps({"txHash": tx_hash}), content_type="application/json"
    )
    if response.status_code != expected:
        raise RuntimeError(f"the confirm was answered with {response.status_code}: {response.content!r}")
