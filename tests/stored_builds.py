"""Reads what builds store and reserve, so that a test can see that nothing was."""

from typing import Any

from django.db.models import QuerySet

from sweeps.models import Offer, Sweep
from sweeps.rails.evm.models import PermitNonces


def stored_rows() -> list[dict[str, Any]]:
    """Return sweeps, offers, and the nonces of users."""
    tables: list[QuerySet[Any]] = [
        Sweep.objects.all(),
        Offer.objects.all(),
        PermitNonces.objects.all(),
    ]
    return [row for table in tables for row in table.values()]
