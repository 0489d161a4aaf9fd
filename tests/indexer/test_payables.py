"""The whole path of a partner that is paid later, on the local chain: earned, final, paid out, reorganised, settled."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.utils import timezone

from indexer import checks
from ledger.balances import Balance, balance_of
from ledger.payouts import check_payout, record_payout, transfer_of
from partners.models import Partner
from sweepapi import networks
from sweeps.models import Execution, Sweep
from sweeps.story import reopening
from sweeps.story.reopening import reopen
from tests.factories.sweeps import LOCAL, SweepTransactionFactory
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp
from tests.payments import Treasury

pytestmark = pytest.mark.django_db


@pytest.fixture
def built(app: PartnerApp, use_mode: Callable[[str], None], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A V4 sweep that was built and approved."""
    use_mode("v4_fallback")
    monkeypatch.setattr(reopening, "wake", lambda _sweep_id, at: at)
    answer = app.build()
    app.approve(answer)
    return answer


def look() -> Sweep:
    """Check the sweep as the worker does when it is due."""
    Sweep.objects.filter(is_open=True).update(next_check_at=timezone.now())
    sweep = Sweep.objects.get()
    checks.check_one(sweep.id)
    sweep.refresh_from_db()
    return sweep


def execute(app: PartnerApp, built: dict[str, Any]) -> str:
    """Send the sweep, and follow it until it is final."""
    tx_hash = app.chain.sign_and_send(app.user, built)
    if not Sweep.objects.get().transactions.exists():
        SweepTransactionFactory.create(sweep=Sweep.objects.get(), tx_hash=tx_hash)
    assert look().status == "completed"
    app.chain.mine(FINAL_AFTER)
    assert not look().is_open
    return tx_hash


def balance(partner: Partner, asset: str) -> Balance:
    found = balance_of(partner, network=LOCAL, asset=asset)
    assert found is not None
    return found


def test_a_reorganisation_below_a_final_block_after_a_payout_leaves_a_debt_until_it_is_mined_again(
    app: PartnerApp, built: dict[str, Any], treasury: Treasury, partner: Partner
) -> None:
    weth = treasury.chain.token("WETH")
    before = app.chain.rpc("evm_snapshot")
    tx_hash = execute(app, built)
    fee = Execution.objects.get().amounts.partner_fee
    assert fee > 0
    assert balance(partner, weth.address) == Balance(LOCAL, weth.address, owed=fee, available=fee)

    paid = treasury.pay(partner.payout_wallet, fee, weth)
    transfer = transfer_of(partner=partner, network=LOCAL, asset=weth.address, amount=fee, tx_hash=paid)
    checked = check_payout(networks.current(), transfer)
    assert record_payout(checked, note="", recorded_by="ops").payout.sender == treasury.account.address
    assert balance(partner, weth.address).available == 0

    app.chain.roll_back(before)
    app.chain.mine(3 * FINAL_AFTER)
    assert checks.check_due() == 0, "a closed sweep is not checked"
    assert balance(partner, weth.address).debt == 0

    assert reopen(sweep_id=UUID(built["sweepId"]), reason="The chain halted.", requested_by="ops")
    sweep = look()
    assert (sweep.status, sweep.flags) == ("pending", ["partner_in_debt", "reorganised"])
    assert balance(partner, weth.address).debt == fee

    assert execute(app, built) == tx_hash
    assert Sweep.objects.get().flags == ["reorganised"]
    assert balance(partner, weth.address).debt == 0


def test_a_sweep_that_is_opened_again_without_a_reorganisation_stays_booked_once(
    app: PartnerApp, built: dict[str, Any], treasury: Treasury, partner: Partner
) -> None:
    weth = treasury.chain.token("WETH")
    execute(app, built)
    before = balance(partner, weth.address)
    assert reopen(sweep_id=UUID(built["sweepId"]), reason="The chain halted.", requested_by="ops")
    sweep = look()
    assert (sweep.status, sweep.is_open, sweep.flags) == ("completed", False, [])
    assert balance(partner, weth.address) == before
