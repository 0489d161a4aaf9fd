"""The OpenAPI document is valid for strict tools, agrees with the service, and has valid examples."""

import base64
import hmac
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from partners.limits import DEFAULTS
from partners.models import Partner
from partners.webhooks import endpoints, signing
from partners.webhooks.attempts import AttemptOutcome
from partners.webhooks.health import note_outcomes
from partners.webhooks.models import WebhookEndpoint, WebhookMessage
from partners.webhooks.payloads import body_of
from partners.webhooks.public_events import MESSAGE_TYPES
from sweepapi.api.errors.error_table import ERROR_TABLE, EVERY, WITH_BODY, WITH_KEY
from sweepapi.evm.contracts.v5 import Authorization
from sweepapi.evm.encoding.addresses import NATIVE_COIN
from sweepapi.fields import UINT256_MAX, checksum_address
from sweepapi.modes import Mode
from sweeps.rails.evm_v4.terms import sweep_ref_of
from sweeps.status_objects import status_objects
from sweeps.views.serializers.requests import BuildRequestSerializer
from tests import openapi
from tests.factories.solana_sweeps import SolanaSweepFactory
from tests.factories.sweeps import SweepFactory, V4SweepFactory
from tests.factories.webhooks import a_message, an_endpoint, owner_of
from tests.openapi import assert_documented, problems
from tests.partner_app import error_of

pytestmark = pytest.mark.django_db

BUILD = "/v2/sweep/build"
CODE_LINE = re.compile(r"^- `([a-z_]+)`: .", re.MULTILINE)
ADDRESS = re.compile(r"\b0x[0-9a-fA-F]{40}\b")


@pytest.fixture
def document() -> dict[str, Any]:
    return openapi.document()


def operations(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in document["paths"].values():
        yield from path.values()


def answers(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the status and the media type object of every response."""
    for operation in operations(document):
        for status, response in operation["responses"].items():
            yield status, response["content"]["application/json"]


def request_of(document: dict[str, Any], path: str) -> dict[str, Any]:
    """Return the media type object of the body of a POST."""
    found: dict[str, Any] = document["paths"][path]["post"]["requestBody"]["content"]["application/json"]
    return found


def example_of(media: dict[str, Any], *, number: int = 0) -> Any:
    """Return an example of a media type object, by default the first."""
    return list(media["examples"].values())[number]["value"]


def built_example(document: dict[str, Any], *, number: int) -> dict[str, Any]:
    """Return the data of an example of a build's answer: on V5 the first, on V4 the second."""
    media = document["paths"][BUILD]["post"]["responses"]["201"]["content"]["application/json"]
    data: dict[str, Any] = example_of(media, number=number)["data"]
    return data


def nodes(node: Any) -> Iterator[Any]:
    """Yield everything in a JSON value, names and itself included."""
    yield node
    if isinstance(node, dict):
        yield from node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from nodes(inner)


def examples(document: dict[str, Any], version: str) -> Iterator[Any]:
    """Yield the examples of what the operations of a version take and answer."""
    for path, methods in document["paths"].items():
        for operation in methods.values() if path.startswith(version) else ():
            for body in (operation.get("requestBody", {}), *operation["responses"].values()):
                for media in body.get("content", {}).values():
                    yield from (one["value"] for one in media.get("examples", {}).values())


def types_by_name(document: dict[str, Any], version: str) -> dict[str, set[type]]:
    """Return the types of JSON that each name has in the examples of a version; null is of any type."""
    found = defaultdict(set)
    for node in nodes(list(examples(document, version))):
        for name, value in node.items() if isinstance(node, dict) else ():
            if value is not None:
                found[name].add(type(value))
    return found


def test_a_name_in_v1_means_what_it_means_in_v2_unless_the_source_gives_it_twice(document: dict[str, Any]) -> None:
    v1, v2 = (types_by_name(document, version) for version in ("/v1/", "/v2/"))
    differing = {name for name, types in v1.items() if name in v2 and types - v2[name]}
    assert differing == {"estimatedOutput", "totals", "transaction"}


def test_it_is_served_as_json(anonymous: Client) -> None:
    response = anonymous.get("/v2/openapi.json")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    assert response.json() == openapi.served()


def test_the_introduction_names_every_step_of_a_sweep_by_an_operation_that_exists(document: dict[str, Any]) -> None:
    named = re.findall(r"`(GET|POST) (/[^`]+)`", document["info"]["description"])
    assert [path for method, path in named if method.lower() not in document["paths"].get(path, {})] == []
    sweeps = {path for path in document["paths"] if path.startswith("/v2/sweep/")}
    assert sweeps - {path for _, path in named} == {"/v2/sweep/history"}


def test_it_is_valid_without_a_warning() -> None:
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", "/dev/null")


def test_a_strict_validator_accepts_it_as_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1.")
    validate(document)


def test_its_schemas_are_json_schema_without_keywords_of_3_0(document: dict[str, Any]) -> None:
    for schema in document["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    assert not {"nullable", "example"} & {node for node in nodes(document) if isinstance(node, str)}


@pytest.mark.parametrize(
    ("component", "field"),
    [("AllowanceIssue", "resetTransaction"), ("SweepState", "transaction"), ("FeeAuthorizationState", "actualFees")],
)
def test_an_object_that_may_be_missing_is_that_object_or_null(
    document: dict[str, Any], component: str, field: str
) -> None:
    schema = document["components"]["schemas"][component]["properties"][field]
    assert problems(schema, None) == []
    assert problems(schema, {}) != []


def test_every_operation_says_whether_it_needs_the_key(document: dict[str, Any]) -> None:
    assert document["components"]["securitySchemes"]["apiKey"]["name"] == "x-api-key"
    security = {operation["operationId"]: operation["security"] for operation in operations(document)}
    assert security.pop("getServiceStatus") == security.pop("getServiceStatusV1") == []
    assert security.pop("getPartner") == security.pop("getSandbox") == [{"apiKey": []}]
    assert {scope for [requirement] in security.values() for scope in requirement["apiKey"]} == {
        "build",
        "confirm",
        "ledger",
        "read",
        "webhooks",
    }
    assert all(len(requirement["apiKey"]) == 1 for [requirement] in security.values())


def test_every_answer_that_is_counted_shows_the_limit_and_every_operation_with_a_key_can_be_refused_by_it(
    document: dict[str, Any],
) -> None:
    shown = {"RateLimit-Policy", "RateLimit"}
    for operation in operations(document):
        responses = operation["responses"]
        assert ("429" in responses) == bool(operation["security"]), operation["operationId"]
        for status, response in responses.items():
            is_counted = bool(operation["security"]) and status not in {"401", "403"}
            assert (shown & response.get("headers", {}).keys()) == (shown if is_counted else set())


def test_the_server_is_the_one_that_serves_the_document(document: dict[str, Any]) -> None:
    assert [server["url"] for server in document["servers"]] == ["/"]


def test_clients_can_tell_success_from_failure_by_ok(document: dict[str, Any]) -> None:
    failure = document["components"]["schemas"]["Failure"]
    assert (failure["properties"]["ok"]["const"], failure["required"]) == (False, ["ok", "error"])
    for status, media in answers(document):
        schema = media["schema"]
        if status.startswith("2"):
            assert (schema["properties"]["ok"]["const"], schema["required"]) == (True, ["ok", "data"])
        else:
            assert schema == {"$ref": "#/components/schemas/Failure"}


def test_every_failure_can_be_a_problem_with_the_same_schema(document: dict[str, Any]) -> None:
    for operation in operations(document):
        for status, response in operation["responses"].items():
            schemas = [media["schema"] for media in response["content"].values()]
            if status.startswith("2"):
                assert "application/problem+json" not in response["content"]
            else:
                assert response["content"].keys() == {"application/json", "application/problem+json"}
                assert schemas[0] == schemas[1]


def test_problems_are_as_documented(api: Client, document: dict[str, Any]) -> None:
    response = api.get("/v2/sweep/history?limit=x", headers={"accept": "application/problem+json"})
    assert problems(document["components"]["schemas"]["Failure"], response.json()) == []


def test_every_answer_is_described(document: dict[str, Any]) -> None:
    for operation in operations(document):
        assert all(response["description"] for response in operation["responses"].values())


def documented_errors(operation: dict[str, Any]) -> set[tuple[int, str]]:
    """Return status and code of the errors of an operation, each of which has an example and a line of text."""
    found: set[tuple[int, str]] = set()
    for status, response in operation["responses"].items():
        if not status.startswith("2"):
            examples = response["content"]["application/json"]["examples"].values()
            codes = [example["value"]["error"]["code"] for example in examples]
            assert CODE_LINE.findall(response["description"]) == codes
            found.update((int(status), code) for code in codes)
    return found


def test_every_operation_documents_exactly_the_errors_of_the_table(document: dict[str, Any]) -> None:
    for operation in operations(document):
        name = operation["operationId"]
        expected = {(row.status, row.code) for row in ERROR_TABLE.values() if name in row.operations}
        assert documented_errors(operation) == expected, name


def test_every_operation_that_the_table_names_exists(document: dict[str, Any]) -> None:
    named = {name for row in ERROR_TABLE.values() for name in row.operations}
    assert named - {operation["operationId"] for operation in operations(document)} == set()


def test_the_groups_of_the_table_are_the_operations_that_need_a_key_and_that_take_a_body(
    document: dict[str, Any],
) -> None:
    by_id = {operation["operationId"]: operation for operation in operations(document)}
    assert set(EVERY) == by_id.keys()
    assert set(WITH_KEY) == {name for name, operation in by_id.items() if operation["security"]}
    assert set(WITH_BODY) == {name for name, operation in by_id.items() if "requestBody" in operation}


def test_every_operation_that_takes_an_id_or_a_month_is_linked_from_an_answer_with_it(document: dict[str, Any]) -> None:
    by_id = {operation["operationId"]: path for path, each in document["paths"].items() for operation in each.values()}
    taken = {
        (operation["operationId"], parameter["name"]): parameter["schema"]
        for operation in operations(document)
        for parameter in operation.get("parameters", [])
    }
    linked: set[str] = set()
    for path, each in document["paths"].items():
        for operation in each.values():
            for status, response in operation["responses"].items():
                for name, link in response.get("links", {}).items():
                    ((parameter, expression),) = link["parameters"].items()
                    assert f"{{{parameter}}}" in by_id[link["operationId"]]
                    assert by_id[link["operationId"]].split("/")[1] == path.split("/")[1]
                    pointer = expression.removeprefix("$response.body#/").split("/")
                    answer = example_of(response["content"]["application/json"])
                    assert status.startswith("2")
                    assert problems(taken[link["operationId"], parameter], value_at(answer, pointer)) == []
                    linked.add(name)
    assert linked == {name for name, path in by_id.items() if "{" in path}


def value_at(node: Any, pointer: list[str]) -> Any:
    for step in pointer:
        node = node[int(step)] if isinstance(node, list) else node[step]
    return node


def test_codes_are_an_open_set(document: dict[str, Any]) -> None:
    code = document["components"]["schemas"]["ApiError"]["properties"]["code"]
    assert "enum" not in code
    assert "sweep_already_confirmed" in code["examples"]


def test_components_have_names_of_the_product(document: dict[str, Any]) -> None:
    names = set(document["components"]["schemas"])
    assert {"BuildRequest", "BuiltSweep", "ConfirmRequest", "SweepState", "ServiceStatus", "Failure"} <= names
    assert [name for name in names if re.search(r"RequestRequest|Enum|Serializer|\d", name)] == []


def test_a_body_is_required_unless_an_empty_object_is_valid(document: dict[str, Any]) -> None:
    for operation in operations(document):
        if body := operation.get("requestBody"):
            schema = body["content"]["application/json"]["schema"]
            assert body.get("required", False) == bool(problems(schema, {})), operation["operationId"]


def test_responses_stay_open_for_new_fields_and_requests_are_closed(document: dict[str, Any]) -> None:
    schemas = document["components"]["schemas"]
    closed = {name for name, schema in schemas.items() if schema.get("additionalProperties") is False}
    of_builds = {"BuildRequest", "TokenRequest", "ExecutionRequest", "WalletRequest"}
    of_v2 = of_builds | {"ConfirmRequest", "CancelRequest", "FinalizeRequest", "EmptyRequest"}
    of_webhooks = {"WebhookRequest", "WebhookChangeRequest", "WebhookReplayRequest"}
    of_v1 = {"SolanaBuildRequest", "SolanaTokenRequest", "SolanaBurnRequest", "DiscoverRequest"}
    of_sandbox = {"AdvanceRequest", "FundRequest"}
    assert closed == of_v1 | of_v2 | of_webhooks | of_sandbox | {"EvmDiscoverRequest"}


USDC = {"mint": "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", "amount": "1"}
# What is changed in the example of a build request.
RIGHT_CHANGES: list[dict[str, Any]] = [
    {},
    {"chain": "arbitrum", "outputMint": NATIVE_COIN, "onUnroutable": "skip", "acceptPriceImpactBps": 10_000},
    {"onLegFailure": "skip", "maxSkipped": 0, "approvals": "unlimited", "clientReference": "#~ 1"},
    {"execution": {"wallet": {"atomic": "ready"}}},
    {"tokens": [USDC | {"amount": str(UINT256_MAX), "symbol": "$USDC", "decimals": 6}]},
    {"tokens": [USDC | {"mint": f"0x{number:040x}"} for number in range(1, 31)], "slippageBps": 5000},
]
WRONG_CHANGES: list[dict[str, Any]] = [
    {"chain": ""},
    {"wallet": "0x12"},
    {"tokens": []},
    {"tokens": [USDC | {"mint": f"0x{number:040x}"} for number in range(1, 32)]},
    {"tokens": [{"mint": USDC["mint"]}]},
    {"tokens": [USDC | {"amount": "0"}]},
    {"tokens": [USDC | {"amount": 1}]},
    {"tokens": [USDC | {"decimals": 256}]},
    {"tokens": [USDC | {"symbol": ""}]},
    {"tokens": [USDC | {"price": "1"}]},
    {"slippageBps": 0},
    {"slippageBps": 5001},
    {"slippageBps": "50"},
    {"onUnroutable": "ignore"},
    {"onLegFailure": "skip", "maxSkipped": -1},
    {"onLegFailure": "skip", "maxSkipped": "1"},
    {"acceptPriceImpactBps": 10_001},
    {"approvals": "none"},
    {"clientReference": ""},
    {"clientReference": "x" * 65},
    {"clientReference": "two\nlines"},
    {"execution": {"wallet": {"atomic": "maybe"}}},
    {"execution": {"wallet": {"atomic": "ready"}, "calls": 1}},
    {"slippage": 1},
]


@pytest.mark.usefixtures("two_chains")
@pytest.mark.parametrize("change", WRONG_CHANGES, ids=str)
def test_a_body_that_the_document_forbids_is_refused(
    api: Client, document: dict[str, Any], change: dict[str, Any]
) -> None:
    media = request_of(document, BUILD)
    body = example_of(media) | change
    as_published = Draft202012Validator({**media["schema"], "components": document["components"]})
    assert not as_published.is_valid(body)
    response = api.post(BUILD, body, content_type="application/json")
    assert error_of(response) == (400, "invalid_request")
    assert_documented(response, path=BUILD)


@pytest.mark.usefixtures("two_chains")
@pytest.mark.parametrize("change", RIGHT_CHANGES, ids=str)
def test_a_body_that_the_document_permits_is_accepted(document: dict[str, Any], change: dict[str, Any]) -> None:
    media = request_of(document, BUILD)
    body = example_of(media) | change
    assert problems(media["schema"], body) == []
    assert BuildRequestSerializer(data=body, context={"mode": Mode.TEST}).is_valid()


def test_every_request_and_every_answer_has_an_example_that_fits_its_schema(document: dict[str, Any]) -> None:
    bodies = [one["requestBody"]["content"]["application/json"] for one in operations(document) if "requestBody" in one]
    assert len(bodies) == len(WITH_BODY)
    media = [*bodies, *(media for _, media in answers(document))]
    for each in media:
        assert each["examples"]
        for example in each["examples"].values():
            assert problems(each["schema"], example["value"]) == []


def test_the_values_that_schemas_suggest_fit_them(document: dict[str, Any]) -> None:
    for schema in nodes(document["components"]["schemas"]):
        if isinstance(schema, dict) and "type" in schema:
            for value in schema.get("examples", ()):
                assert problems(schema, value) == []


def test_every_address_has_its_checksum(document: dict[str, Any]) -> None:
    found = {address for node in nodes(document) if isinstance(node, str) for address in ADDRESS.findall(node)}
    assert len(found) > 10
    assert {address for address in found if checksum_address(address) != address} == set()


def test_the_example_of_a_built_sweep_is_signed_as_it_says(document: dict[str, Any]) -> None:
    built = built_example(document, number=0)
    signed = built["feeAuthorization"]
    authorization = Authorization(
        user=built["transaction"]["from"],
        partner_id=signed["partnerId"],
        partner_recipient=signed["partnerRecipient"],
        protocol_recipient=signed["protocolRecipient"],
        output_token=built["estimatedOutput"]["token"],
        total_fee_bps=built["feeSummary"]["totalFeeBps"],
        partner_share_bps=built["feeSummary"]["partnerShareBps"],
        nonce=int(built["permit2"]["message"]["witness"]["authorizationNonce"]),
        deadline=int(built["permit2"]["message"]["deadline"]),
        legs_hash=signed["legsHash"],
    )
    typed_data = authorization.typed_data(chain_id=built["chainId"], contract=built["contractAddress"])
    assert typed_data.digest == signed["digest"]


def test_the_check_of_real_answers_notices_a_field_that_is_not_documented(
    api: Client, document: dict[str, Any]
) -> None:
    response = api.get("/v2/partner")
    schema = document["paths"]["/v2/partner"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    answer = response.json()
    assert problems(schema, answer) == []
    answer["data"]["secret"] = "x"
    assert problems(schema, answer) != []


def test_the_example_on_v4_is_the_same_sweep_under_its_own_reference(document: dict[str, Any]) -> None:
    on_v5, built = (built_example(document, number=number) for number in (0, 1))
    assert list(built) == list(on_v5)
    assert (built["mode"], built["feeAuthorization"]) == ("v4_fallback", None)
    witness = built["permit2"]["message"]["witness"]
    assert witness["sweepRef"] == sweep_ref_of(UUID(built["sweepId"]))
    route, order, nonce, deadline, _ = built["transactionTemplate"]["args"]
    assert order == [witness[name] for name in ("outputToken", "feeBps", "sweepRef")]
    assert ([leg[2] for leg in route[0]], route[2]) == (witness["floors"], witness["maxSkipped"])
    assert [nonce, deadline] == [built["permit2"]["message"][name] for name in ("nonce", "deadline")]


# --- messages to webhooks ---------------------------------------------------------------------------------------------


def message_of(document: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the media type object of a message's body."""
    media: dict[str, Any] = document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
    return media


def test_every_type_of_message_is_described_with_its_headers_and_examples_that_fit(document: dict[str, Any]) -> None:
    assert document["webhooks"].keys() == set(MESSAGE_TYPES)
    for kind, webhook in document["webhooks"].items():
        headers = {parameter["name"] for parameter in webhook["post"]["parameters"]}
        assert headers == {"webhook-id", "webhook-timestamp", "webhook-signature"}
        assert (webhook["post"]["security"], webhook["post"]["summary"] != "") == ([], True)
        media = message_of(document, kind)
        assert media["examples"]
        for example in media["examples"].values():
            assert example["value"]["type"] == kind
            assert problems(media["schema"], example["value"]) == []
            assert problems(media["schema"], {**example["value"], "type": "sweep.built"}) != []
            data = example["value"]["data"]
            assert data.get("sweep", data).get("status") == data.get("status")


@pytest.mark.parametrize("payload", ["thin", "full"])
def test_messages_about_sweeps_of_every_rail_are_as_documented(document: dict[str, Any], payload: str) -> None:
    sweeps = [SweepFactory.create(), V4SweepFactory.create(), SolanaSweepFactory.create()]
    shown = status_objects([sweep.id for sweep in sweeps]) if payload == "full" else {}
    for sweep in sweeps:
        message = a_message(sweep.partner, network=sweep.network, sweep_ref=sweep.id)
        body = json.loads(body_of(message, shown.get(sweep.id)))
        assert ("sweep" in body["data"]) == (payload == "full")
        assert problems(message_of(document, "sweep.completed")["schema"], body) == []


def test_a_ping_and_a_notice_are_as_documented(document: dict[str, Any], partner: Partner) -> None:
    one, other = an_endpoint(partner), an_endpoint(partner)
    endpoints.ping(owner_of(partner), one.id)
    now = timezone.now()
    WebhookEndpoint.objects.filter(id=other.id).update(
        failures=99, failing_since=now - timedelta(days=4), paused_until=now
    )
    other.refresh_from_db()
    note_outcomes(other, [AttemptOutcome(1, 500, "status")], now=now)
    kinds = set()
    for message in WebhookMessage.objects.all():
        body = json.loads(body_of(message, None))
        assert problems(message_of(document, message.type)["schema"], body) == []
        kinds.add(message.type)
    assert kinds == {"webhook.ping", "webhook.disabled"}


# --- limits -----------------------------------------------------------------------------------------------------------


def test_the_answers_after_which_to_try_again_later_say_when(document: dict[str, Any]) -> None:
    for operation in operations(document):
        for status, response in operation["responses"].items():
            in_progress = "idempotency_in_progress" in CODE_LINE.findall(response["description"])
            named = set(response.get("headers", {}))
            waits = (operation["operationId"], status) == ("confirmSweep", "202")
            is_later = status in ("429", "503") or in_progress or waits
            assert ("Retry-After" in named) == is_later, operation["operationId"]
            counted = bool(operation["security"]) and status not in ("401", "403")
            assert ({"RateLimit", "RateLimit-Policy"} <= named) == counted, operation["operationId"]


def test_the_introduction_names_the_default_limits(document: dict[str, Any]) -> None:
    numbers = [(f"{limit.per_second:g}", f"({limit.burst} at once)") for limit in DEFAULTS.values()]
    found = re.findall(r"(\d+) [a-z ]+ (\(\d+ at once\))", document["info"]["description"].replace(" a second", ""))
    assert found == numbers


def test_the_introduction_verifies_a_signature(document: dict[str, Any]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", document["info"]["description"], re.DOTALL)
    now, secrets = timezone.now(), [signing.generate(), signing.generate()]
    for secret, body, genuine in ((secrets[1], b"{}", True), (signing.generate(), b"{}", False)):
        headers = {
            "webhook-id": "m",
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": signing.signature(secrets, message_id="m", at=now, body=body),
        }
        names = {"headers": headers, "body": body, "secret": secret, "hmac": hmac, "base64": base64}
        exec(code, names)  # noqa: S102 - what partners read
        assert names["genuine"] is genuine
