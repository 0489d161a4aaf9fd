"""POST /v2/sweep/build: what a partner chooses reaches the domain, is stored, and is used for every later offer."""

from typing import Any

import pytest

from sweepapi.modes import Mode
from sweeps.models import Sweep
from sweeps.protocol.request import BuildRequest, WalletAtomic, WalletSays
from sweeps.views.serializers.requests import BuildRequestSerializer
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

CHOICES: dict[str, Any] = {
    "acceptPriceImpactBps": 0,
    "approvals": "unlimited",
    "clientReference": " order #1017 ~",
    "execution": {"wallet": {"atomic": "ready", "gasLimitOverride": True, "gas": "sponsored"}},
}


def request_of(body: dict[str, Any]) -> BuildRequest:
    serializer = BuildRequestSerializer(data=body, context={"mode": Mode.TEST})
    serializer.is_valid(raise_exception=True)
    return serializer.to_request()


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"max_skipped": 0, "leaves_out": False, "accepted_impact_bps": None, "unlimited_approvals": False}),
        ({}, {"wallet_says": WalletSays(), "client_reference": "", "accepts_uneconomic": False}),
        ({"acceptUneconomic": True}, {"accepts_uneconomic": True}),
        ({"onUnroutable": "reject", "onLegFailure": "revert"}, {"leaves_out": False, "max_skipped": 0}),
        ({"onUnroutable": "skip"}, {"leaves_out": True, "max_skipped": 0}),
        ({"onLegFailure": "skip"}, {"leaves_out": False, "max_skipped": None}),
        ({"onLegFailure": "skip", "maxSkipped": 3}, {"max_skipped": 3}),
        ({"acceptPriceImpactBps": 0}, {"accepted_impact_bps": 0}),
        ({"acceptPriceImpactBps": 10_000}, {"accepted_impact_bps": 10_000}),
        ({"approvals": "exact"}, {"unlimited_approvals": False}),
        ({"approvals": "unlimited"}, {"unlimited_approvals": True}),
        ({"clientReference": "x" * 64}, {"client_reference": "x" * 64}),
        *[
            ({"execution": {"wallet": {"atomic": atomic.value}}}, {"wallet_says": WalletSays(atomic)})
            for atomic in (WalletAtomic.SUPPORTED, WalletAtomic.READY, WalletAtomic.UNSUPPORTED)
        ],
        (
            {"execution": {"wallet": {"gasLimitOverride": True, "gas": "sponsored"}}},
            {"wallet_says": WalletSays(takes_gas_limits=True, gas_is_sponsored=True)},
        ),
    ],
    ids=str,
)
def test_each_choice_has_its_default(app: PartnerApp, changes: dict[str, Any], expected: dict[str, Any]) -> None:
    request = request_of(app.body(**changes))
    assert {name: getattr(request, name) for name in expected} == expected


def test_another_offer_of_a_sweep_is_made_under_the_choices_of_its_build(app: PartnerApp) -> None:
    app.build(**CHOICES)
    request = BuildRequest.of(Sweep.objects.get())
    chosen = (request.accepted_impact_bps, request.unlimited_approvals, request.wallet_says)
    assert chosen == (0, True, WalletSays(WalletAtomic.READY, takes_gas_limits=True, gas_is_sponsored=True))


def test_without_choices_another_offer_has_the_defaults(app: PartnerApp) -> None:
    app.build()
    request = BuildRequest.of(Sweep.objects.get())
    assert (request.accepted_impact_bps, request.unlimited_approvals, request.wallet_says) == (
        None,
        False,
        WalletSays(),
    )


def test_the_partners_reference_is_shown_wherever_the_sweep_is(app: PartnerApp) -> None:
    built = app.build(**CHOICES)
    listed = app.api.get("/v2/sweep/history").json()["data"]["items"]
    shown = [one["clientReference"] for one in (built, app.state(built["sweepId"]), *listed)]
    assert shown == [CHOICES["clientReference"]] * 3


def test_a_sweep_without_a_reference_is_shown_with_null(app: PartnerApp) -> None:
    built = app.build()
    assert built["clientReference"] is app.state(built["sweepId"])["clientReference"] is None


def test_several_sweeps_may_share_a_reference(app: PartnerApp) -> None:
    first, second = (app.build(clientReference="twice") for _ in range(2))
    assert first["sweepId"] != second["sweepId"]
    assert first["clientReference"] == second["clientReference"] == "twice"
