"""A change of the partner's share is effective from its time, and never alters what was built before."""

from datetime import timedelta

import pytest
from django.utils import timezone

from partners.models import Partner
from sweepapi.fees import split
from sweeps.models import Sweep
from tests.factories.partners import FeeShareFactory
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
    due = split(int(state["feeAuthorization"]["actualFees"]["grossOutput"]), 75, 4000)
    assert {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]} == {
        "fees_charged": due.total_fee,
        "partner_settled": due.partner_fee,
        "protocol_revenue": due.protocol_fee,
    }
