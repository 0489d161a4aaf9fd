"""What a partner can learn about itself."""

from django.db.models import prefetch_related_objects
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import partner_of
from partners.serializers import PartnerSerializer
from sweepapi.api.schema import partner_errors


class PartnerViewSet(ViewSet):
    """The partner of the API key."""

    @extend_schema(
        operation_id="getPartner",
        summary="Who this key speaks for",
        tags=["Partner"],
        responses={200: PartnerSerializer, **partner_errors()},
    )
    def retrieve(self, request: Request) -> Response:
        """Return the partner's name, status, fee share, the recipient of its fees by chain, and what the key may do."""
        partner = partner_of(request)
        prefetch_related_objects([partner], "payout_wallets")
        return Response(PartnerSerializer(partner).data)
