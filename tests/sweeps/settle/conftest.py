"""Sweeps to settle."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone

from sweeps.models import Sweep, SweepTransaction
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory


@pytest.fixture
def sweep() -> Sweep:
    return SweepFactory.create()


@pytest.fixture
def tx(sweep: Sweep) -> SweepTransaction:
    return SweepTransactionFactory.create(sweep=sweep)


@pytest.fixture
def void_sweep() -> Sweep:
    return SweepFactory.create(status="void", voided_at=timezone.now(), void_reason="requested by the user")


@pytest.fixture
def overdue_sweep() -> Sweep:
    """A sweep whose deadline passed decades ago by the server's clock."""
    return SweepFactory.create(deadline=datetime.fromtimestamp(1, tz=UTC))
