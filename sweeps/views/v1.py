"""The endpoints of /v1: sweeps on Solana, and the state of all others whose partners are paid later."""

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from partners.authentication import partner_of, requester_of
from partners.limits import BUILD, DISCOVER
from partners.outside import outside_place
from partners.views.idempotent import Answer, idempotent
from sweepapi import networks
from sweepapi.api.openapi.schema import failures
from sweeps.rails.registry import SOLANA, V1, V1_RAILS
from sweeps.shown.reading import read_snapshot
from sweeps.story.build import build_sweep
from sweeps.views.serializers.solana_requests import DiscoverRequestSerializer, SolanaBuildRequestSerializer
from sweeps.views.stored import StoredSweepViewSet, documented

TAG = "Sweeps on Solana"


@documented(get="getSweepV1", listing="listSweepsV1", where="Solana or V4", tag=TAG, state=V1.state)
class SweepV1ViewSet(StoredSweepViewSet):
    rails = V1_RAILS
    present = V1
    read = staticmethod(read_snapshot)
    scopes = {**StoredSweepViewSet.scopes, "discover": "build", "build": "build"}
    policies = {"discover": DISCOVER, "build": BUILD}
    bodies = {"discover": DiscoverRequestSerializer, "build": SolanaBuildRequestSerializer}

    @extend_schema(
        operation_id="discoverSolanaTokens",
        summary="Find the tokens of a wallet that are worth sweeping",
        tags=[TAG],
        request=DiscoverRequestSerializer,
        responses={200: V1.discovery, **failures("discoverSolanaTokens")},
    )
    def discover(self, request: Request) -> Response:
        """Return what each of the wallet's tokens would bring, and the rent that its empty accounts give back.

        A page has at most 64 token accounts, the best first: those of `candidates`, of verified tokens, and then those
        that prices say are worth most. All of a page are quoted, as far as the swap API takes requests; the sales of
        the ten that bring most are simulated. `coverage` says what is left, and its `nextCursor` goes on.
        """
        body = DiscoverRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        scope = body.scope(requester_of(request))
        wanted = body.to_request(scope)
        with outside_place(requester_of(request)):
            found = SOLANA.discover(networks.current(), partner=partner_of(request), request=wanted)
        return Response(V1.discovery(found, context={"scope": scope}).data)

    @extend_schema(
        operation_id="buildSolanaSweep",
        summary="Build a sweep on Solana for a user to sign and send",
        tags=[TAG],
        request=SolanaBuildRequestSerializer,
        responses={201: V1.answer, **failures("buildSolanaSweep")},
    )
    @idempotent
    def build(self, request: Request, answer: Answer) -> HttpResponse:
        """Quote every token, and return transactions, which the user signs and sends before their blockhash expires.

        That is about half a minute; put a fresh blockhash into them if the user takes longer. All of them were
        simulated. They are found on chain, without confirm; the answer shows what they cost, which accounts they
        create and close, and the rent of these. If prices have moved too far by then, they fail: build again.
        """
        body = SolanaBuildRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        with outside_place(requester_of(request)):
            return build_sweep(
                networks.current(),
                partner=partner_of(request),
                request=body.to_request(),
                answered=lambda built: answer(built, 201),
            )
