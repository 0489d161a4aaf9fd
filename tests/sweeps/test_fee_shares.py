"""A change of the partner's share is effective from its time, and never alters what was built before."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from partners.models import ApiKey, Partner
from sweepapi.fees import FeeRates, floor_share
from sweepapi.modes import Mode
from sweeps.models import Sweep
from tests.factories.partners import FeeShareFactory, random_address
from tests.local_chain import LocalChain
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db


def test_a_scheduled_share_has_no_effect_on_a_build_before_its_time(app: PartnerApp, partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=2500, effective_from=timezone.now() + timedelta(hours=1))
    assert app.build()["feeAuthorization"]["partnerShareBps"] == 4000


def test_a_build_after_the_time_of_a_share_has_it(app: PartnerApp, partner: Partner) -> None:
    FeeShareFactory.create(partner=partner, share_bps=2500, effective_from=timezone.now() - timedelta(seconds=1))
    built = app.build()
    assert built["feeAuthorization"]["partnerShareBps"] == built["feeSummary"]["partnerShareBps"] == 2500
    assert Sweep.objects.get().partner_share_bps == 2500


def test_a_sweep_that_was_built_before_a_change_is_split_by_the_earlier_share(
    app: PartnerApp, partner: Partner
) -> None:
    built = app.build()
    FeeShareFactory.create(partner=partner, share_bps=2500)
    state = app.confirm(built, app.execute(built))
    assert (state["status"], state["flags"]) == ("completed", [])
    assert Sweep.objects.get().partner_share_bps == 4000
    due = FeeRates(75, 4000).split(int(state["feeAuthorization"]["actualFees"]["grossOutput"]))
    assert {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]} == {
        "fees_charged": due.total_fee,
        "partner_settled": due.partner_fee,
        "protocol_revenue": due.protocol_fee,
    }


def test_a_partner_that_is_paid_later_is_owed_the_share_of_the_build(
    app: PartnerApp, partner: Partner, use_mode: Callable[[str], object]
) -> None:
    use_mode("v4_fallback")
    built = app.build()
    FeeShareFactory.create(partner=partner, share_bps=2500)
    state = app.confirm(built, app.execute(built))
    fees = {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]}
    assert fees["partner_payable"] == floor_share(fees["fees_charged"], 4000)


@pytest.mark.usefixtures("each_mode")
def test_a_partner_that_was_created_by_a_host_whose_clock_is_ahead_can_build(chain: LocalChain) -> None:
    ahead = timezone.now() + timedelta(seconds=30)
    partner = Partner.objects.create(name="Acme", payout_wallet=random_address())
    FeeShareFactory.create(partner=partner, share_bps=1234, effective_from=ahead, created_at=ahead)
    _, plaintext = ApiKey.issue(partner=partner, name="tests", mode=Mode.TEST)
    app = PartnerApp(Client(headers={"x-api-key": plaintext}), chain)
    assert app.build()["feeSummary"]["partnerShareBps"] == 1234


def test_the_share_of_a_build_is_that_by_the_clock_of_the_database(
    app: PartnerApp, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    FeeShareFactory.create(partner=partner, share_bps=2500, effective_from=now - timedelta(seconds=1))
    FeeShareFactory.create(partner=partner, share_bps=3500, effective_from=now + timedelta(minutes=1))
    for wrong in (now - timedelta(seconds=20), now + timedelta(minutes=2)):
        monkeypatch.setattr(timezone, "now", lambda wrong=wrong: wrong)
        assert app.build()["feeAuthorization"]["partnerShareBps"] == 2500
