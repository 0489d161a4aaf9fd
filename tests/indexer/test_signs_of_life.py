"""Work that lasts long shows between its steps that the worker is at work."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.utils import timezone

from indexer import checks
from sweeps.heartbeats import WORKER, Heart
from sweeps.models import Heartbeat, Sweep
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

LOOPS = [checks.check_due, checks.check_clocks]


@pytest.fixture
def due(app: PartnerApp) -> None:
    """A sweep for each loop to look at."""
    built = app.build()
    app.confirm(built, app.execute(built))
    app.build()
    long_ago = timezone.now() - timedelta(minutes=1)
    Sweep.objects.filter(status="pending").update(next_check_at=long_ago)


@pytest.mark.usefixtures("due")
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__)
def test_each_loop_beats_in_the_worker(loop: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Heart.of_this_thread, "heart", Heart(WORKER), raising=False)
    loop()
    assert Heartbeat.objects.filter(name=WORKER).exists()


@pytest.mark.usefixtures("due")
def test_outside_the_worker_nothing_beats() -> None:
    assert checks.check_due() == 1
    assert not Heartbeat.objects.exists()
