"""The endpoints of /v2: sweeps on EVM chains."""

from django.conf import settings
from django.http import HttpResponse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from partners.authentication import partner_of, requester_of
from partners.limits import BUILD, DISCOVER
from partners.outside import outside_place
from partners.views.idempotent import Answer, idempotent
from sweepapi import networks
from sweepapi.api.input.serializers import EmptyRequestSerializer
from sweepapi.api.openapi.schema import failures
from sweeps.models import SweepStatus
from sweeps.rails.registry import V2, V2_RAILS
from sweeps.serializers.rendering import rendered
from sweeps.status_objects import status_objects
from sweeps.story.build import build_sweep, quote_sweep, renew_offer
from sweeps.story.confirm import confirm_sweep
from sweeps.story.discovery import discover_tokens
from sweeps.story.finalizing import finalize_sweep
from sweeps.story.reach import sweep_of_partner
from sweeps.story.withdrawal import cancel_sweep
from sweeps.views.serializers.confirming import ConfirmRequestSerializer
from sweeps.views.serializers.discovery_request import EvmDiscoverRequestSerializer
from sweeps.views.serializers.requests import BuildRequestSerializer, CancelRequestSerializer
from sweeps.views.stored import SWEEP_ID, StoredSweepViewSet, documented, sweep_id_of

TAG = "Sweeps"
CHECK_AGAIN = OpenApiParameter(
    "Retry-After",
    {"type": "integer", "minimum": 1},
    OpenApiParameter.HEADER,
    response=[202],
    description="Seconds after which the status may show what became of the transaction.",
)


@documented(get="getSweep", listing="listSweeps", where="an EVM chain", tag=TAG, state=V2.state)
class SweepViewSet(StoredSweepViewSet):
    rails = V2_RAILS
    present = V2
    scopes = {
        **StoredSweepViewSet.scopes,
        "discover": "build",
        "quote": "build",
        "build": "build",
        "refresh": "build",
        "cancel": "build",
        "finalize": "build",
        "confirm": "confirm",
    }
    policies = {"discover": DISCOVER, "quote": BUILD, "build": BUILD, "refresh": BUILD, "finalize": BUILD}
    bodies = {
        "discover": EvmDiscoverRequestSerializer,
        "quote": BuildRequestSerializer,
        "build": BuildRequestSerializer,
        "refresh": EmptyRequestSerializer,
        "cancel": CancelRequestSerializer,
        "finalize": V2.finalize_request,
        "confirm": ConfirmRequestSerializer,
    }

    @extend_schema(
        operation_id="discoverTokens",
        summary="Find the tokens of a wallet that are worth sweeping",
        tags=[TAG],
        request=EvmDiscoverRequestSerializer,
        responses={200: V2.discovery, **failures("discoverTokens")},
    )
    def discover(self, request: Request) -> Response:
        """Return a verdict on each token that the wallet holds, proven by a simulated sale, and the best basket.

        Only balances that the chain shows count. The tokens of the basket can be sent to a build as they are. An answer
        is about at most 500 tokens that the wallet holds: listed ones and those with a pool come first. `coverage` says
        what was searched, and its `nextCursor` goes on.
        """
        body = EvmDiscoverRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        scope = body.scope(requester_of(request))
        wanted = body.to_request(scope)
        with outside_place(requester_of(request)):
            found = discover_tokens(networks.current(), partner=partner_of(request), request=wanted)
        return Response(V2.discovery(found, context={"scope": scope}).data)

    @extend_schema(
        operation_id="quoteSweep",
        summary="Quote a sweep without building it",
        tags=[TAG],
        request=BuildRequestSerializer,
        responses={200: V2.quote, **failures("quoteSweep")},
    )
    def quote(self, request: Request) -> Response:
        """Answer what a build of the same body would offer now; nothing is reserved, signed or stored."""
        body = BuildRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        with outside_place(requester_of(request)):
            quoted = quote_sweep(networks.current(), partner=partner_of(request), request=body.to_request())
        return Response(rendered(V2.quote, quoted))

    @extend_schema(
        operation_id="buildSweep",
        summary="Build a sweep for a user to sign and send",
        tags=[TAG],
        request=BuildRequestSerializer,
        responses={201: V2.answer, **failures("buildSweep")},
    )
    @idempotent
    def build(self, request: Request, answer: Answer) -> HttpResponse:
        """Quote every token, and return what the user signs and sends; on V5 with the signed fee authorization."""
        body = BuildRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        with outside_place(requester_of(request)):
            return build_sweep(
                networks.current(),
                partner=partner_of(request),
                request=body.to_request(),
                answered=lambda built: answer(built, 201),
            )

    @extend_schema(
        operation_id="refreshSweep",
        summary="Offer a sweep again at current prices",
        parameters=[SWEEP_ID],
        tags=[TAG],
        request=EmptyRequestSerializer,
        responses={200: V2.refreshed, **failures("refreshSweep")},
    )
    @idempotent
    def refresh(self, request: Request, answer: Answer, sweep_id: str) -> HttpResponse:
        """Return another offer of a sweep with the same typed data to sign and the same deadline, and current routes.

        A signature that the user gave for an earlier offer is good for this one. If current prices do not reach the
        floors in it, the answer is 409 `new_build_required`: a transaction under it would revert.
        That is also the answer about a sweep that the user has executed and you have not reported, as its message says.

        The choices of the build hold here as well, except `onUnroutable`: the user signed which tokens are swept, and
        that up to `maxSkipped` of them may be left out. Tokens that can't be swept any more, or miss their floor, are
        dropped up to that number; their `route` is null.
        """
        EmptyRequestSerializer(data=request.data).is_valid(raise_exception=True)
        sweep = sweep_of_partner(requester_of(request), sweep_id_of(sweep_id), rails=self.rails)
        with outside_place(requester_of(request)):
            return renew_offer(
                networks.current(), sweep, answered=lambda offered: answer({**offered, "signatureStillValid": True})
            )

    @extend_schema(
        operation_id="cancelSweep",
        summary="Withdraw a sweep that the user declined",
        parameters=[SWEEP_ID],
        tags=[TAG],
        request=CancelRequestSerializer,
        responses={200: V2.state, **failures("cancelSweep")},
    )
    @idempotent
    def cancel(self, request: Request, answer: Answer, sweep_id: str) -> HttpResponse:
        """Void a pending sweep, unless a transaction was submitted for it; the request can be repeated.

        Voiding alone does not stop a user who has signed: the sweep can be executed until its deadline. With `onChain`
        the service sends a transaction that prevents that, on V5; the sweep stays open until the chain shows it.
        """
        body = CancelRequestSerializer(data=request.data)
        body.is_valid(raise_exception=True)
        return cancel_sweep(
            requester=requester_of(request),
            sweep_id=sweep_id_of(sweep_id),
            on_chain=body.validated_data["onChain"],
            answered=lambda sweep: answer(status_objects([sweep.id])[sweep.id]),
        )

    @extend_schema(
        operation_id="finalizeSweep",
        summary="Complete the transaction with what the wallet signed",
        parameters=[SWEEP_ID],
        tags=[TAG],
        request=V2.finalize_request,
        responses={200: V2.finalized, **failures("finalizeSweep")},
    )
    def finalize(self, request: Request, sweep_id: str) -> Response:
        """Verify signatures in any spelling, and return the transaction of the newest offer with them, ready to send.

        This is optional: `signatureParts` says how to complete the transaction yourself. Here signatures are brought
        into the form that contracts take, verified as the contracts will, by the account's code if it has some, and the
        finished transaction is simulated and its gas limit measured. A refusal says whose signature it is, and, if that
        can be found out, what was signed instead. Send missing approvals first.

        Signatures are neither stored nor logged. So there is no `Idempotency-Key`; the request can be repeated.
        """
        body = V2.finalize_request(data=request.data)
        body.is_valid(raise_exception=True)
        sweep = sweep_of_partner(requester_of(request), sweep_id_of(sweep_id), rails=self.rails)
        with outside_place(requester_of(request)):
            finalized = finalize_sweep(networks.current(), sweep, V2.signed(body.validated_data))
        return Response(rendered(V2.finalized, finalized))

    @extend_schema(
        operation_id="confirmSweep",
        summary="Report the transaction, or the batch of calls, that the user sent",
        parameters=[SWEEP_ID, CHECK_AGAIN],
        tags=[TAG],
        request=ConfirmRequestSerializer,
        responses={200: V2.state, 202: V2.state, **failures("confirmSweep")},
    )
    def confirm(self, request: Request, sweep_id: str) -> HttpResponse:
        """Answer 200 with the completed sweep, or 202 while nothing can be concluded; `awaits` says what is missing.

        While many requests of yours wait for a chain, the report is stored, and looked up after the answer, 202.
        """
        body = ConfirmRequestSerializer(data=request.data, context={"mode": requester_of(request).mode})
        body.is_valid(raise_exception=True)
        snapshot = confirm_sweep(
            networks.current(),
            requester=requester_of(request),
            sweep_id=sweep_id_of(sweep_id),
            tx_hashes=body.tx_hashes,
            network=body.network,
        )
        if snapshot["status"] == SweepStatus.COMPLETED:
            return self.show(snapshot)
        response = self.show(snapshot, 202)
        response.headers["Retry-After"] = str(max(settings.FIRST_CHECK_SECONDS, 1))
        return response
