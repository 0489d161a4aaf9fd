"""Migrations of the EVM rails keep what is stored, forward and back."""

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

from sweeps.rails.evm.models import Leg
from tests.factories.sweeps import CONTRACT, PermitFactory, SweepFactory
from tests.sweeps.rails.evm.test_constraints import create_leg

pytestmark = pytest.mark.django_db


def migrate(name: str) -> StateApps:
    """Migrate to a state inside the test's transaction, and return its models."""
    connection.check_constraints()  # a table with deferred checks can't be altered
    target = [("evm", name)]
    MigrationExecutor(connection).migrate(target)
    apps: StateApps = MigrationExecutor(connection).loader.project_state(target).apps
    return apps


def test_legs_of_routers_and_of_the_wrapped_coin_are_still_told_apart() -> None:
    routed = create_leg(SweepFactory.create(), hop=Leg.Hop.ROUTER, exchange="uniswap_v3", target=CONTRACT)
    unwrapped = create_leg(SweepFactory.create())

    before = migrate("0002_scanned_blocks").get_model("evm", "Leg").objects
    assert dict(before.values_list("pk", "funding")) == {routed.pk: 0, unwrapped.pk: 2}
    assert before.get(pk=routed.pk).router == "uniswap_v3"

    after = migrate("0003_pool_legs").get_model("evm", "Leg").objects
    assert dict(after.values_list("pk", "hop")) == {routed.pk: "router", unwrapped.pk: "unwrapped"}
    assert after.get(pk=routed.pk).exchange == "uniswap_v3"


def test_a_permit_of_the_first_contracts_has_no_floors() -> None:
    permit = PermitFactory.create()
    migrate("0002_scanned_blocks")
    kept = migrate("0003_pool_legs").get_model("evm", "Permit").objects.get()
    assert (kept.nonce, kept.floors, kept.max_skipped) == (permit.nonce, [], 0)
