"""Fixtures of the tests of the worker."""

import pytest

from sweeps.models import Sweep
from tests.factories.sweeps import unused_after_deadline
from tests.indexer.reconciled import state
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.settling import settle


@pytest.fixture
def executed(app: PartnerApp) -> Sweep:
    """A V5 sweep that was executed on a final block, which was not reported, and that is closed by mistake."""
    built = app.build()
    app.execute(built)
    app.chain.mine(FINAL_AFTER)
    sweep = Sweep.objects.get(id=built["sweepId"])
    settle(sweep_id=sweep.id, reading=unused_after_deadline(sweep))
    assert state(sweep) == ("expired", False, [])
    return sweep
