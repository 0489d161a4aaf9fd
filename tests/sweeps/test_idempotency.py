"""Idempotency-Key on build, refresh and cancel: the effect once, and the first answer byte for byte."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Event
from typing import Any

import pytest
import requests
from django.db import OperationalError, connection
from django.db.models import F
from django.test import Client
from pytest_django.live_server_helper import LiveServer

from partners import idempotency
from partners.models import ApiKey, IdempotencyRecord, Partner
from sweepapi.api.requests.renderers import EnvelopeRenderer
from sweepapi.modes import Mode
from sweepapi.networks import Networks
from sweeps.models import Offer, Sweep
from sweeps.rails.registry import RAILS
from tests.factories.partners import PartnerFactory
from tests.factories.sweeps import SweepFactory
from tests.openapi import assert_documented
from tests.partner_app import BUILD, PartnerApp, details_of, error_of

pytestmark = pytest.mark.django_db

REFRESH, CANCEL = "/v2/sweep/build/{sweep_id}/refresh", "/v2/sweep/status/{sweep_id}/cancel"
KEY = "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"
IN_PROGRESS, REUSED = (409, "idempotency_in_progress"), (409, "idempotency_key_reused")
SECOND = timedelta(seconds=1)


def post(api: Client, path: str, body: object | None = None, *, key: str = KEY) -> Any:
    raw = body if isinstance(body, str) else json.dumps(body or {})
    return api.post(path, raw, content_type="application/json", headers={"Idempotency-Key": key})


def is_replay(response: Any, first: Any) -> bool:
    """Whether this is the answer of an earlier request, byte for byte."""
    assert "Idempotency-Replayed" not in first.headers
    same = (first.status_code, first.headers["Content-Type"], first.content)
    assert (response.status_code, response.headers["Content-Type"], response.content) == same
    return bool(response.headers["Idempotency-Replayed"] == "true")


def age(by: timedelta) -> None:
    """Let this much time pass for all keys."""
    IdempotencyRecord.objects.update(started_at=F("started_at") - by)


@pytest.fixture
def sweep(partner: Partner) -> Sweep:
    """A pending sweep of the partner."""
    return SweepFactory.create(partner=partner)


@pytest.fixture
def cancel_path(sweep: Sweep) -> str:
    return CANCEL.format(sweep_id=sweep.id)


def claimed(partner: Partner, path: str, body: object) -> IdempotencyRecord:
    """Claim the key as a request does that is at work."""
    return idempotency.claim(partner_id=partner.id, mode=Mode.TEST, path=path, key=KEY, body=body)


# --- a repeated request -----------------------------------------------------------------------------------------------


def test_a_build_is_repeated_byte_for_byte_and_built_once(app: PartnerApp) -> None:
    first, second = (post(app.api, BUILD, app.body()) for _ in range(2))
    assert first.status_code == 201
    assert is_replay(second, first)
    assert_documented(second, path=BUILD)
    assert Sweep.objects.count() == 1


def test_a_refresh_is_repeated_byte_for_byte_and_offered_once(app: PartnerApp) -> None:
    path = REFRESH.format(sweep_id=app.build()["sweepId"])
    first, second = (post(app.api, path) for _ in range(2))
    assert first.json()["data"]["signatureStillValid"] is True
    assert is_replay(second, first)
    assert_documented(second, path=REFRESH)
    assert Offer.objects.count() == 2


def test_a_cancel_is_repeated_as_it_was_answered_first_though_the_sweep_has_changed(
    api: Client, sweep: Sweep, cancel_path: str
) -> None:
    first = post(api, cancel_path)
    api.post(cancel_path, {"onChain": True}, content_type="application/json")
    second = post(api, cancel_path)
    assert is_replay(second, first)
    assert_documented(second, path=CANCEL)
    assert api.get(f"/v2/sweep/status/{sweep.id}").json() != second.json()


def test_an_answer_under_a_key_is_rendered_as_one_without(api: Client, partner: Partner, cancel_path: str) -> None:
    with_key = post(api, cancel_path)
    assert with_key.content == EnvelopeRenderer().render(with_key.json()["data"])
    without = api.post(CANCEL.format(sweep_id=SweepFactory.create(partner=partner).id), {}, "application/json")
    assert (with_key.status_code, set(with_key.headers)) == (without.status_code, set(without.headers))


def test_without_a_key_nothing_is_kept(api: Client, cancel_path: str) -> None:
    assert api.post(cancel_path, {}, content_type="application/json").status_code == 200
    assert not IdempotencyRecord.objects.exists()


def test_json_that_is_written_differently_is_the_same_body(api: Client, cancel_path: str) -> None:
    first = post(api, cancel_path, '{"onChain": false}')
    assert is_replay(post(api, cancel_path, ' {"onChain":\tfalse}'), first)


def test_the_order_of_names_does_not_matter(partner: Partner) -> None:
    first = claimed(partner, BUILD, {"chain": "base", "slippageBps": 5})
    idempotency.keep(first, status=201, body=b"{}")
    assert claimed(partner, BUILD, {"slippageBps": 5, "chain": "base"}).status == 201


def test_a_build_is_repeated_while_its_chain_is_down_and_after_it_was_disabled(
    app: PartnerApp, change_networks: Callable[..., Networks]
) -> None:
    first = post(app.api, BUILD, app.body())
    change_networks(rpc_urls={"local": ["http://127.0.0.1:1"]})
    assert is_replay(post(app.api, BUILD, app.body()), first)
    change_networks(rpc_urls={})
    assert is_replay(post(app.api, BUILD, app.body()), first)
    assert error_of(app.post_build(app.body())) == (400, "unsupported_chain")


# --- other requests ---------------------------------------------------------------------------------------------------


def test_another_body_under_the_key_is_refused(api: Client, sweep: Sweep, cancel_path: str) -> None:
    post(api, cancel_path)
    response = post(api, cancel_path, {"onChain": True})
    assert error_of(response) == REUSED
    assert response.json()["error"]["retryable"] is False
    assert_documented(response, path=CANCEL)
    sweep.refresh_from_db()
    assert sweep.cancellation_requested_at is None


@pytest.mark.parametrize("number", ["1e400", "-1.5E309", "NaN", "9" * 5_000])
def test_a_number_that_has_no_digest_is_refused_before_the_key_is_claimed(
    api: Client, cancel_path: str, number: str
) -> None:
    response = post(api, cancel_path, f'{{"onChain": {number}}}')
    assert error_of(response) == (400, "invalid_request")
    assert not IdempotencyRecord.objects.exists()


def test_a_key_belongs_to_a_path_a_partner_and_a_mode(api: Client, partner: Partner, cancel_path: str) -> None:
    assert post(api, cancel_path).status_code == 200
    other_path = CANCEL.format(sweep_id=SweepFactory.create(partner=partner).id)
    assert "Idempotency-Replayed" not in post(api, other_path).headers
    other_partner = PartnerFactory.create()
    _, other_key = ApiKey.issue(partner=other_partner, name="theirs", mode=Mode.TEST)
    theirs = Client(headers={"x-api-key": other_key})
    assert error_of(post(theirs, cancel_path)) == (404, "sweep_not_found")
    _, live_key = ApiKey.issue(partner=partner, name="live", mode=Mode.LIVE)
    assert "Idempotency-Replayed" not in post(Client(headers={"x-api-key": live_key}), cancel_path).headers


@pytest.mark.parametrize("body", [{"onChain": 1}, {"partnerId": "x"}, {"onchain": True}])
def test_a_refusal_is_not_kept_so_the_key_is_free_for_the_corrected_request(
    api: Client, cancel_path: str, body: dict[str, Any]
) -> None:
    assert post(api, cancel_path, body).status_code == 400
    assert not IdempotencyRecord.objects.exists()
    assert post(api, cancel_path).status_code == 200


def test_a_failure_of_the_chain_is_not_kept(app: PartnerApp, change_networks: Callable[..., Networks]) -> None:
    working = change_networks().rpc_urls
    change_networks(rpc_urls={"local": ["http://127.0.0.1:1"]})
    assert error_of(post(app.api, BUILD, app.body())) == (503, "chain_unavailable")
    change_networks(rpc_urls=working)
    assert post(app.api, BUILD, app.body()).status_code == 201


@pytest.mark.parametrize("key", ["x", "x" * 255, "order 1017; build", "!~", KEY])
def test_printable_ascii_is_a_key(api: Client, cancel_path: str, key: str) -> None:
    assert is_replay(*reversed([post(api, cancel_path, key=key) for _ in range(2)]))


@pytest.mark.parametrize("key", ["", " ", "x" * 256, "sent,twice", "é", "a\tb", " a", "a ", "a\x7f"])
def test_what_could_be_misread_is_refused_as_a_key(api: Client, sweep: Sweep, cancel_path: str, key: str) -> None:
    response = post(api, cancel_path, key=key)
    assert error_of(response) == (400, "invalid_request")
    assert details_of(response) == {("Idempotency-Key", "invalid_format")}
    sweep.refresh_from_db()
    assert sweep.status == "pending"


@pytest.mark.parametrize("sweep_id", ["x" * 3_000, "\0", "é", "0197a3c4-5d6e-7f80-9a1b-2c3d4e5f6071"])
def test_a_path_of_no_sweep_is_not_found_under_a_key(api: Client, sweep_id: str) -> None:
    path = CANCEL.format(sweep_id=sweep_id).replace("\0", "%00")
    assert error_of(post(api, path)) == (404, "sweep_not_found")
    assert not IdempotencyRecord.objects.exists()


# --- requests at the same time, and those that died -------------------------------------------------------------------


def test_a_request_that_is_at_work_is_not_joined(api: Client, partner: Partner, sweep: Sweep, cancel_path: str) -> None:
    claimed(partner, cancel_path, {})
    response = post(api, cancel_path)
    assert error_of(response) == IN_PROGRESS
    assert response.json()["error"]["retryable"] is True
    assert response.headers["Retry-After"] == "2"
    assert_documented(response, path=CANCEL)
    assert error_of(post(api, cancel_path, {"onChain": True})) == REUSED
    sweep.refresh_from_db()
    assert sweep.status == "pending"


def test_a_request_that_died_is_taken_over_after_a_minute(api: Client, partner: Partner, cancel_path: str) -> None:
    claimed(partner, cancel_path, {})
    age(59 * SECOND)
    assert error_of(post(api, cancel_path)) == IN_PROGRESS
    age(2 * SECOND)
    first = post(api, cancel_path)
    assert first.status_code == 200
    assert is_replay(post(api, cancel_path), first)


@pytest.mark.parametrize("body", [{}, {"onChain": True}])
def test_a_key_is_free_again_after_24_hours(api: Client, cancel_path: str, body: dict[str, Any]) -> None:
    post(api, cancel_path)
    age(timedelta(hours=24) - SECOND)
    assert "Idempotency-Replayed" in post(api, cancel_path).headers
    age(2 * SECOND)
    assert "Idempotency-Replayed" not in post(api, cancel_path, body).headers
    assert "Idempotency-Replayed" in post(api, cancel_path, body).headers


def test_what_can_no_longer_be_repeated_is_purged(partner: Partner) -> None:
    for hours in (25, 23):
        idempotency.claim(partner_id=partner.id, mode=Mode.TEST, path=BUILD, key=str(hours), body={})
        IdempotencyRecord.objects.filter(key=str(hours)).update(started_at=F("started_at") - timedelta(hours=hours))
    idempotency.purge()
    assert [record.key for record in IdempotencyRecord.objects.all()] == ["23"]


def test_a_build_that_was_overtaken_stores_nothing(app: PartnerApp, monkeypatch: pytest.MonkeyPatch) -> None:
    rail = RAILS["evm_v5"]
    plan = rail.plan
    is_overtaken: list[bool] = []
    answers: list[Any] = []

    def slow_plan(**options: Any) -> Any:
        planned = plan(**options)
        if not is_overtaken:
            is_overtaken.append(True)
            age(61 * SECOND)
            answers.append(post(app.api, BUILD, app.body()))
        return planned

    monkeypatch.setattr(type(rail), "plan", staticmethod(slow_plan))
    slow = post(app.api, BUILD, app.body())
    (second,) = answers
    assert (second.status_code, error_of(slow)) == (201, IN_PROGRESS)
    assert [str(sweep.id) for sweep in Sweep.objects.all()] == [second.json()["data"]["sweepId"]]
    assert is_replay(post(app.api, BUILD, app.body()), second)


def test_a_request_that_failed_late_does_not_release_the_claim_of_another(partner: Partner) -> None:
    late = claimed(partner, BUILD, {})
    age(61 * SECOND)
    claimed(partner, BUILD, {})
    idempotency.release(late)
    assert IdempotencyRecord.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_committed", [False, True])
def test_a_build_whose_commit_is_unknown_is_repeated_and_built_once(app: PartnerApp, *, is_committed: bool) -> None:
    rail, commit = RAILS["evm_v5"], connection.commit
    store, has_stored = rail.store, Event()

    def store_and_note(offered: Any) -> None:
        store(offered)
        has_stored.set()

    def commit_or_lose_the_connection() -> None:
        if not has_stored.is_set() or is_committed:
            commit()
        if has_stored.is_set():
            raise OperationalError("server closed the connection unexpectedly")

    with pytest.MonkeyPatch.context() as broken:
        broken.setattr(type(rail), "store", staticmethod(store_and_note))
        broken.setattr(connection, "commit", commit_or_lose_the_connection)
        if not is_committed:
            broken.setattr(idempotency, "release", lambda _record: None)  # the process died as well
        assert error_of(post(app.api, BUILD, app.body())) == (503, "service_unavailable")
    age(61 * SECOND)
    repeated = post(app.api, BUILD, app.body())
    assert (repeated.status_code, "Idempotency-Replayed" in repeated.headers) == (201, is_committed)
    assert [str(sweep.id) for sweep in Sweep.objects.all()] == [repeated.json()["data"]["sweepId"]]


@pytest.mark.django_db(transaction=True)
def test_of_fifty_requests_at_once_one_builds_and_all_get_its_answer(
    app: PartnerApp, api_key: str, live_server: LiveServer
) -> None:
    headers = {"x-api-key": api_key, "Idempotency-Key": KEY}

    def build(_number: int) -> requests.Response:
        return requests.post(f"{live_server.url}{BUILD}", json=body, headers=headers, timeout=300)

    body = app.body()
    with ThreadPoolExecutor(50) as threads:
        answers = list(threads.map(build, range(50)))
    built = [answer for answer in answers if answer.status_code == 201]
    others = [answer for answer in answers if answer.status_code != 201]
    assert sum("Idempotency-Replayed" not in answer.headers for answer in built) == 1
    assert {error_of(answer) for answer in others} <= {IN_PROGRESS}
    assert {answer.content for answer in [*built, build(0)]} == {built[0].content}
    assert Sweep.objects.count() == 1
