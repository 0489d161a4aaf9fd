"""POST /v2/sweep/status/:id/confirm while others change the sweep, at each point of the request."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import claims
from sweeps.models import Sweep, SweepTransaction
from sweeps.rails.evm.base import EvmBase
from sweeps.story import confirm
from tests.factories.ledger import random_hash
from tests.factories.sweeps import block_at, evm_reading
from tests.partner_app import PartnerApp, error_of
from tests.settling import settle

pytestmark = pytest.mark.django_db


def run_once(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, rival: Callable[[], object], *, first: bool
) -> None:
    """Run the rival once, right before or after the next call of a function."""
    original = getattr(module, name)

    def call(*arguments: Any, **options: Any) -> Any:
        monkeypatch.setattr(module, name, original)
        if first:
            rival()
            return original(*arguments, **options)
        result = original(*arguments, **options)
        rival()
        return result

    monkeypatch.setattr(module, name, call)


def test_another_hash_is_looked_up_if_the_accepted_one_is_undone_while_the_sweep_is_read(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, _ = app.complete()
    height, other = state["transaction"]["blockNumber"], random_hash()

    def undo() -> None:
        settle(
            sweep_id=Sweep.objects.get().id,
            reading=evm_reading(head_number=height + 1, canonical=block_at(height, fork=1)),
        )
        assert Sweep.objects.get().status == "pending"

    run_once(monkeypatch, confirm, "read_snapshot", undo, first=False)
    response = app.post_confirm(state["sweepId"], other)
    assert error_of(response) == (409, "sweep_already_confirmed"), "its check finds that one on the chain again"
    assert SweepTransaction.objects.get(tx_hash=other).status == "replaced"


def test_a_lease_that_is_renewed_during_the_check_ends_as_late_as_it_was_renewed_to(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    built, tx_hash = app.build(), random_hash()
    app.confirm(built, tx_hash, status=202)
    Sweep.objects.update(next_check_at=timezone.now() - timedelta(minutes=1))
    claim = claims.claim_due()
    assert claim is not None
    Sweep.objects.update(lease_until=timezone.now() + timedelta(milliseconds=1))
    run_once(monkeypatch, EvmBase, "follow", lambda: claims.renew(claim), first=True)
    app.confirm(built, tx_hash, status=202)
    held = Sweep.objects.get()
    assert held.lease_token == claim.lease
    assert held.lease_until is not None
    assert held.lease_until > timezone.now() + timedelta(seconds=1)
    assert claims.claim_due() is None
