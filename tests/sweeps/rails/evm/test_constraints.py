"""PostgreSQL enforces the rules of legs and permits."""

from typing import Any

import pytest
from django.db import IntegrityError, transaction

from sweeps.models import Sweep
from sweeps.rails.evm.models import LastHop, Leg, LegPermit, Permit, PermitNonces
from tests.factories.sweeps import CONTRACT, LOCAL, PermitFactory, SweepFactory

pytestmark = pytest.mark.django_db


def create_leg(sweep: Sweep, **changes: Any) -> Leg:
    """Store a leg of the only token in the only offer of a sweep."""
    facts: dict[str, Any] = {
        "offer": sweep.offers.get(),
        "token": sweep.tokens.get(),
        "hop": Leg.Hop.UNWRAPPED,
        "skippable": False,
        "expected_output": 2,
        "min_output": 1,
        "price_limit": 0,
        "path": [],
        "fee_tiers": [],
        "data": b"",
    }
    return Leg.objects.create(**(facts | changes))


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        ("leg_minimum_positive", {"min_output": 0}),
        ("leg_minimum_positive", {"hop": "dropped"}),
        ("leg_hop_known", {"hop": "prefunded"}),
        ("leg_skippable_in_a_pool", {"skippable": True, "hop": "router", "target": CONTRACT}),
        ("leg_skippable_in_a_pool", {"skippable": True, "hop": "joined"}),
    ],
)
def test_an_inconsistent_leg_is_refused(constraint: str, changes: dict[str, Any]) -> None:
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        create_leg(SweepFactory.create(), **changes)


def test_a_permit_of_an_unknown_kind_is_refused() -> None:
    leg = create_leg(SweepFactory.create())
    with pytest.raises(IntegrityError, match="leg_permit_kind_known"), transaction.atomic():
        LegPermit.objects.create(leg=leg, kind="OTHER", name="Token", version="1", nonce=0)
    permit = LegPermit.objects.create(leg=leg, kind="DAI", name="", version="1", nonce=0)
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        LegPermit.objects.update(nonce=1)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        permit.delete()


def test_a_token_has_one_leg_per_offer() -> None:
    sweep = SweepFactory.create()
    create_leg(sweep)
    with pytest.raises(IntegrityError, match="leg_once_an_offer"), transaction.atomic():
        create_leg(sweep)


def test_a_leg_is_never_changed_or_removed() -> None:
    leg = create_leg(SweepFactory.create())
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        Leg.objects.update(min_output=2)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        leg.delete()


def test_a_last_hop_belongs_to_one_offer_and_is_never_changed_or_removed() -> None:
    offer = SweepFactory.create().offers.get()
    last = LastHop.objects.create(offer=offer, venue="uniswap_v3", pool=CONTRACT, fee_tier=500)
    with pytest.raises(IntegrityError, match="offer_id"), transaction.atomic():
        LastHop.objects.create(offer=offer, venue="uniswap_v2", pool=CONTRACT)
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        LastHop.objects.update(venue="uniswap_v2")
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        last.delete()


def test_a_permit_is_never_changed_or_removed() -> None:
    permit = PermitFactory.create()
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        Permit.objects.update(nonce=permit.nonce + 1)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        permit.delete()


def test_a_wallet_has_one_counter_of_nonces_per_network() -> None:
    PermitNonces.objects.create(network=LOCAL, wallet=CONTRACT)
    PermitNonces.objects.create(network="eip155:8453", wallet=CONTRACT)
    with pytest.raises(IntegrityError, match="permit_nonces_of_wallet"), transaction.atomic():
        PermitNonces.objects.create(network=LOCAL, wallet=CONTRACT)
