"""Brakes: one person stops builds, a partner or a key, with a reason; it acts at the next request, and shows."""

from http import HTTPStatus
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group, User
from django.db import IntegrityError, transaction
from django.test import Client

from console.roles import SUPPORT
from partners.models import ApiKey, Partner
from sweeps.models import BuildStop, Sweep
from sweeps.rails.evm_v5 import issuing
from tests.factories.partners import PartnerFactory
from tests.operator_browser import ConsoleClient, reverse
from tests.partner_app import PartnerApp, error_of

pytestmark = pytest.mark.django_db
REASON = "The router is being drained."


@pytest.fixture
def support() -> ConsoleClient:
    """The browser of someone on call."""
    person = User.objects.create_user("on call", is_staff=True)
    person.groups.set([Group.objects.get(name=SUPPORT)])
    browser = ConsoleClient()
    browser.force_login(person)
    return browser


def press(browser: ConsoleClient, action: str, row: Any) -> None:
    """Use an action of a row's page, with a reason."""
    page = reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_{action}", args=[row.pk])  # noqa: SLF001
    assert browser.post(page, {"_form_submitted": "true", "reason": ""}).status_code == HTTPStatus.OK
    answer = browser.post(page, {"_form_submitted": "true", "reason": REASON})
    assert "HX-Redirect" in answer.headers


def stop(browser: ConsoleClient, **scope: object) -> BuildStop:
    answer = browser.post(reverse("admin:sweeps_buildstop_add"), {"reason": REASON, **scope})
    assert answer.status_code == HTTPStatus.FOUND, answer.content.decode()
    return BuildStop.objects.latest("pk")


@pytest.mark.parametrize("by", ["all", "network", "partner"])
def test_builds_quotes_and_refreshes_are_refused_from_the_next_request_until_the_stop_is_lifted(
    support: ConsoleClient, app: PartnerApp, partner: Partner, by: str
) -> None:
    body = app.body({"DAI": 100}, output="USDC")
    built = app.post_build(body).json()["data"]
    network = Sweep.objects.get().network
    scopes: dict[str, dict[str, object]] = {"network": {"network": network}, "partner": {"partner": partner.pk}}
    stopped = stop(support, **scopes.get(by, {}))
    refresh = f"/v2/sweep/build/{built['sweepId']}/refresh"
    for answer in (
        app.post_build(body),
        app.api.post("/v2/sweep/quote", body, content_type="application/json"),
        app.api.post(refresh, {}, content_type="application/json"),
    ):
        assert error_of(answer) == (HTTPStatus.SERVICE_UNAVAILABLE, "build_disabled")
        assert REASON not in answer.content.decode()
    assert app.api.get(f"/v2/sweep/status/{built['sweepId']}").status_code == HTTPStatus.OK
    press(support, "lift", stopped)
    assert app.post_build(body).status_code == HTTPStatus.CREATED
    said = LogEntry.objects.filter(object_id=str(stopped.pk)).values_list("change_message", flat=True)
    assert any(REASON in message for message in said)


def test_a_stop_leaves_other_networks_and_partners_alone(support: ConsoleClient, app: PartnerApp) -> None:
    stop(support, partner=PartnerFactory.create().pk)
    BuildStop.objects.create(network="eip155:8453", reason=REASON, stopped_by="x")
    assert app.post_build(app.body({"DAI": 100}, output="USDC")).status_code == HTTPStatus.CREATED


def test_an_offer_that_was_signed_while_builds_were_being_stopped_is_not_handed_out(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign = issuing.sign_authorization

    def slowly(*arguments: Any, **options: Any) -> Any:
        BuildStop.objects.create(reason=REASON, stopped_by="x")
        return sign(*arguments, **options)

    monkeypatch.setattr(issuing, "sign_authorization", slowly)
    assert error_of(app.post_build(app.body({"DAI": 100}, output="USDC")))[1] == "build_disabled"
    assert not Sweep.objects.exists()


def test_the_same_builds_are_stopped_once_at_a_time_and_a_lift_names_who(support: ConsoleClient) -> None:
    first = stop(support)
    again = support.post(reverse("admin:sweeps_buildstop_add"), {"reason": REASON})
    assert "stopped already" in again.content.decode()
    with pytest.raises(IntegrityError), transaction.atomic():
        BuildStop.objects.filter(pk=first.pk).update(lifted_by="", lifted_at=first.stopped_at)
    press(support, "lift", first)
    stop(support)
    first.refresh_from_db()
    assert (first.stopped_by, first.lifted_by) == ("on call", "on call")


def test_a_partner_is_suspended_and_reactivated_with_a_reason_at_the_next_request(
    support: ConsoleClient, api: Client, partner: Partner
) -> None:
    assert api.get("/v2/partner").status_code == HTTPStatus.OK
    press(support, "suspend", partner)
    assert error_of(api.get("/v2/partner")) == (HTTPStatus.FORBIDDEN, "partner_suspended")
    press(support, "reactivate", partner)
    assert api.get("/v2/partner").status_code == HTTPStatus.OK
    said = LogEntry.objects.filter(object_id=str(partner.pk)).order_by("pk").values_list("change_message", flat=True)
    assert list(said) == [f"Now suspended: {REASON}", f"Now active: {REASON}"]


def test_a_key_is_revoked_with_a_reason(support: ConsoleClient, api: Client, partner: Partner) -> None:
    key = ApiKey.objects.get(partner=partner)
    press(support, "revoke", key)
    assert error_of(api.get("/v2/partner"))[1] == "invalid_api_key"
    assert LogEntry.objects.get(object_id=str(key.pk)).change_message == f"Revoked: {REASON}"


def test_every_page_says_which_brakes_are_on(support: ConsoleClient, partner: Partner) -> None:
    pages = [reverse("admin:index"), reverse("admin:sweeps_sweep_changelist")]
    stopped = stop(support)
    press(support, "suspend", partner)
    for page in pages:
        assert f"builds stopped on all networks, {partner.name} suspended" in support.get(page).content.decode()
    press(support, "lift", stopped)
    press(support, "reactivate", partner)
    for page in pages:
        assert "builds stopped" not in support.get(page).content.decode()
