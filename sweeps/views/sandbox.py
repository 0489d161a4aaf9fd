"""The endpoints of the sandbox, for test keys only: they change a test chain that all partners share."""

from functools import partial
from typing import Any

from django.http import HttpResponse, JsonResponse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from partners.authentication import Requester, requester_of
from partners.limits import BUILD
from partners.outside import outside_place
from sweepapi import networks
from sweepapi.api.input.budgets import Budget
from sweepapi.api.input.parsers import RawJSONParser
from sweepapi.api.input.reading import read_json
from sweepapi.api.openapi.schema import failures
from sweepapi.errors import ForbiddenField, InvalidRequest, LiveKeyRefused
from sweepapi.modes import Mode
from sweeps.sandbox.faucet import fund
from sweeps.sandbox.node import node_of
from sweeps.sandbox.offered import offered_chains
from sweeps.sandbox.operating import MAX_BLOCKS, MAX_SECONDS, advance, send
from sweeps.sandbox.rpc_proxy import MAX_CALLS, PARSE_ERROR, RpcProxy, failure
from sweeps.sandbox.serializers import (
    AdvancedSerializer,
    AdvanceRequestSerializer,
    FundedSerializer,
    FundRequestSerializer,
    SandboxPlaceSerializer,
    SandboxSerializer,
)

TAG = "Sandbox"
# A call has four members, and a transaction or a filter with lists of its own.
RPC_BUDGET = Budget(names=16 * MAX_CALLS, items=100 * MAX_CALLS)


def tester_of(request: Request) -> Requester:
    """Return who sent the request; raises LiveKeyRefused for a live key."""
    requester = requester_of(request)
    if requester.mode is not Mode.TEST:
        raise LiveKeyRefused
    return requester


class SandboxViewSet(ViewSet):
    scopes = {"retrieve": None, "advance": "build", "fund": "build"}
    policies = {"advance": BUILD, "fund": BUILD}
    bodies = {"advance": AdvanceRequestSerializer, "fund": FundRequestSerializer}

    @extend_schema(
        operation_id="getSandbox",
        summary="List the tokens and amounts that force outcomes",
        tags=[TAG],
        responses={200: SandboxSerializer, **failures("getSandbox")},
    )
    def retrieve(self, request: Request) -> Response:
        """Return each sandbox chain that you can control, and how to force every outcome of a sweep on it."""
        tester_of(request)
        offered = {"maxBlocks": MAX_BLOCKS, "maxSeconds": MAX_SECONDS, "chains": offered_chains(networks.current())}
        return Response(SandboxSerializer(offered).data)

    @extend_schema(
        operation_id="advanceSandbox",
        summary="Mine blocks and move the clock of a sandbox chain",
        tags=[TAG],
        request=AdvanceRequestSerializer,
        responses={200: AdvancedSerializer, **failures("advanceSandbox")},
    )
    def advance(self, request: Request) -> Response:
        """Do what your transactions force, move the clock, mine, and return the chain's heads.

        The chain is shared: everyone sees its clock move, and blocks that your transactions replace are mined again
        with the transactions of others. Only your own advances count for your transactions.
        """
        requester = tester_of(request)
        body = AdvanceRequestSerializer(data=request.data, context={"mode": requester.mode})
        body.is_valid(raise_exception=True)
        moved = body.validated_data
        registry, network = networks.current(), moved["chain"]
        with outside_place(requester):
            heads = advance(registry, network, requester.partner_id, blocks=moved["blocks"], seconds=moved["seconds"])
        return Response(AdvancedSerializer({"chain": registry.name_of(network), **vars(heads)}).data)

    @extend_schema(
        operation_id="fundSandboxWallet",
        summary="Give a wallet coins and the documented tokens",
        tags=[TAG],
        request=FundRequestSerializer,
        responses={200: FundedSerializer, **failures("fundSandboxWallet")},
    )
    def fund(self, request: Request) -> Response:
        """Fill the wallet up to one native coin, and give it a thousand of each documented token, in one block."""
        requester = tester_of(request)
        body = FundRequestSerializer(data=request.data, context={"mode": requester.mode})
        body.is_valid(raise_exception=True)
        registry, network, wallet = networks.current(), body.validated_data["chain"], body.validated_data["wallet"]
        with outside_place(requester):
            given = fund(registry, network, wallet)
        chain = registry.chain(network)
        answer = {
            "chain": chain.name,
            "wallet": wallet,
            "coins": given.coins,
            "tokens": chain.sandbox_tokens.values(),
            "tokenAmount": given.token_amount,
            **vars(given.heads),
        }
        return Response(FundedSerializer(answer).data)


class SandboxRpcViewSet(ViewSet):
    """The RPC proxy; it speaks JSON-RPC instead of the API's envelope, so the guide to the sandbox describes it."""

    scopes = {"call": "build"}
    policies = {"call": BUILD}
    parser_classes = [RawJSONParser]

    @extend_schema(exclude=True)
    def call(self, request: Request, chain: str) -> HttpResponse:
        """Answer a call of JSON-RPC, or a batch."""
        requester = tester_of(request)
        place = SandboxPlaceSerializer(data={"chain": chain}, context={"mode": requester.mode})
        place.is_valid(raise_exception=True)
        registry, network = networks.current(), place.validated_data["chain"]
        raw: Any = request.data or b""  # DRF parses no empty body
        try:
            body = read_json(raw, RPC_BUDGET)
        except (InvalidRequest, ForbiddenField) as error:
            return JsonResponse(failure(None, PARSE_ERROR, error.message))
        with outside_place(requester):
            node = node_of(registry, network)
            answer = RpcProxy(node, partial(send, registry, network, requester.partner_id)).answer(body)
        return HttpResponse(answer, content_type="application/json")
