"""Exceptions of Django, DRF and the database are answered with a code of ours, wherever they are raised."""

import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle
from rest_framework.views import APIView

from partners.views.partner import PartnerViewSet
from tests.sweepapi.api.strict_urls import EXCEPTIONS, SECRET_DETAIL
from tests.sweepapi.api.test_envelope import check_failure

pytestmark = pytest.mark.urls("tests.sweepapi.api.strict_urls")

EXPECTED = {
    "drf-validation": (400, "invalid_request"),
    "drf-parse": (400, "invalid_request"),
    "drf-authentication-failed": (401, "invalid_api_key"),
    "drf-not-authenticated": (401, "missing_api_key"),
    "drf-not-found": (404, "not_found"),
    "drf-method-not-allowed": (405, "method_not_allowed"),
    "drf-not-acceptable": (406, "not_acceptable"),
    "drf-unsupported-media-type": (415, "unsupported_media_type"),
    "drf-throttled": (429, "rate_limited"),
    "drf-throttled-without-end": (429, "rate_limited"),
    "http404": (404, "not_found"),
    "suspicious": (400, "invalid_request"),
    "data-too-big": (413, "payload_too_large"),
    "too-many-fields": (400, "invalid_request"),
    "multipart": (400, "invalid_request"),
    "bad-request": (400, "invalid_request"),
    "database-operational": (503, "service_unavailable"),
    "database-interface": (503, "service_unavailable"),
    "unexpected": (500, "internal_error"),
}
DATABASE_FAILURES = [name for name, (status, _) in EXPECTED.items() if status == 503]
PLACES: dict[str, Callable[[str], Any]] = {
    "view": lambda name: client().get(f"/v2/view/{name}"),
    "authentication": lambda name: client().get(f"/v2/authentication/{name}"),
    "page": lambda name: client().get(f"/v2/page/{name}"),
    "middleware": lambda name: client().get("/v2/busy", headers={"x-fail": name}),
}


def client() -> Client:
    return Client(raise_request_exception=False)


@pytest.fixture(autouse=True)
def middleware_that_fails(settings: Settings) -> None:
    settings.MIDDLEWARE = [*settings.MIDDLEWARE, "tests.sweepapi.api.strict_urls.failing_middleware"]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", EXCEPTIONS)
def test_an_exception_is_answered_with_its_code(place: str, name: str) -> None:
    response = PLACES[place](name)
    check_failure(response, *EXPECTED[name])
    assert SECRET_DETAIL not in response.content.decode()


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("name", DATABASE_FAILURES)
def test_an_unavailable_database_is_logged_by_type_only(
    place: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    response = PLACES[place](name)
    assert response.headers["Retry-After"] == "2"
    record, line = caplog.records
    assert line.name == "sweepapi.api.requests.request_log"
    assert record.levelno == logging.WARNING
    assert type(EXCEPTIONS[name]).__name__ in record.getMessage()
    assert SECRET_DETAIL not in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("name", [name for name, (status, _) in EXPECTED.items() if status < 500])
def test_a_mistake_of_the_caller_is_not_logged_as_an_error_of_the_api(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    PLACES["view"](name)
    assert all(record.levelno < logging.ERROR for record in caplog.records)


@pytest.mark.parametrize("place", PLACES)
def test_a_throttled_caller_is_told_when_to_retry(place: str) -> None:
    assert PLACES[place]("drf-throttled").headers["Retry-After"] == "7"
    assert "Retry-After" not in PLACES[place]("drf-throttled-without-end").headers


class OncePerMinute(SimpleRateThrottle):
    rate = "1/min"
    timer = staticmethod(lambda: 1_000.0)

    def get_cache_key(self, request: Request, view: APIView) -> str:  # noqa: ARG002 DRF's signature
        return "everybody"


@pytest.mark.django_db
def test_a_partner_that_drf_throttles_learns_when_to_return(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PartnerViewSet, "throttle_classes", [OncePerMinute])
    assert api.get("/v2/partner").status_code == 200
    response = api.get("/v2/partner")
    assert check_failure(response, 429, "rate_limited")["retryable"] is True
    assert response.headers["Retry-After"] == "60"


def test_a_refused_database_connection_is_answered_503(
    transactional_db: None,  # noqa: ARG001 a connection of its own
    api: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connection.close()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "HOST", "127.0.0.1")
        patch.setitem(connection.settings_dict, "PORT", "1")
        response = api.get("/v2/partner")
    check_failure(response, 503, "service_unavailable")
    assert api.get("/v2/partner").status_code == 200
