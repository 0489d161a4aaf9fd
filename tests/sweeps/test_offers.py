"""A sweep may be offered again: terms and the user's signature stay the same, routes and expectations are current."""

from collections.abc import Callable
from typing import Any

import pytest
from django.utils import timezone
from pytest_django import Settings

from partners.models import Partner
from sweepapi import networks
from sweepapi.errors import NewBuildRequired, SweepAlreadyConfirmed, SweepApiError, SweepExpired, SweepVoid
from sweepapi.evm.chain.chains import Chain
from sweepapi.fees import FeeRates
from sweeps.models import Offer, Sweep
from sweeps.rails.evm_v5.models import FeeAuthorization
from sweeps.story.build import renew_offer
from sweeps.story.withdrawal import void
from tests.factories.partners import FeeShareFactory
from tests.factories.sweeps import (
    LOCAL,
    OfferFactory,
    SweepTransactionFactory,
    V4SweepFactory,
    evm_reading,
    executed_receipt,
    unused_after_deadline,
)
from tests.market_moves import crash_price
from tests.partner_app import PartnerApp, only_v5
from tests.settling import settle
from tests.snapshots import fees_shown

pytestmark = pytest.mark.django_db


@pytest.fixture
def app(app: PartnerApp, each_mode: str) -> PartnerApp:
    """The partner's application, while the service builds in each of its modes."""
    assert each_mode
    return app


def move_the_market(app: PartnerApp) -> None:
    """Sell much more of the same token from another wallet, so that the next quote is lower."""
    other = app.chain.users[1]
    built = app.build({"USDC": 300.0}, wallet=other.address)
    app.execute(built, user=other)


def offered_twice(app: PartnerApp) -> tuple[dict[str, Any], dict[str, Any]]:
    """Build a sweep through a last hop, let the price fall, offer it again, and return both answers."""
    first = app.build(output="UNI")
    move_the_market(app)
    return first, renew_offer(networks.current(), Sweep.objects.get(id=first["sweepId"]), answered=dict)


def outputs(answer: dict[str, Any]) -> dict[str, int]:
    """Return the outputs of an answer, in the smallest unit."""
    return {name: int(answer["estimatedOutput"][name]) for name in ("gross", "minGross", "user", "minUser")}


def test_the_first_offer_can_be_executed_after_a_second_one_was_issued(app: PartnerApp) -> None:
    first = app.build()
    renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
    state = app.confirm(first, app.execute(first))
    assert (state["status"], state["flags"]) == ("completed", [])
    actual = {name: int(amount) for name, amount in state["feeAuthorization"]["actualFees"].items()}
    assert {entry["account"]: int(entry["amount"]) for entry in state["ledger"]["entries"]} == {
        "fees_charged": actual["totalFee"],
        "partner_settled" if state["contractVersion"] == "v5" else "partner_payable": actual["partnerFee"],
        "protocol_revenue": actual["protocolFee"],
    }


def test_the_second_offer_is_executed_with_the_signature_for_the_first(app: PartnerApp) -> None:
    first, second = offered_twice(app)
    assert second["permit2"] == first["permit2"]
    assert second["transaction"]["data"] != first["transaction"]["data"]
    assert app.confirm(first, app.execute(second))["status"] == "completed"


def test_only_one_of_two_offers_can_be_executed(app: PartnerApp) -> None:
    first = app.build()
    second = renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
    app.confirm(first, app.execute(first))
    assert app.chain.receipt(app.chain.sign_and_send(app.user, second))["status"] == 0


def test_a_second_offer_keeps_the_terms_of_the_sweep_even_if_the_partner_changed(
    app: PartnerApp, partner: Partner, settings: Settings
) -> None:
    first = app.build()
    FeeShareFactory.create(partner=partner, share_bps=1)
    settings.TOTAL_FEE_BPS = 2
    second = renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
    assert second["expiresAt"] == first["expiresAt"]
    assert second["permit2"] == first["permit2"]
    assert (second["feeSummary"]["totalFeeBps"], second["feeSummary"]["partnerShareBps"]) == (75, 4000)


@only_v5
def test_a_second_authorization_differs_only_in_its_legs(app: PartnerApp) -> None:
    first, second = offered_twice(app)
    terms, renewed = first["feeAuthorization"], second["feeAuthorization"]
    assert {name for name in terms if renewed[name] != terms[name]} == {"legsHash", "signature", "digest"}


@only_v5
def test_every_offer_has_its_own_authorization_under_one_nonce(app: PartnerApp) -> None:
    first, second = offered_twice(app)
    sweep = Sweep.objects.get(id=first["sweepId"])
    signed = FeeAuthorization.objects.filter(offer__sweep=sweep).order_by("offer__sequence")
    assert [one.offer.sequence for one in signed] == [1, 2]
    assert [one.digest for one in signed] == [answer["feeAuthorization"]["digest"] for answer in (first, second)]
    assert len({one.digest for one in signed}) == 2
    assert {str(one.nonce) for one in signed} == {sweep.executions.get().execution_id}
    assert [offer.legs.count() for offer in sweep.offers.all()] == [1, 1]


def test_the_expected_fees_follow_the_newest_offer(app: PartnerApp) -> None:
    first, second = offered_twice(app)
    assert outputs(second)["gross"] < outputs(first)["gross"]
    expected = app.state(first["sweepId"])["feeAuthorization"]["expectedFees"]
    assert int(expected["grossOutput"]) == outputs(second)["gross"]
    assert int(expected["totalFee"]) == FeeRates(75, 4000).split(outputs(second)["gross"]).total_fee


def test_the_minimum_is_the_one_that_was_signed_first(app: PartnerApp) -> None:
    first, second = offered_twice(app)
    for name in ("minGross", "minUser"):
        assert outputs(second)[name] == outputs(first)[name]
    assert outputs(second)["minUser"] == sum(map(int, second["permit2"]["message"]["witness"]["floors"]))


@pytest.mark.parametrize(("gross_output", "flags"), [(989_999, []), (989_998, ["below_minimum"])])
@pytest.mark.parametrize("expected_gross", [1, 2_000_000])
def test_below_minimum_refers_to_the_minimum_of_the_sweep_and_not_of_the_newest_offer(
    expected_gross: int, gross_output: int, flags: list[str]
) -> None:
    tx = SweepTransactionFactory.create(sweep=V4SweepFactory.create())
    OfferFactory.create(sweep=tx.sweep, sequence=2, expected_gross=expected_gross)
    settled = settle(
        sweep_id=tx.sweep.id, reading=evm_reading(executed_receipt(tx, gross_output=gross_output))
    ).stored.sweep
    assert (settled.status, settled.flags) == ("completed", flags)
    assert fees_shown(Sweep.objects.get(), "expected") == FeeRates(75, 4000).split(expected_gross)


@only_v5
def test_a_sweep_is_not_offered_again_at_another_contract(app: PartnerApp, change_chain: Callable[..., Chain]) -> None:
    app.build()
    change_chain(v5_contract=networks.current().chain(LOCAL).v4_contract)
    with pytest.raises(NewBuildRequired):
        renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
    assert Offer.objects.count() == 1


def test_an_offer_that_would_miss_the_signed_minimum_is_not_made(app: PartnerApp) -> None:
    app.build({"LINK": 1}, slippageBps=50)
    crash_price(app, "LINK")
    with pytest.raises(NewBuildRequired):
        renew_offer(networks.current(), Sweep.objects.earliest("created_at"), answered=dict)
    assert Offer.objects.filter(sweep__wallet=app.user.address).count() == 1


@pytest.mark.parametrize(
    ("status", "error"), [("void", SweepVoid), ("expired", SweepExpired), ("completed", SweepAlreadyConfirmed)]
)
def test_a_sweep_that_can_no_longer_be_executed_is_not_offered_again(
    app: PartnerApp, status: str, error: type[SweepApiError], round_trips: list[list[str]]
) -> None:
    built = app.build()
    if status == "completed":
        app.confirm(built, app.execute(built))
    elif status == "void":
        void(sweep_id=Sweep.objects.get().id, reason="test", requested_by="ops")
    else:
        settle(sweep_id=Sweep.objects.get().id, reading=unused_after_deadline(Sweep.objects.get()))
    round_trips.clear()
    with pytest.raises(error):
        renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
    assert (Offer.objects.count(), round_trips) == (1, [])


def test_a_sweep_whose_deadline_has_passed_is_not_offered_again(app: PartnerApp) -> None:
    app.build()
    Sweep.objects.update(deadline=timezone.now())
    with pytest.raises(SweepExpired):
        renew_offer(networks.current(), Sweep.objects.get(), answered=dict)
