"""The endpoints of signed receipts; each version of the API has those of its own rails."""

from collections.abc import Callable, Collection
from typing import ClassVar, TypeVar

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from partners.authentication import requester_of
from sweepapi.api.openapi.schema import failures
from sweepapi.api.requests.renderers import answer
from sweeps.rails.registry import V1_RAILS, V2_RAILS
from sweeps.story.receipts import receipt_of
from sweeps.views import v1, v2
from sweeps.views.serializers.receipt import SignedReceiptSerializer, signed
from sweeps.views.stored import SWEEP_ID, sweep_id_of

V = TypeVar("V", bound=type[ViewSet])


def _documented(operation_id: str, *, where: str, tag: str) -> Callable[[V], V]:
    return extend_schema_view(
        retrieve=extend_schema(
            operation_id=operation_id,
            summary=f"Get the signed receipt of a sweep on {where}",
            parameters=[SWEEP_ID],
            tags=[tag],
            responses={200: SignedReceiptSerializer, **failures(operation_id)},
        )
    )


class _ReceiptViewSet(ViewSet):
    rails: ClassVar[Collection[str]]
    scopes: ClassVar = {"retrieve": "ledger"}

    def retrieve(self, request: Request, sweep_id: str) -> HttpResponse:
        """Return what the sweep paid to whom, by which transaction and why, once its block is final.

        The receipt is the same each time. `verifiable` names what anyone can check on any node of the chain, without
        us, and `attested` what only we say; `examples/verify_receipt.py` in our repository does that, and prints what
        was proven. Until then, and for a sweep that was not executed, the answer is 409 `receipt_not_ready`.
        """
        return answer(signed(receipt_of(requester_of(request), sweep_id_of(sweep_id), rails=self.rails)))


@_documented("getSweepReceiptV1", where="Solana or V4", tag=v1.TAG)
class ReceiptV1ViewSet(_ReceiptViewSet):
    rails = V1_RAILS


@_documented("getSweepReceipt", where="an EVM chain", tag=v2.TAG)
class ReceiptViewSet(_ReceiptViewSet):
    rails = V2_RAILS
