"""The endpoint that returns the partner of the API key."""

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import partner_of, requester_of
from partners.serializers import PartnerSerializer
from sweepapi.api.openapi.schema import failures


class PartnerViewSet(ViewSet):
    scopes = {"retrieve": None}

    @extend_schema(
        operation_id="getPartner",
        summary="Get the partner that this key belongs to",
        tags=["Partner"],
        responses={200: PartnerSerializer, **failures("getPartner")},
    )
    def retrieve(self, request: Request) -> Response:
        """Return the partner's name, status, fee share and recipients of fees by chain, and what the key may do."""
        partner = partner_of(request)
        prefetch_related_objects([partner], "payout_wallets")
        return Response(PartnerSerializer(partner, context={"requester": requester_of(request)}).data)
