"""``expiresInSeconds``: what is left by the chain's clock, so that a client whose clock is wrong does right."""

import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db.models import F
from django.utils import timezone

from indexer import following
from sweeps.models import ChainHead, Sweep
from tests.fake_node import FakeNode
from tests.openapi import assert_documented
from tests.partner_app import BUILD, PartnerApp
from tests.sweeps.finalize.wallet_signatures import finalize, signatures_of

pytestmark = pytest.mark.django_db

TTL_SECONDS = 900
REFRESH, STATUS = "/v2/sweep/build/{}/refresh", "/v2/sweep/status/{}"
Clock = Callable[[int], None]


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


@pytest.fixture
def set_clock(node: FakeNode) -> Clock:
    """Have the newest block be this many seconds ahead of the server's clock, or behind it."""

    def set_to(seconds: int) -> None:
        timestamp = hex(int(time.time()) + seconds)

        def alter(method: str, params: list[Any], result: Any) -> Any:
            is_head = (method, params[:1]) == ("eth_getBlockByNumber", ["latest"])
            return result | {"timestamp": timestamp} if is_head else result

        node.alter = alter

    return set_to


def expires_at(shown: dict[str, Any]) -> int:
    return int(datetime.fromisoformat(shown["expiresAt"]).timestamp())


def listed(app: PartnerApp) -> Any:
    return app.api.get("/v2/sweep/history").json()["data"]["items"][0]["expiresInSeconds"]


def is_about(seconds: int, expected: int) -> bool:
    """Whether these are the seconds that are expected, up to those in which the test ran."""
    return expected - 10 <= seconds <= expected + 1


# --- by which clock ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ahead", "left"), [(5000, TTL_SECONDS), (-300, TTL_SECONDS + 300)])
def test_a_build_counts_from_the_chains_newest_block(app: PartnerApp, set_clock: Clock, ahead: int, left: int) -> None:
    set_clock(ahead)
    response = app.post_build(app.body())
    assert_documented(response, path=BUILD)
    assert left <= response.json()["data"]["expiresInSeconds"] <= left + 2


@pytest.mark.parametrize("ahead", [5000, -300])
def test_a_status_counts_from_the_block_that_was_read_last(app: PartnerApp, set_clock: Clock, ahead: int) -> None:
    set_clock(ahead)
    built = app.build()
    following.follow()
    assert is_about(app.state(built["sweepId"])["expiresInSeconds"], built["expiresInSeconds"])
    assert is_about(listed(app), built["expiresInSeconds"])
    set_clock(ahead + 200)
    following.follow()
    assert is_about(app.state(built["sweepId"])["expiresInSeconds"], built["expiresInSeconds"] - 200)


def test_the_chains_clock_goes_on_while_no_block_is_read(app: PartnerApp) -> None:
    built = app.build()
    following.follow()
    before = app.state(built["sweepId"])["expiresInSeconds"]
    ChainHead.objects.update(seen_at=F("seen_at") - timedelta(seconds=100))
    assert is_about(app.state(built["sweepId"])["expiresInSeconds"], before - 100)
    ChainHead.objects.update(seen_at=F("seen_at") - timedelta(days=1))
    assert app.state(built["sweepId"])["expiresInSeconds"] == 0


def test_a_refresh_counts_from_the_newest_block_up_to_the_deadline_of_the_build(
    app: PartnerApp, set_clock: Clock
) -> None:
    built = app.build()
    set_clock(600)
    response = app.api.post(REFRESH.format(built["sweepId"]), {}, content_type="application/json")
    assert is_about(response.json()["data"]["expiresInSeconds"], 300)
    set_clock(1000)
    response = app.api.post(REFRESH.format(built["sweepId"]), {}, content_type="application/json")
    assert response.json()["data"]["expiresInSeconds"] == 0


def test_finalize_counts_from_the_newest_block(app: PartnerApp, set_clock: Clock) -> None:
    built = app.build()
    app.approve(built)
    set_clock(600)
    answer = finalize(app, built, signatures_of(app.user, built, "permit2"), "permit2")
    assert is_about(answer["expiresInSeconds"], 300)


# --- where it is missing ----------------------------------------------------------------------------------------------


def test_until_a_block_was_read_a_status_has_none(app: PartnerApp) -> None:
    assert app.state(app.build()["sweepId"])["expiresInSeconds"] is None


def test_what_was_executed_or_is_closed_has_none(app: PartnerApp) -> None:
    state, _ = app.complete()
    following.follow()
    assert (state["open"], app.state(state["sweepId"])["expiresInSeconds"]) == (True, None)
    built = app.build()
    assert app.state(built["sweepId"])["expiresInSeconds"] > 0
    now = timezone.now()
    voided = {"status": "void", "voided_at": now, "void_reason": "why", "last_event": 2}
    Sweep.objects.filter(id=built["sweepId"]).update(is_open=False, closed_at=now, next_check_at=None, **voided)
    assert app.state(built["sweepId"])["expiresInSeconds"] is None


def test_an_answer_that_is_repeated_byte_for_byte_has_none(app: PartnerApp) -> None:
    built = app.build()
    following.follow()
    paths = [BUILD, REFRESH.format(built["sweepId"]), f"{STATUS}/cancel".format(built["sweepId"])]
    for path in paths:
        body = app.body() if path == BUILD else {}
        repeated = [
            app.api.post(path, body, content_type="application/json", headers={"Idempotency-Key": "order 7"})
            for _ in range(2)
        ]
        assert repeated[0].content == repeated[1].content
        assert "expiresInSeconds" not in repeated[0].json()["data"]
        assert_documented(repeated[0], path=path.replace(built["sweepId"], "{sweep_id}"))
        assert app.api.post(path, body, content_type="application/json").json()["data"]["expiresInSeconds"] > 0
