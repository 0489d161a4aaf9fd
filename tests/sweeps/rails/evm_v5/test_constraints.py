"""PostgreSQL enforces the rules of authorizations."""

import pytest
from django.db import IntegrityError, transaction

from sweeps.rails.evm_v5.models import FeeAuthorization
from tests.factories.sweeps import FeeAuthorizationFactory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("bps", [{"total_fee_bps": 301}, {"partner_share_bps": 10_001}], ids=str)
def test_fees_above_the_contracts_cap_and_shares_above_the_whole_are_refused(bps: dict[str, int]) -> None:
    with pytest.raises(IntegrityError, match="authorization_bps_in_range"), transaction.atomic():
        FeeAuthorizationFactory.create(**bps)


def test_an_authorization_is_never_changed_or_removed() -> None:
    authorization = FeeAuthorizationFactory.create()
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        FeeAuthorization.objects.update(deadline_seconds=1)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        authorization.delete()
