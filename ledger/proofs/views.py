"""The endpoints of monthly statements and of proofs against them."""

from typing import Any, ClassVar

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from ledger.models import Checkpoint
from ledger.proofs import proving
from ledger.proofs.checkpoints import checkpoint_of
from ledger.proofs.serializers import MONTH, ProofQuery, ProofSerializer, StatementQuery, StatementSerializer
from ledger.proofs.trees import Tree
from ledger.statements.month import Month
from ledger.views import TAG
from partners.authentication import Requester, requester_of
from sweepapi.api.input.pagination import Scope
from sweepapi.api.openapi.schema import failures
from sweepapi.errors import StatementNotFound

IN_PATH = OpenApiParameter("month", MONTH, OpenApiParameter.PATH, description="A month in UTC that is over.")


class StatementViewSet(ViewSet):
    """The statements of the key's partner and mode."""

    scopes: ClassVar = {"retrieve": "ledger", "proof": "ledger"}

    @extend_schema(
        operation_id="getStatement",
        summary="Get a month of your ledger, with the signed state of your tree at its end",
        tags=[TAG],
        parameters=[IN_PATH, StatementQuery],
        responses={200: StatementSerializer, **failures("getStatement")},
    )
    def retrieve(self, request: Request, month: str) -> Response:
        """Return one page of the month's records, oldest first, with the same checkpoint each time.

        An entry belongs to the month of its `numberedAt`, and the statements begin with the month of your first. The
        records of all pages, behind the hashes of `before`, give the root that is signed;
        `examples/verify_statement.py` in our repository computes it.

        A month has a statement some minutes after its end, and until then the answer is 409 `statement_not_ready`; no
        statement is provisional. Nothing is added to a month that was signed.
        """
        requester = requester_of(request)
        query = StatementQuery.read(request.query_params, mode=requester.mode)
        chosen, scope = _month(month), _scope(requester, month)
        first = int.from_bytes(scope.unseal(query["cursor"])) if "cursor" in query else None
        page = proving.statement_page(_tree(requester), chosen, first=first, limit=query["limit"])
        shown = {
            **_shown(page.checkpoint),
            "before": page.before,
            "totals": page.checkpoint.totals,
            "records": page.records,
            "nextCursor": None if page.next_number is None else scope.seal(page.next_number.to_bytes(8)),
        }
        return Response(shown)

    @extend_schema(
        operation_id="getStatementProof",
        summary="Prove that an entry is in a statement's tree, or that the tree continues an earlier one",
        tags=[TAG],
        parameters=[IN_PATH, ProofQuery],
        responses={200: ProofSerializer, **failures("getStatementProof")},
    )
    def proof(self, request: Request, month: str) -> Response:
        """Return the hashes of RFC 9162 that prove it against the checkpoint of the month.

        `entry` asks for the first, `from` for the second. Keep the checkpoints that you get: that of each month has to
        continue those before it, as long as the last part of its first line, the era, is the same. After a restore of
        our database we begin a new era and tell you, and you compare the entries yourself.
        """
        requester = requester_of(request)
        query = ProofQuery.read(request.query_params, mode=requester.mode)
        tree = _tree(requester)
        checkpoint = checkpoint_of(tree, _month(month))
        entry, earlier = query.get("entry"), query.get("earlier")
        shown = {
            **_shown(checkpoint),
            "inclusion": None if entry is None else proving.inclusion(tree, checkpoint, entry),
            "consistency": None if earlier is None else proving.consistency(tree, checkpoint, earlier),
        }
        return Response(shown)


def _tree(requester: Requester) -> Tree:
    return Tree(requester.partner_id, requester.mode)


def _scope(requester: Requester, month: str) -> Scope:
    return Scope("statement", requester.partner_id, requester.mode, {"month": month})


def _month(text: str) -> Month:
    try:
        return Month.parse(text)
    except ValueError as error:
        raise StatementNotFound from error


def _shown(checkpoint: Checkpoint) -> dict[str, Any]:
    tree = {"size": checkpoint.size, "root": bytes(checkpoint.root).hex()}
    return {"month": checkpoint.month, "checkpoint": checkpoint.note, "tree": tree}
