"""A body is read literally or refused with the place and the reason."""

import json
import time
from io import BytesIO
from typing import Any

import pytest
from django.test import Client, RequestFactory

from sweepapi.api.input.budgets import MAX_BODY_BYTES
from sweepapi.fields import UINT256_MAX

pytestmark = [pytest.mark.urls("tests.sweepapi.api.strict_urls")]

MINT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


def post(body: bytes | str | dict[str, Any], content_type: str = "application/json") -> Any:
    raw = json.dumps(body) if isinstance(body, dict) else body
    return Client().post("/v2/echo", data=raw, content_type=content_type)


def error_of(response: Any) -> tuple[int, str]:
    return response.status_code, response.json()["error"]["code"]


def details_of(body: dict[str, Any]) -> set[tuple[str, str]]:
    response = post(body)
    assert error_of(response) == (400, "invalid_request")
    return {(detail["field"], detail["code"]) for detail in response.json()["error"]["details"]}


def test_a_good_body_passes() -> None:
    response = post({"name": " a ", "bps": 50, "tokens": [{"mint": MINT.lower(), "amount": str(UINT256_MAX)}]})
    assert response.status_code == 200
    data = response.json()["data"]
    assert data["name"] == " a "
    assert data["tokens"] == [{"mint": MINT, "amount": UINT256_MAX}]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'name': 'a'}",
        b'{"name": "a",}',
        b'{"name": "a"} {}',
        b'\xef\xbb\xbf{"name": "a"}',
        b'{"bps": NaN}',
        b'{"bps": -Infinity}',
        b'{"bps": 1e400}',
        b'{"bps": -1.5E309}',
        b'{"bps": 01}',
        b'{"name": "\xff"}',
        b'{"name": "\\ud800"}',
        b'{"\\udfff": 1}',
        b'["a"]',
        b'"a"',
        b"null",
        b"12",
        b'{"bps": ' + b"9" * 79 + b"}",
        b'{"bps": ' + b"9" * 200_000 + b"}",
    ],
    ids=lambda body: repr(body[:24]),
)
def test_a_body_that_cannot_be_read_as_a_strict_json_object_is_refused(body: bytes) -> None:
    response = Client().post("/v2/echo", data=body or b" ", content_type="application/json")
    assert error_of(response) == (400, "invalid_request")
    assert response.json()["error"]["details"] == [], "refused by a field, so it was read as JSON"


def test_duplicate_names_are_refused_at_any_depth() -> None:
    response = post('{"tokens": [{"mint": "a", "amount": "1", "amount": "2"}]}')
    assert error_of(response) == (400, "invalid_request")
    assert response.json()["error"]["details"][0] == {
        "field": "amount",
        "code": "duplicate_field",
        "message": "This name occurs twice in one object.",
    }


def test_a_duplicate_name_that_cannot_be_encoded_does_not_break_the_answer() -> None:
    response = post('{"\\ud800": 1, "\\ud800": 2}')
    assert error_of(response) == (400, "invalid_request")


def nested(depth: int) -> str:
    """Return an object that is ``depth`` levels deep, itself the first."""
    return '{"name":' + "[" * (depth - 1) + "]" * (depth - 1) + "}"


def test_sixteen_levels_are_read_and_seventeen_refused() -> None:
    assert details_of(json.loads(nested(16))) == {("name", "invalid_type")}
    response = post(nested(17))
    assert error_of(response) == (400, "invalid_request")
    assert "16 levels" in response.json()["error"]["message"]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_body_as_deep_as_it_is_long_is_refused(opening: str) -> None:
    response = post('{"name":' + opening * (200_000 // len(opening)))
    assert error_of(response) == (400, "invalid_request")


def padded(size: int) -> bytes:
    return b'{"name": "a"' + b" " * (size - 13) + b"}"


def test_256_kib_are_read_and_one_byte_more_is_too_large() -> None:
    assert post(padded(MAX_BODY_BYTES)).status_code == 200
    assert error_of(post(padded(MAX_BODY_BYTES + 1))) == (413, "payload_too_large")


@pytest.mark.parametrize(("size", "status"), [(MAX_BODY_BYTES, 200), (MAX_BODY_BYTES + 1, 413)])
def test_a_body_without_content_length_is_read_within_the_same_limit(size: int, status: int) -> None:
    body = padded(size)
    environ = RequestFactory().post("/v2/echo", data=body, content_type="application/json").environ
    del environ["CONTENT_LENGTH"]
    environ |= {"wsgi.input": BytesIO(body), "HTTP_TRANSFER_ENCODING": "chunked", "wsgi.input_terminated": True}
    assert Client().handler(environ).status_code == status


@pytest.mark.parametrize(
    "content_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/*",
        "*/*",
        "xml",
    ],
)
def test_only_json_is_a_supported_media_type(content_type: str) -> None:
    assert error_of(post('{"name": "a"}', content_type=content_type)) == (415, "unsupported_media_type")


@pytest.mark.parametrize("content_type", ["application/json; charset=utf-8", "Application/JSON"])
def test_json_is_recognised_with_parameters_and_in_any_case(content_type: str) -> None:
    assert post('{"name": "a"}', content_type=content_type).status_code == 200


@pytest.mark.parametrize("bps", ["50", 50.0, True, None, [50], {"a": 1}])
def test_only_a_json_integer_is_an_integer(bps: object) -> None:
    response = post(json.dumps({"bps": bps}))
    assert [(d["field"], d["code"]) for d in response.json()["error"]["details"]] == [("bps", "invalid_type")]


@pytest.mark.parametrize("bps", [0, 5001, -1])
def test_an_integer_out_of_bounds_is_out_of_range(bps: int) -> None:
    assert details_of({"bps": bps}) == {("bps", "out_of_range")}


@pytest.mark.parametrize("name", [1, 1.5, True, None, ["a"], {"a": "b"}])
def test_only_a_json_string_is_a_string(name: object) -> None:
    assert details_of({"name": name}) == {("name", "invalid_type")}


@pytest.mark.parametrize(
    ("amount", "code"),
    [
        ("0", "invalid_format"),
        ("-1", "invalid_format"),
        ("+1", "invalid_format"),
        ("01", "invalid_format"),
        ("1.0", "invalid_format"),
        ("1e3", "invalid_format"),
        ("0x10", "invalid_format"),
        (" 1", "invalid_format"),
        ("1\n", "invalid_format"),
        ("1_000", "invalid_format"),
        ("\u0661", "invalid_format"),
        ("", "invalid_format"),
        ("1" * 79, "invalid_format"),
        (str(UINT256_MAX + 1), "out_of_range"),
        (1, "invalid_type"),
        (1.0, "invalid_type"),
        (None, "invalid_type"),
    ],
)
def test_an_amount_is_a_plain_decimal_string_from_1_to_the_largest_uint256(amount: object, code: str) -> None:
    assert details_of({"tokens": [{"mint": MINT, "amount": amount}]}) == {("tokens[0].amount", code)}


@pytest.mark.parametrize(
    ("mint", "code"),
    [
        (MINT.replace("aA", "Aa"), "bad_checksum"),
        (MINT[:-1], "invalid_format"),
        (MINT[2:], "invalid_format"),
        (MINT + " ", "invalid_format"),
        ("0x" + "g" * 40, "invalid_format"),
        (5, "invalid_type"),
    ],
)
def test_an_address_has_forty_digits_and_a_right_checksum(mint: object, code: str) -> None:
    assert details_of({"tokens": [{"mint": mint, "amount": "1"}]}) == {("tokens[0].mint", code)}


@pytest.mark.parametrize("tx_hash", ["0x" + "a" * 63, "0x" + "a" * 65, "a" * 64, "0x" + "g" * 64, ""])
def test_a_hash_has_sixty_four_digits(tx_hash: str) -> None:
    assert details_of({"txHash": tx_hash}) == {("txHash", "invalid_format")}


def test_a_hash_of_any_case_becomes_lower_case() -> None:
    assert post({"txHash": "0x" + "Ab" * 32}).json()["data"]["txHash"] == "0x" + "ab" * 32


def test_unknown_fields_are_reported_by_path_together_with_other_problems() -> None:
    tokens = [{"mint": MINT, "amount": "1"}, {"mint": MINT, "amount": "0"}, {"mint": MINT, "amount": "1", "foo": 1}]
    assert details_of({"tokens": tokens, "slipageBps": 1, "bps": 0}) == {
        ("slipageBps", "unknown_field"),
        ("bps", "out_of_range"),
        ("tokens[1].amount", "invalid_format"),
        ("tokens[2].foo", "unknown_field"),
    }


def test_missing_fields_are_required() -> None:
    assert details_of({"tokens": [{}]}) == {("tokens[0].mint", "required"), ("tokens[0].amount", "required")}


@pytest.mark.parametrize(
    ("tokens", "detail"),
    [
        ([], ("tokens", "too_short")),
        ([{"mint": MINT, "amount": "1"}] * 4, ("tokens", "too_long")),
        ({"0": {}}, ("tokens", "invalid_type")),
        ("abc", ("tokens", "invalid_type")),
        (None, ("tokens", "invalid_type")),
        ([1], ("tokens[0]", "invalid_type")),
        ([[]], ("tokens[0]", "invalid_type")),
    ],
)
def test_anything_but_a_list_of_objects_is_refused_for_one(tokens: object, detail: tuple[str, str]) -> None:
    assert details_of({"tokens": tokens}) == {detail}


@pytest.mark.parametrize("mode", ["other", 1, ["skip"], {"skip": 1}])
def test_a_choice_is_one_of_those_offered(mode: object) -> None:
    assert details_of({"mode": mode}) == {("mode", "invalid_choice")}


def test_forbidden_fields_are_found_at_any_depth_and_come_before_everything_else() -> None:
    response = post({"bps": "x", "feeBps": 1, "tokens": [{"amount": 5, "extra": {"deep": [{"partnerId": None}]}}]})
    assert error_of(response) == (400, "forbidden_field")
    fields = [detail["field"] for detail in response.json()["error"]["details"]]
    assert fields == ["feeBps", "tokens[0].extra.deep[0].partnerId"]


@pytest.mark.parametrize(
    "name",
    [
        "partnerId",
        "partnerRecipient",
        "protocolRecipient",
        "payoutWallet",
        "partnerShareBps",
        "totalFeeBps",
        "feeBps",
        "feeShare",
    ],
)
def test_a_field_that_the_key_decides_is_forbidden_in_a_body(name: str) -> None:
    assert error_of(post({name: "x"})) == (400, "forbidden_field")


def test_an_answer_to_many_mistakes_stays_short() -> None:
    response = post({f"field{number}" + "x" * 100: 1 for number in range(40)})
    details = response.json()["error"]["details"]
    assert len(details) == 32
    assert all(len(detail["field"]) == 64 for detail in details)


@pytest.mark.parametrize("text", ['\\"', '"', '"\\', "[],", '{"a":1},'])
def test_counting_brackets_takes_time_in_proportion_to_the_body(text: str) -> None:
    """Quadratic counting would take minutes for the largest body."""
    started = time.monotonic()
    post(text * (MAX_BODY_BYTES // len(text)))
    assert time.monotonic() - started < 2
