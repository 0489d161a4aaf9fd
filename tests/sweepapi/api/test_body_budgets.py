"""A body is counted while it is read, and what is over its operation's budget is neither read nor validated."""

import json
from types import SimpleNamespace
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rest_framework.exceptions import ValidationError

from sweepapi.api.input import lists
from sweepapi.api.input.budgets import MAX_BODY_BYTES, Budget, budget_of
from sweepapi.api.input.fields import StrictCharField
from sweepapi.api.input.lists import validated_items
from sweepapi.api.input.reading import FORBIDDEN_FIELDS, read_json
from sweepapi.errors import MAX_DETAILS, InvalidRequest
from sweeps.views.serializers.requests import BuildRequestSerializer
from tests.sweepapi.api.strict_urls import EchoSerializer

pytestmark = [pytest.mark.urls("tests.sweepapi.api.strict_urls")]

AMPLE = Budget(names=MAX_BODY_BYTES, items=MAX_BODY_BYTES)
GARBAGE = b'\x00 "no JSON" }]['
MINT = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
# Hypothesis also tries words of the code, and these are refused as names.
NAMES = st.text(st.characters(exclude_categories=["Cs"])).filter(lambda name: name not in FORBIDDEN_FIELDS)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**77), 10**77)
    | st.floats(allow_nan=False, allow_infinity=False)
    # As Python writes it, a lone surrogate is an escape, which is refused.
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner),
    max_leaves=20,
)


def refused(raw: bytes, budget: Budget) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read_json(raw, budget)
    return caught.value


def post(body: bytes | dict[str, Any]) -> Any:
    raw = body if isinstance(body, bytes) else json.dumps(body, separators=(",", ":"))
    return Client().post("/v2/echo", data=raw, content_type="application/json")


# --- the reader -------------------------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(value=JSON, ascii_only=st.booleans(), indent=st.sampled_from([None, 0, 2]))
@example(value={'"\\\n\u2028\U0001f600': ["\x7f", "\u0000"]}, ascii_only=True, indent=None)
def test_what_python_writes_is_read_back(value: object, ascii_only: bool, indent: int | None) -> None:  # noqa: FBT001
    assert read_json(json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode(), AMPLE) == value


@settings(max_examples=500, deadline=None)
@given(
    value=JSON, at=st.integers(0, 10**6), change=st.sampled_from([b"", b'"', b"\\", b"{", b"]", b",", b"0", b"-", b"e"])
)
def test_what_python_refuses_is_refused_and_what_is_read_is_what_python_reads(
    value: object, at: int, change: bytes
) -> None:
    whole = json.dumps(value).encode()
    at %= len(whole)
    raw = whole[:at] + change + whole[at + 1 :]
    try:
        found = read_json(raw, AMPLE)
    except InvalidRequest:
        return  # stricter: of duplicates, numbers and surrogates
    assert found == json.loads(raw)


@pytest.mark.parametrize(
    ("raw", "path", "what"),
    [
        (b'{"a": 1, "b": 1, "c": 1, "d": 1, ' + GARBAGE, "", "3 names"),
        (b'{"a": {"b": {"c": {"d": 1, ' + GARBAGE, "a.b.c", "3 names"),
        (b'{"a": [1, {"b": [2, 3, 4, ' + GARBAGE, "a[1].b", "4 items"),
        (b"[1, 2, 3, 4, 5, " + GARBAGE, "", "4 items"),
    ],
)
def test_what_is_over_the_budget_stops_the_reader(raw: bytes, path: str, what: str) -> None:
    error = refused(raw, Budget(names=3, items=4))
    (problem,) = error.details
    assert (problem.field, problem.code) == (path, "too_long")
    assert what in problem.message


@pytest.mark.parametrize("raw", [b'{"a": {"b": [1, 2]}, "c": [3, 4]}', b'[[], {}, [], {"a": {"b": {"c": 1}}}]'])
def test_what_is_within_the_budget_is_read(raw: bytes) -> None:
    assert read_json(raw, Budget(names=3, items=4)) == json.loads(raw)


@pytest.mark.parametrize("number", ["1" * 79, "-" + "1" * 79, "0." + "1" * 78, "1" * 70 + "e" + "1" * 9])
def test_no_number_has_more_digits_than_the_budget(number: str) -> None:
    assert "78 digits" in refused(number.encode(), AMPLE).message
    assert "3 digits" in refused(b"1234", Budget(names=0, items=0, digits=3)).message


def test_levels_behind_the_last_one_are_not_read() -> None:
    assert "2 levels" in refused(b"[[[" + GARBAGE, Budget(names=9, items=9, depth=2)).message


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b'{"a": "\xff"}', "not valid UTF-8"),
        (b'{"a": "\\n\xff"}', "not valid UTF-8"),
        (b'{"\xed\xa0\x80": 1}', "not valid UTF-8"),
        (b'{"a": 1} \xff', "not valid UTF-8"),
        (b'{"a": "\\udc80"}', "lone surrogate"),
        (b'{"a": "\\ud83d\\ud83d\\ude00"}', "lone surrogate"),
        (b'{"a": "\n"}', "line 1, column 8"),
        (b'{"a": 1,\n "b" 2}', "line 2, column 6"),
        (b'{"a": 1', "line 1, column 8"),
        (b'{"a": 1.}', "line 1, column 8"),
        (b'{"a": +1}', "line 1, column 7"),
        (b'{"a": tru}', "line 1, column 7"),
        (b"{1: 2}", "line 1, column 2"),
        (b"[1}", "line 1, column 3"),
        (b"[,]", "line 1, column 2"),
        (b'{"a": "\\x"}', "line 1, column"),
    ],
)
def test_a_refusal_says_what_is_wrong_and_where(raw: bytes, message: str) -> None:
    assert message in refused(raw, AMPLE).message


# --- budgets ----------------------------------------------------------------------------------------------------------


def test_a_budget_is_what_the_serializer_takes_and_a_little_more() -> None:
    echo = budget_of(EchoSerializer)
    fields, of_token, tokens, slack = 5, 2, 3, 32
    assert (echo.names, echo.items) == (fields + of_token * tokens + slack, tokens + slack)
    build = budget_of(BuildRequestSerializer)
    assert (build.names, build.items) == (13 + 4 + 4 * 30 + slack, 30 + slack)


def views(patterns: list[URLPattern | URLResolver]) -> set[type]:
    found: set[type] = set()
    for pattern in patterns:
        if isinstance(pattern, URLResolver):
            found |= views(pattern.url_patterns)
        elif getattr(pattern.callback, "cls", None) is not None:
            found.add(pattern.callback.cls)  # type: ignore[attr-defined]  # of a view that is a class
    return found


@pytest.mark.urls("config.urls")
def test_each_operation_with_a_body_has_the_budget_of_the_serializer_that_its_document_names() -> None:
    of_no_version = SimpleNamespace(determine_version=lambda _request: (None, None), request=None, kwargs={})
    counted = 0
    for view in views(get_resolver().url_patterns):
        documented = {}
        for action in getattr(view, "scopes", {}):
            schema = getattr(getattr(view, action), "kwargs", {}).get("schema")
            if schema is not None:
                described = schema()
                described.view = of_no_version
                if isinstance(serializer := described.get_request_serializer(), type):
                    documented[action] = serializer
        assert getattr(view, "bodies", {}) == documented, view
        counted += len(documented)
    assert counted == 16


# --- validation -------------------------------------------------------------------------------------------------------


def test_a_list_that_is_far_too_long_is_refused_by_its_place_before_any_item_is_validated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    validated: list[object] = []
    monkeypatch.setattr(lists, "validated_items", lambda items, _validate: validated.extend(items))
    for tokens in ([{"mint": MINT, "amount": "1"}] * 4, ["x"] * 60_000):
        (problem,) = post({"tokens": tokens}).json()["error"]["details"]
        assert (problem["field"], problem["code"]) == ("tokens", "too_long")
    assert validated == []


@pytest.mark.parametrize(("problems", "validated"), [(0, 100), (MAX_DETAILS, 100), (MAX_DETAILS + 1, 33), (100, 33)])
def test_validation_stops_at_the_first_problem_that_is_not_shown(problems: int, validated: int) -> None:
    seen = []

    def validate(item: object) -> object:
        seen.append(item)
        return StrictCharField().run_validation(item)

    items: list[object] = [1] * problems + ["right"] * (100 - problems)
    if problems:
        with pytest.raises(ValidationError):
            validated_items(items, validate)
    else:
        assert validated_items(items, validate) == items
    assert len(seen) == validated


def test_an_answer_says_that_there_are_more_problems_than_it_shows() -> None:
    for count, more in ((MAX_DETAILS, False), (MAX_DETAILS + 1, True)):
        error = post({f"field{number}": 1 for number in range(count)}).json()["error"]
        assert len(error["details"]) == MAX_DETAILS
        assert ("there are more" in error["message"]) is more


def test_an_answer_does_not_repeat_what_was_sent() -> None:
    assert len(post({"mode": "x" * 100_000, "name": "y" * 100_000}).content) < 1_000
