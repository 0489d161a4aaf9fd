"""Migrations of partners keep what is stored, forward and back."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps
from django.utils import timezone

from partners.models import ApiKey
from sweepapi.modes import Mode
from tests.factories.partners import FeeShareFactory, PartnerFactory

pytestmark = pytest.mark.django_db


def migrate(name: str) -> StateApps:
    """Migrate to a state inside the test's transaction, and return its models."""
    connection.check_constraints()  # a table with deferred checks can't be altered
    target = [("partners", name)]
    MigrationExecutor(connection).migrate(target)
    apps: StateApps = MigrationExecutor(connection).loader.project_state(target).apps
    return apps


def test_shares_move_into_the_history_and_the_current_one_back() -> None:
    day = timedelta(days=1)
    first, second = PartnerFactory.create(fee_share_bps=1000), PartnerFactory.create(fee_share_bps=2000)
    for share_bps, days in ((3000, -2), (4000, -1), (5000, 1)):
        FeeShareFactory.create(partner=second, share_bps=share_bps, effective_from=timezone.now() + days * day)

    partners = migrate("0001_initial").get_model("partners", "Partner").objects
    assert dict(partners.values_list("pk", "fee_share_bps")) == {first.pk: 1000, second.pk: 4000}

    shares = migrate("0002_fee_shares").get_model("partners", "FeeShare").objects
    created_at = {partner.pk: partner.created_at for partner in (first, second)}
    assert set(shares.values_list("partner", "share_bps", "effective_from", "created_at")) == {
        (partner, share_bps, created_at[partner], created_at[partner])
        for partner, share_bps in ((first.pk, 1000), (second.pk, 4000))
    }


def test_keys_from_before_modes_are_live_and_may_do_what_they_could() -> None:
    issued, _ = ApiKey.issue(
        partner=PartnerFactory.create(), name="old", mode=Mode.TEST, scopes=["read"], allowed_ips=["198.51.100.7"]
    )
    issued.revoke()

    before = migrate("0006_fewer_indexes").get_model("partners", "ApiKey").objects.values().get()
    assert not {"mode", "scopes", "allowed_ips", "replaced_by_id"} & before.keys()

    after = migrate("0009_rate_limits").get_model("partners", "ApiKey").objects.values().get()
    all_so_far = ["build", "read", "confirm", "ledger"]
    assert after == before | {"mode": "live", "scopes": all_so_far, "allowed_ips": [], "replaced_by_id": None}
    assert (after["digest"], after["revoked_at"]) == (issued.digest, issued.revoked_at)
