"""Each answered request leaves one line, which says who asked for what and how it ended, and holds no secret."""

from typing import Any

import pytest
from django.test import Client
from prometheus_client import REGISTRY
from structlog.contextvars import merge_contextvars
from structlog.testing import capture_logs

from partners.models import Partner
from tests.partner_app import PartnerApp, only_v5
from tests.sweepapi.api.strict_urls import SECRET_DETAIL


def line_of(client: Client, path: str, **request: Any) -> dict[str, Any]:
    """Return the line that a GET request leaves, without its duration."""
    with capture_logs([merge_contextvars]) as entries:
        client.get(path, **request)
    (line,) = (dict(entry) for entry in entries if entry["event"] == "request")
    assert 0 <= line.pop("duration_ms") < 10_000
    return line


@pytest.mark.django_db
def test_a_request_leaves_one_line_with_its_id_and_the_partner(api: Client, partner: Partner) -> None:
    line = line_of(api, "/v2/partner", headers={"x-request-id": "find-me"})
    assert line == {
        "event": "request",
        "log_level": "info",
        "request_id": "find-me",
        "method": "GET",
        "route": "/v2/partner",
        "status": 200,
        "partner": str(partner.id),
        "error": None,
    }


@pytest.mark.django_db
def test_requests_are_counted_by_route_and_words_of_the_caller_never_become_labels(api: Client) -> None:
    labels = {"method": "GET", "route": "/v2/partner", "status": "200"}
    others = {"method": "other", "route": "none", "status": "404"}

    def counts() -> list[float]:
        name = "sweepapi_http_requests_total"
        return [REGISTRY.get_sample_value(name, each) or 0 for each in (labels, others)]

    before = counts()
    api.get("/v2/partner")
    api.generic("BREW", "/v2/coffee")
    assert [now - then for now, then in zip(counts(), before, strict=True)] == [1, 1]


@pytest.mark.django_db
def test_a_refused_key_leaves_the_error_code_and_no_partner(anonymous: Client) -> None:
    line = line_of(anonymous, "/v2/partner", headers={"x-api-key": "a-wrong-key"})
    assert (line["status"], line["error"], line["partner"]) == (401, "invalid_api_key", None)
    assert "a-wrong-key" not in str(line)


@pytest.mark.urls("tests.sweepapi.api.strict_urls")
@pytest.mark.parametrize("place", ["view", "page"])
def test_an_unexpected_exception_leaves_the_line_of_a_500_without_what_it_said(place: str) -> None:
    line = line_of(Client(raise_request_exception=False), f"/v2/{place}/unexpected")
    assert (line["status"], line["error"], line["route"]) == (500, "internal_error", f"/v2/{place}/<str:name>")
    assert SECRET_DETAIL not in str(line)


@pytest.mark.urls("tests.sweepapi.api.strict_urls")
def test_an_exception_in_a_middleware_leaves_it_too(settings: Any) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.sweepapi.api.strict_urls.failing_middleware"]
    line = line_of(Client(raise_request_exception=False), "/v2/echo", headers={"x-fail": "unexpected"})
    assert (line["status"], line["error"], line["route"]) == (500, "internal_error", None)


@pytest.mark.parametrize("path", ["/v2/sweep/status/my-secret?key=my-secret", "/my-secret?key=my-secret"])
@pytest.mark.django_db
def test_neither_the_path_nor_the_query_is_in_the_line(api: Client, path: str) -> None:
    line = line_of(api, path)
    assert (line["status"], line["route"]) in [(404, "/v2/sweep/status/<str:sweep_id>"), (404, None)]
    assert "my-secret" not in str(line)


@only_v5
@pytest.mark.usefixtures("each_mode")
@pytest.mark.django_db(transaction=True)
def test_no_line_of_a_build_and_a_confirm_holds_a_key_a_signature_or_the_url_of_a_provider(
    app: PartnerApp, api_key: str, use_providers: Any
) -> None:
    with capture_logs([merge_contextvars]) as entries:
        built = app.build()
        use_providers("http://127.0.0.1:1/secret-of-the-provider")
        app.confirm(built, "0x" + "ab" * 32, status=202)
    events = [entry["event"] for entry in entries]
    assert events.count("request") == 2
    assert {"sweep_status_changed", "provider_failed"} <= set(events)
    assert all("request_id" in entry for entry in entries)
    signature = built["feeAuthorization"]["signature"]
    for secret in (api_key, api_key.rpartition("_")[2], signature, signature.removeprefix("0x"), "secret-of"):
        assert secret not in str(entries)
