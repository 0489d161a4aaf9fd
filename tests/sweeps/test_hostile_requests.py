"""Requests of every operation that no partner's client sends by accident: refused, and never a fault of ours."""

import gzip
import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from partners.models import Partner
from partners.webhooks import endpoints
from partners.webhooks.endpoints import Owner
from partners.webhooks.models import WebhookDelivery, WebhookEndpoint
from sweepapi.api.input.budgets import MAX_DEPTH
from sweepapi.modes import Mode
from sweeps.models import Sweep
from tests import openapi
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory, V4SweepFactory
from tests.factories.webhooks import an_endpoint, owner_of
from tests.partner_app import error_of

pytestmark = pytest.mark.django_db

UNKNOWN = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"
HASH = {"txHash": "0x" + "ab" * 32}
# In a statement: an id, a time, or the number of a savepoint.
VALUE = re.compile(r"'[0-9a-f]{8}-?[0-9a-f-]{23,27}'|'\d{4}-\d\d-\d\dT[^']+'|\"s\d+_x\d+\"")
PATH_PARAMETER = re.compile(r"\{\w+\}")
# What is sent where an empty body is refused, by the end of the path.
SIGNED = {"execution": "permit2", "signatures": ["0x11"]}
BODY_BY_ENDING: dict[str, dict[str, Any]] = {
    "confirm": HASH,
    "finalize": SIGNED,
    "replay": {"since": "2026-01-31T12:00:00Z"},
}


class Operation(NamedTuple):
    """One of the OpenAPI document."""

    method: str
    path: str
    facts: dict[str, Any]


@pytest.fixture
def operations() -> list[Operation]:
    paths = openapi.document()["paths"]
    return [Operation(method, path, facts) for path, methods in paths.items() for method, facts in methods.items()]


def send(api: Client, operation: Operation, path: str, body: bytes = b"{}", **headers: str) -> Any:
    data = body if "requestBody" in operation.facts else b""
    return api.generic(operation.method.upper(), path, data, "application/json", headers=headers or None)


@pytest.mark.parametrize("text", ["%00", "a%00b", "%FF", "%ED%A0%80", "%E2%80%AE", "x" * 3_000])
def test_no_query_parameter_takes_what_is_not_text(
    api: Client, partner: Partner, operations: list[Operation], text: str
) -> None:
    webhook_id, tried = str(an_endpoint(partner).id), 0
    for operation in operations:
        for parameter in operation.facts.get("parameters", ()):
            if parameter["in"] == "query":
                path = PATH_PARAMETER.sub(webhook_id, operation.path.replace("{month}", "2026-01"))
                response = send(api, operation, f"{path}?{parameter['name']}={text}")
                assert error_of(response) in [(400, "invalid_request"), (400, "unsupported_chain")], parameter["name"]
                tried += 1
    assert tried > 10


@pytest.mark.parametrize("text", ["%00", "%FF", "%0d%0aX-Injected:%20yes", "..%2f..", "x" * 3_000, UNKNOWN.upper()])
def test_an_id_that_was_never_given_out_is_not_found(api: Client, operations: list[Operation], text: str) -> None:
    tried = 0
    for operation in operations:
        if "{" in operation.path:
            body = json.dumps(BODY_BY_ENDING.get(operation.path.rpartition("/")[2], {})).encode()
            response = send(api, operation, PATH_PARAMETER.sub(text, operation.path), body, **{"Idempotency-Key": "k"})
            assert response.status_code == 404, operation
            assert "X-Injected" not in response.headers
            tried += 1
    assert tried > 4


BODIES = {
    "UTF-16": '{"chain": "base"}'.encode("utf-16"),
    "Latin-1": '{"chain": "é"}'.encode("latin-1"),
    "a byte order mark": b"\xef\xbb\xbf{}",
    "compressed": gzip.compress(b"{}"),
    "a NUL between tokens": b'{\0"chain": "base"}',
    "a NUL in a name": b'{"\\u0000": 1}',
    "a lone surrogate": b'{"chain": "\\ud800"}',
    "duplicate names": b'{"chain": "base", "chain": "base"}',
    "too deep": b'{"chain": ' + b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"}",
    "as deep as it is long": b"[" * 200_000,
    "not an object": b"[]",
    "two values": b"{} {}",
    "NaN": b'{"slippageBps": NaN}',
    "a number beyond all doubles": b'{"slippageBps": 1e400}',
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_no_operation_takes_a_body_that_is_not_strict_json(
    api: Client, operations: list[Operation], body: bytes
) -> None:
    tried = 0
    for operation in operations:
        if "requestBody" in operation.facts:
            response = send(api, operation, PATH_PARAMETER.sub(UNKNOWN, operation.path), body)
            # Without a cluster, builds on Solana have no chain by default, whatever else is wrong.
            assert error_of(response) in [(400, "invalid_request"), (400, "unsupported_chain")], operation
            tried += 1
    assert tried > 7


# --- ids of other partners --------------------------------------------------------------------------------------------

OF_A_SWEEP: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/v1/sweep/status/{}", {}),
    ("GET", "/v1/sweep/status/{}/receipt", {}),
    ("GET", "/v2/sweep/status/{}", {}),
    ("GET", "/v2/sweep/status/{}/receipt", {}),
    ("POST", "/v2/sweep/status/{}/confirm", HASH),
    ("POST", "/v2/sweep/build/{}/refresh", {}),
    ("POST", "/v2/sweep/status/{}/finalize", SIGNED),
    ("POST", "/v2/sweep/status/{}/cancel", {}),
    ("POST", "/v2/sweep/status/{}/cancel", {"onChain": True}),
]


@pytest.fixture(params=["of another partner", "of another partner, on V4", "on a network of live keys"])
def theirs(request: pytest.FixtureRequest, partner: Partner) -> Sweep:
    """A sweep that the key does not reach."""
    match request.param:
        case "of another partner":
            return SweepFactory.create()
        case "of another partner, on V4":
            return V4SweepFactory.create()
    return SweepFactory.create(partner=partner, network="eip155:8453")


def statements(api: Client, method: str, path: str, body: object) -> Iterator[Any]:
    """Yield the answer without the request's id, and then each statement that it took."""
    with CaptureQueriesContext(connection) as captured:
        response = api.generic(method, path, json.dumps(body), content_type="application/json")
    error = response.json()["error"]
    assert error.pop("requestId")
    yield response.status_code, error
    for query in captured:
        yield VALUE.sub("?", query["sql"])


@pytest.mark.parametrize("sent", OF_A_SWEEP, ids=str)
def test_a_sweep_that_the_key_does_not_reach_is_answered_by_the_same_statements_as_a_missing_one(
    api: Client, theirs: Sweep, sent: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = sent
    api.get("/v2/partner")  # records the use of the key
    missing = list(statements(api, method, path.format(UNKNOWN), body))
    assert missing[0][0] == 404
    assert list(statements(api, method, path.format(theirs.id), body)) == missing
    assert (theirs.transactions.count(), theirs.events.count()) == (0, 0)


OF_A_WEBHOOK: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/v2/webhooks/{}", {}),
    ("PATCH", "/v2/webhooks/{}", {"enabled": True}),
    ("DELETE", "/v2/webhooks/{}", {}),
    ("GET", "/v2/webhooks/{}/deliveries", {}),
    ("POST", "/v2/webhooks/{}/ping", {}),
    ("POST", "/v2/webhooks/{}/replay", {"since": "2026-01-31T12:00:00Z"}),
    ("POST", "/v2/webhooks/{}/rotate-secret", {}),
]


@pytest.fixture(params=["of another partner", "of live keys", "deleted"])
def their_webhook(request: pytest.FixtureRequest, partner: Partner) -> WebhookEndpoint:
    """An endpoint that the key does not reach."""
    match request.param:
        case "of another partner":
            return an_endpoint(PartnerFactory.create())
        case "of live keys":
            return endpoints.create(Owner(partner.id, Mode.LIVE), {"url": "https://partner.example/hooks"}).endpoint
    return endpoints.delete(owner_of(partner), an_endpoint(partner).id)


@pytest.mark.parametrize("sent", OF_A_WEBHOOK, ids=str)
def test_a_webhook_that_the_key_does_not_reach_is_answered_by_the_same_statements_as_a_missing_one(
    api: Client, their_webhook: WebhookEndpoint, sent: tuple[str, str, dict[str, Any]]
) -> None:
    method, path, body = sent
    api.get("/v2/partner")
    before = WebhookEndpoint.objects.values().get()
    missing = list(statements(api, method, path.format(UNKNOWN), body))
    assert missing[0][0] == 404
    assert list(statements(api, method, path.format(their_webhook.id), body)) == missing
    assert (WebhookEndpoint.objects.values().get(), WebhookDelivery.objects.count()) == (before, 0)
