"""Every answer of the API is JSON in the envelope and carries a request id, failures of all kinds included."""

import logging
import uuid
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from tests.sweepapi.api.strict_urls import SECRET_DETAIL

pytestmark = pytest.mark.urls("tests.sweepapi.api.strict_urls")


def check_failure(response: Any, status: int, code: str) -> dict[str, Any]:
    assert response.status_code == status
    assert response.headers["Content-Type"] == "application/json"
    body = response.json()
    assert body.keys() == {"ok", "error"}
    assert body["ok"] is False
    error: dict[str, Any] = body["error"]
    assert error.keys() == {"code", "message", "details", "retryable", "requestId", "docUrl"}
    assert error["code"] == code
    assert error["docUrl"].endswith(f"/docs/errors#{code}")
    assert error["requestId"] == response.headers["X-Request-Id"]
    return error


def test_success_is_ok_with_data() -> None:
    response = Client().post("/v2/echo", data={"name": "a"}, content_type="application/json")
    assert response.json() == {"ok": True, "data": {"name": "a"}}


@pytest.mark.parametrize("path", ["/v2/nothing", "/v1/nothing", "/v2", "/", "/v2/echo/", "/nothing.html"])
@pytest.mark.parametrize("method", ["get", "post", "delete"])
def test_unknown_routes_answer_in_the_envelope(path: str, method: str) -> None:
    check_failure(getattr(Client(), method)(path), 404, "not_found")


@pytest.mark.parametrize("method", ["get", "put", "delete", "options", "trace"])
def test_wrong_methods_answer_in_the_envelope(method: str) -> None:
    response = getattr(Client(), method)("/v2/echo")
    check_failure(response, 405, "method_not_allowed")
    assert "POST" in response.headers["Allow"]


def test_an_unexpected_exception_is_logged_in_full_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        response = Client().get("/v2/view/unexpected")
    error = check_failure(response, 500, "internal_error")
    assert error["retryable"] is True
    assert SECRET_DETAIL not in response.content.decode()
    assert SECRET_DETAIL in caplog.text


def test_an_exception_outside_the_api_views_is_not_shown_either() -> None:
    response = Client(raise_request_exception=False).get("/v2/page/unexpected")
    check_failure(response, 500, "internal_error")
    assert SECRET_DETAIL not in response.content.decode()


def test_a_foreign_host_is_refused_in_the_envelope(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["api.example"]
    error = check_failure(Client().get("/v2/echo", headers={"host": "evil.example"}), 400, "invalid_request")
    assert error["docUrl"] == "/docs/errors#invalid_request", "links to no foreign host"


def test_an_unavailable_chain_is_answered_with_retry_after() -> None:
    response = Client().get("/v2/busy")
    assert check_failure(response, 503, "chain_unavailable")["retryable"] is True
    assert response.headers["Retry-After"] == "7"


@pytest.mark.parametrize("theirs", ["abc-123", "A.b_c", "x" * 128])
def test_a_valid_request_id_of_the_caller_is_kept(theirs: str) -> None:
    response = Client().get("/v2/nothing", headers={"x-request-id": theirs})
    assert response.headers["X-Request-Id"] == theirs


@pytest.mark.parametrize(
    "theirs", ["", "x" * 129, "a b", "a\tb", "<script>", "é", "a\0", "a\r\nSet-Cookie: b=c", "a\n", "%0d%0aX-B: c"]
)
def test_an_invalid_request_id_is_replaced(theirs: str) -> None:
    response = Client().get("/v2/nothing", headers={"x-request-id": theirs})
    assert uuid.UUID(response.headers["X-Request-Id"]).version == 7
    assert "Set-Cookie" not in response.headers


def test_the_documentation_of_a_code_is_at_the_host_that_was_asked(settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["api.example"]
    response = Client().get("/v2/nothing", headers={"host": "api.example"}, secure=True)
    assert check_failure(response, 404, "not_found")["docUrl"] == "https://api.example/docs/errors#not_found"


# --- problem details (RFC 9457) ---------------------------------------------------------------------------------------


def test_a_failure_is_a_problem_if_the_caller_prefers_it() -> None:
    headers = {"accept": "application/problem+json", "x-request-id": "find-me"}
    response = Client().post("/v2/echo", {"bps": 0}, content_type="application/json", headers=headers)
    assert (response.status_code, response.headers["Content-Type"]) == (400, "application/problem+json")
    assert response.headers["Vary"] == "Accept"
    assert response.json() == {
        "type": "http://testserver/docs/errors#invalid_request",
        "title": "The request is invalid; details lists each field and the reason.",
        "status": 400,
        "detail": "The request is invalid; details lists each field and the reason.",
        "instance": "urn:request:find-me",
        "ok": False,
        "error": {
            "code": "invalid_request",
            "message": "The request is invalid; details lists each field and the reason.",
            "details": [
                {"field": "bps", "code": "out_of_range", "message": "Ensure this value is greater than or equal to 1."}
            ],
            "retryable": False,
            "requestId": "find-me",
            "docUrl": "http://testserver/docs/errors#invalid_request",
        },
    }


def test_a_problem_has_the_header_fields_of_its_status() -> None:
    response = Client().get("/v2/busy", headers={"accept": "application/problem+json"})
    assert (response.status_code, response.headers["Retry-After"]) == (503, "7")
    assert response.json()["error"]["retryable"] is True


def test_log_lines_carry_the_request_id(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, logger="sweepapi.api.errors.handlers"):
        Client().get("/v2/view/unexpected", headers={"x-request-id": "find-me"})
    assert any("find-me" in str(record.msg) for record in caplog.records)


@pytest.mark.parametrize("path", ["/v2/echo", "/v2/nothing", "/admin/", "/docs/errors"])
def test_a_foreign_host_logs_one_line(settings: Settings, caplog: pytest.LogCaptureFixture, path: str) -> None:
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["api.example"], True
    caplog.set_level("DEBUG")
    response = Client().get(path, headers={"host": "evil.example\t"})
    assert response.status_code == 400
    assert [record.name for record in caplog.records] == ["sweepapi.api.requests.request_log"]


def test_only_our_proxies_say_that_a_request_came_by_tls(settings: Settings) -> None:
    settings.ALLOWED_HOSTS, settings.TRUSTED_PROXIES = ["api.example"], ["10.0.0.0/8"]
    headers = {"host": "api.example", "x-forwarded-proto": "https", "x-forwarded-host": "evil.example"}
    for peer, scheme in (("10.1.2.3", "https"), ("192.0.2.1", "http"), ("127.0.0.1", "http"), ("", "http")):
        response = Client(REMOTE_ADDR=peer).get("/v2/nothing", headers=headers)
        doc_url = check_failure(response, 404, "not_found")["docUrl"]
        assert doc_url == f"{scheme}://api.example/docs/errors#not_found"
