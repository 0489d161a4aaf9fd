"""The view that the others are compared with: stock DRF, which reads one row and answers a few of its fields.

Everything around it is the service's: middleware, key check, permissions, parsers, negotiation and renderer.
"""

from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import requester_of
from sweeps.models import Sweep


class BareViewSet(ViewSet):
    scopes = {"retrieve": "read"}

    def retrieve(self, request: Request, sweep_id: str) -> Response:
        """Return three fields of a sweep."""
        sweep = Sweep.objects.get(id=sweep_id, partner=requester_of(request).partner_id)
        return Response({"sweepId": sweep.id, "status": sweep.status, "createdAt": sweep.created_at})
