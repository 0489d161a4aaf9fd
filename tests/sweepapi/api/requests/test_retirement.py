"""An operation that will go says so in every answer, and in the OpenAPI document."""

from datetime import UTC, datetime

import pytest
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from sweepapi.api.requests.retirement import RETIRED, Retirement

pytestmark = pytest.mark.django_db

GOING = Retirement(datetime(2027, 1, 1, tzinfo=UTC), datetime(2027, 7, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    ("operation", "path", "status"),
    [
        ("GET /v1/status", "/v1/status", 200),
        ("GET /v2/sweep/status/{sweep_id}", "/v2/sweep/status/0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071", 404),
    ],
)
def test_every_answer_of_an_operation_that_will_go_says_when(
    api: Client, monkeypatch: pytest.MonkeyPatch, operation: str, path: str, status: int
) -> None:
    monkeypatch.setitem(RETIRED, operation, GOING)
    response = api.get(path)
    assert response.status_code == status
    assert response.headers["Deprecation"] == "@1798761600"
    assert response.headers["Sunset"] == "Thu, 01 Jul 2027 00:00:00 GMT"


def test_other_answers_announce_nothing(api: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RETIRED, "GET /v1/status", GOING)
    for path in ("/v2/partner", "/v2/nothing"):
        assert not {"Deprecation", "Sunset"} & set(api.get(path).headers)


def test_the_document_marks_it_as_deprecated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RETIRED, "GET /v1/status", GOING)
    document = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    marked = [path for path, operations in document["paths"].items() if operations.get("get", {}).get("deprecated")]
    assert marked == ["/v1/status"]
