"""The Accept header chooses among the formats of an endpoint; failures are readable whatever it says."""

import pytest
from django.test import Client

from tests.sweepapi.api.test_envelope import check_failure

pytestmark = pytest.mark.urls("tests.sweepapi.api.strict_urls")

JSON, CSV, PROBLEM = "application/json", "text/csv", "application/problem+json"
FIREFOX = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
CHROME = (
    "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8,"
    "application/signed-exchange;v=b3;q=0.7"
)


@pytest.mark.parametrize(
    "accept",
    [
        None,
        "",
        "*/*",
        "application/*",
        "application/json",
        "Application/JSON; charset=utf-8",
        "application/json;q=0.001",
        "application/json;q=1.5",
        "application/json; x*=unknown'en'a",
        "text/csv, application/json;q=0.5",
        "application/problem+json",
        "application/problem+json;q=0.1",
        "application/problem+json, application/json",
        FIREFOX,
        CHROME,
    ],
)
def test_an_endpoint_of_json_alone_answers_json(accept: str | None) -> None:
    headers = {} if accept is None else {"accept": accept}
    response = Client().post("/v2/echo", data={}, content_type="application/json", headers=headers)
    assert (response.status_code, response.headers["Content-Type"]) == (200, JSON)


@pytest.mark.parametrize(
    "accept",
    [
        "text/html",
        "application/xml",
        "text/csv;q=0.1",
        "nonsense",
        "json",
        "*/json",
        "application/json;q=0",
        "application/json;q=0, */*",
        "*/*;q=0",
        "application/problem+json;q=0",
        ",",
    ],
)
def test_an_endpoint_without_an_accepted_format_answers_406_before_it_acts(accept: str) -> None:
    body = {"bps": 0}  # would be refused if it were read
    response = Client().post("/v2/echo", data=body, content_type="application/json", headers={"accept": accept})
    check_failure(response, 406, "not_acceptable")


@pytest.mark.parametrize(
    ("accept", "chosen"),
    [
        (None, JSON),
        ("*/*", JSON),
        ("text/csv", CSV),
        ("text/*", CSV),
        ("application/json, text/csv", JSON),
        ("text/csv, application/json", JSON),
        ("application/json;q=0.5, text/csv;q=0.8", CSV),
        ("application/json;q=0.5, */*;q=0.8", CSV),
        ("text/csv;q=0, */*", JSON),
        ("text/csv;q=0.9, */*;q=0.1", CSV),
        ("text/csv, application/problem+json", CSV),
        ("application/problem+json", JSON),
        (FIREFOX, JSON),
    ],
)
def test_the_best_of_two_formats_is_chosen(accept: str | None, chosen: str) -> None:
    response = Client().get("/v2/two-formats", headers={} if accept is None else {"accept": accept})
    assert response.status_code == 200
    assert response.headers["Content-Type"].split(";")[0] == chosen
    assert response.headers["Vary"] == "Accept"
    assert response.content == (b"a,b" if chosen == CSV else b'{"ok":true,"data":["a","b"]}')


def test_a_failure_is_json_even_if_only_another_format_is_accepted() -> None:
    response = Client().get("/v2/two-formats?fail", headers={"accept": "text/csv"})
    check_failure(response, 503, "chain_unavailable")


@pytest.mark.parametrize("path", ["/v2/nothing", "/v2/page/unexpected"])
def test_a_failure_outside_the_views_is_json_whatever_is_accepted(path: str) -> None:
    response = Client(raise_request_exception=False).get(path, headers={"accept": "text/csv"})
    assert response.headers["Content-Type"] == JSON
    assert response.json()["ok"] is False


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("application/problem+json", PROBLEM),
        ("Application/Problem+JSON; charset=utf-8", PROBLEM),
        ("application/json, application/problem+json", PROBLEM),
        ("text/csv, application/problem+json", PROBLEM),
        ("application/problem+json;q=0.5, */*", PROBLEM),
        ("application/json, application/problem+json;q=0.9", JSON),
        ("application/problem+json;q=0", JSON),
        ("application/json", JSON),
        ("application/*", JSON),
        ("*/*", JSON),
        ("", JSON),
    ],
)
@pytest.mark.parametrize("path", ["/v2/busy", "/v2/nothing", "/v2/page/unexpected"])
def test_a_failure_is_a_problem_only_if_that_is_named_and_not_less_welcome(path: str, accept: str, form: str) -> None:
    response = Client(raise_request_exception=False).get(path, headers={"accept": accept})
    assert response.headers["Content-Type"] == form
    assert ("type" in response.json()) == (form == PROBLEM)
