"""Requests that wait for a chain have places of their own: without one nothing waits, and nothing is lost."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client, RequestFactory
from prometheus_client import REGISTRY
from pytest_django import Settings
from rest_framework.request import Request

from partners import outside
from partners.authentication import ApiKeyAuthentication, Requester
from partners.models import ApiKey, IdempotencyRecord, Partner
from partners.outside import outside_place
from sweepapi.errors import TooManyAtOnce
from sweepapi.modes import Mode
from sweeps.models import SweepTransaction
from tests.factories.partners import PartnerFactory, requester_of
from tests.openapi import assert_documented
from tests.partner_app import BUILD, PartnerApp, error_of
from tests.solana_user import SolanaUser
from tests.sweeps.sandbox.tester import REQUESTS

pytestmark = pytest.mark.django_db

REFUSED = (503, "too_many_at_once"), "1"
ONE_OF_TWO = 7  # threads, of which a partner has a share of one in two places, and a third waits
THREE_KEYS = 3


@pytest.fixture(autouse=True)
def few_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process has two places, of which each share is one, and no one waits for long."""
    monkeypatch.setattr(outside, "PATIENCE_SECONDS", 0)
    places = outside.places_of(ONE_OF_TWO)
    monkeypatch.setattr(outside, "_places", lambda: places)


@pytest.fixture
def taken(partner: Partner) -> Iterator[None]:
    """Another request of the partner has its place."""
    with outside_place(requester_of(partner)):
        yield


def refusal_of(response: Any) -> tuple[tuple[int, str], str]:
    return error_of(response), response.headers["Retry-After"]


def authenticated(plaintext: str) -> Requester:
    request = Request(RequestFactory().get("/", headers={"x-api-key": plaintext}))
    return ApiKeyAuthentication().authenticate(request)[0]


def requesters(partner: Partner, mode: Mode) -> list[Requester]:
    """Return three keys of the partner."""
    issued = [ApiKey.issue(partner=partner, name=f"key {i}", mode=mode)[1] for i in range(THREE_KEYS)]
    return [authenticated(plaintext) for plaintext in issued]


def test_three_keys_of_one_partner_have_one_share_and_another_partner_has_its_own(partner: Partner) -> None:
    first, *others = requesters(partner, Mode.LIVE)
    stranger, _, _ = requesters(PartnerFactory.create(), Mode.LIVE)
    with outside_place(first):
        for other in others:
            with pytest.raises(TooManyAtOnce), outside_place(other):
                pass
        with outside_place(stranger):
            pass
    with outside_place(others[0]):
        pass


def test_test_keys_of_all_partners_have_a_share_that_leaves_live_ones_theirs(partner: Partner) -> None:
    mine, _, _ = requesters(partner, Mode.TEST)
    theirs, _, _ = requesters(PartnerFactory.create(), Mode.TEST)
    live, _, _ = requesters(partner, Mode.LIVE)
    with outside_place(mine):
        with pytest.raises(TooManyAtOnce), outside_place(theirs):
            pass
        with outside_place(live):
            pass


def test_a_request_without_a_place_is_counted_and_one_that_fails_in_its_place_is_not(partner: Partner) -> None:
    def counted() -> float:
        return REGISTRY.get_sample_value("sweepapi_requests_without_a_place_total", {"mode": "live"}) or 0

    first, other, _ = requesters(partner, Mode.LIVE)
    before = counted()
    with outside_place(first), pytest.raises(TooManyAtOnce), outside_place(other):
        pass
    assert counted() - before == 1
    with pytest.raises(TooManyAtOnce), outside_place(first):
        raise TooManyAtOnce(retry_after_seconds=1)
    assert counted() - before == 1


def test_whatever_its_threads_a_process_has_a_place_and_each_share_is_part_of_the_places() -> None:
    for threads in range(1, 65):
        places = outside.places_of(threads)
        assert 1 <= places.share <= places.places
        assert places.places + places.queue <= max(threads - outside.THREADS_FOR_STORED, 1)


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("path", ["/v2/sweep/quote", BUILD, "/v2/sweep/discover"])
def test_what_reads_a_chain_is_refused_without_a_place(app: PartnerApp, path: str) -> None:
    body = app.body()
    if path.endswith("discover"):
        body = {name: body[name] for name in ("chain", "wallet", "outputMint")}
    response = app.api.post(path, body, content_type="application/json")
    assert refusal_of(response) == REFUSED
    assert_documented(response, path=path)


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize(("path", "body"), REQUESTS)
def test_the_sandbox_is_refused_without_a_place(app: PartnerApp, path: str, body: dict[str, Any]) -> None:
    response = app.api.post(f"/v2/sandbox{path}", body, content_type="application/json")
    assert refusal_of(response) == REFUSED


@pytest.mark.usefixtures("taken")
@pytest.mark.parametrize("path", ["/v1/sweep/discover", "/v1/sweep/build"])
def test_what_reads_a_cluster_is_refused_without_a_place(api: Client, user: SolanaUser, path: str) -> None:
    body: dict[str, Any] = {"chain": "solana", "wallet": str(user.key), "outputMint": str(user.cluster.usdc)}
    if path.endswith("build"):
        body |= {"tokens": [{"mint": str(user.hold()), "amount": "5"}], "slippageBps": 50}
    response = api.post(path, body, content_type="application/json")
    assert refusal_of(response) == REFUSED
    assert_documented(response, path=path)


def test_the_key_of_a_build_without_a_place_can_be_used_again(app: PartnerApp, partner: Partner) -> None:
    def build(body: dict[str, Any]) -> Any:
        return app.api.post(BUILD, body, content_type="application/json", headers={"Idempotency-Key": "order-1"})

    with outside_place(requester_of(partner)):
        assert refusal_of(build(app.body())) == REFUSED
    assert not IdempotencyRecord.objects.exists()
    assert build(app.body({"USDC": 4.0})).status_code == 201


def test_a_refresh_is_refused_without_a_place_and_made_with_one(app: PartnerApp, partner: Partner) -> None:
    path = f"{BUILD}/{app.build()['sweepId']}/refresh"
    with outside_place(requester_of(partner)):
        assert refusal_of(app.api.post(path, {}, content_type="application/json")) == REFUSED
    assert app.api.post(path, {}, content_type="application/json").status_code == 200


def test_a_confirm_without_a_place_stores_the_report_and_is_answered_202(
    app: PartnerApp, partner: Partner, settings: Settings
) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    with outside_place(requester_of(partner)):
        response = app.post_confirm(built["sweepId"], tx_hash)
    assert (response.status_code, response.headers["Retry-After"]) == (202, str(settings.FIRST_CHECK_SECONDS))
    (stored,) = SweepTransaction.objects.all()
    assert (stored.tx_hash, stored.status) == (tx_hash, SweepTransaction.Status.SUBMITTED)
    assert stored.sweep.next_check_at is not None
    assert app.confirm(built, tx_hash)["status"] == "completed"


def test_a_repeated_confirm_of_a_completed_sweep_needs_no_place(app: PartnerApp, partner: Partner) -> None:
    built = app.build()
    tx_hash = app.execute(built)
    app.confirm(built, tx_hash)
    with outside_place(requester_of(partner)):
        assert app.confirm(built, tx_hash)["status"] == "completed"


def test_reads_of_what_is_stored_are_served_while_all_places_are_taken(api: Client, partner: Partner) -> None:
    with outside_place(requester_of(partner)), outside_place(requester_of(partner, Mode.LIVE)):
        for path in ("/v2/partner", "/v2/sweep/history", "/v2/status", "/v2/ledger/balances", "/v2/webhooks"):
            assert api.get(path).status_code == 200
