"""Completed sweeps rest on their blocks: one check of a block makes all of them safe, final, or due again."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from indexer import blocks, checks, reconciliation
from ledger.models import Finality
from partners.webhooks.models import WebhookMessage
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep, SweepTransaction, WatchedBlock
from sweeps.story import finality
from sweeps.wake import check_now
from tests.fake_node import FakeNode, hiding_logs, lagging
from tests.indexer.reconciled import kinds_booked, sweep_of
from tests.local_chain import FINAL_AFTER, SAFE_AFTER
from tests.partner_app import PartnerApp
from tests.scenarios.scene import Scene

pytestmark = pytest.mark.django_db

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


@pytest.fixture
def completed(app: PartnerApp) -> dict[str, Any]:
    """A build whose sweep was executed in the newest block, and awaits finality."""
    built = app.build()
    app.confirm(built, app.execute(built))
    assert awaits_finality(built)
    return built


def awaits_finality(built: dict[str, Any]) -> bool:
    sweep = sweep_of(built)
    return sweep.next_check_at is None and sweep.watched_block is not None


def state(built: dict[str, Any]) -> tuple[str, bool, str]:
    """Return the status, whether the sweep is open, and the finality of its transaction."""
    sweep = sweep_of(built)
    return sweep.status, sweep.is_open, sweep.transactions.get().finality


def check_blocks() -> None:
    """Let the worker check each watched block now, and at no sweep."""
    WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=1))
    blocks.check_due()


def event_kinds(built: dict[str, Any]) -> list[str]:
    return [event.kind for event in sweep_of(built).events.all()]


# --- deeper and deeper ------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("each_mode")
def test_the_block_alone_is_checked_until_the_sweep_is_final(app: PartnerApp, completed: dict[str, Any]) -> None:
    before = sweep_of(completed)
    for depth, finality_then in ((0, "included"), (SAFE_AFTER, "safe"), (FINAL_AFTER - SAFE_AFTER, "final")):
        app.chain.mine(depth)
        check_blocks()
        assert state(completed) == ("completed", finality_then != "final", finality_then)
    after = sweep_of(completed)
    assert (after.check_attempts, after.last_checked_at) == (before.check_attempts, before.last_checked_at)
    assert (after.watched_block, after.next_check_at, WatchedBlock.objects.count()) == (None, None, 0)
    assert event_kinds(completed)[-3:] == ["finality_reached", "finality_reached", "closed"]
    assert [event.sequence for event in after.events.all()] == list(range(1, after.last_event + 1))
    assert Finality.objects.get().entry_id == after.executions.get().ledger_entry_id
    assert after.executions.get().closed_at == after.closed_at
    messages = WebhookMessage.objects.order_by("sequence").values_list("type", "is_final")
    assert list(messages) == [("sweep.completed", False), ("sweep.finalized", True)]


def test_the_set_leaves_the_same_as_a_check_of_the_sweep(app: PartnerApp) -> None:
    builds = [app.build({"USDC": 1}), app.build({"USDT": 1}, wallet=app.chain.users[1].address)]
    for built, user in zip(builds, app.chain.users, strict=False):
        app.confirm(built, app.execute(built, user=user))
    app.chain.mine(FINAL_AFTER)
    Sweep.objects.filter(id=builds[0]["sweepId"]).update(next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()
    check_blocks()
    assert [state(one) for one in builds] == [("completed", False, "final")] * 2
    assert event_kinds(builds[0]) == event_kinds(builds[1])
    assert sweep_of(builds[0]).last_event == sweep_of(builds[1]).last_event
    assert Finality.objects.count() == len(builds)


def test_confirmations_rise_with_the_head_of_the_last_check(app: PartnerApp, completed: dict[str, Any]) -> None:
    shown = [app.state(completed["sweepId"])["transaction"]["confirmations"]]
    app.chain.mine(4)
    check_blocks()
    shown.append(app.state(completed["sweepId"])["transaction"]["confirmations"])
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    shown.append(app.state(completed["sweepId"])["transaction"]["confirmations"])
    assert shown == [1, 5, 5 + FINAL_AFTER]
    assert SweepTransaction.objects.get().confirmations == 5 + FINAL_AFTER


def test_partners_see_when_the_block_is_checked(app: PartnerApp, completed: dict[str, Any]) -> None:
    check_blocks()
    due_at = WatchedBlock.objects.get().due_at
    shown = app.state(completed["sweepId"])["feeAuthorization"]["nextCheckAt"]
    assert datetime.fromisoformat(shown) - due_at < timedelta(seconds=1)


def test_two_sweeps_in_a_block_take_one_check(
    app: PartnerApp, use_providers: Providers, start_node: Start, same_block: list[dict[str, Any]]
) -> None:
    node = start_node()
    use_providers(node.url)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert [state(built) for built in same_block] == [("completed", False, "final")] * 2
    assert [batch.count("eth_getLogs") for batch in node.asked] == [0, 1]
    assert not any("eth_getTransactionReceipt" in batch for batch in node.asked)


@pytest.fixture
def same_block(app: PartnerApp) -> list[dict[str, Any]]:
    """Two builds whose sweeps were executed in the same block."""
    users = app.chain.users[:2]
    builds = [app.build({"USDC": 1}, wallet=user.address) for user in users]
    for built, user in zip(builds, users, strict=True):
        app.approve(built, user=user)
    scene = Scene(app)
    with app.chain.mining_paused():
        hashes = [
            scene.pooled(built, nonce=scene.next_nonce(user), fee_gwei=5, user=user)
            for user, built in zip(users, builds, strict=True)
        ]
        app.chain.mine()
    for built, tx_hash in zip(builds, hashes, strict=True):
        app.confirm(built, tx_hash)
    assert WatchedBlock.objects.count() == 1
    return builds


# --- what does not await finality -------------------------------------------------------------------------------------


def test_a_flagged_sweep_is_checked_itself(app: PartnerApp, completed: dict[str, Any]) -> None:
    Sweep.objects.update(flags=["below_minimum"], next_check_at=timezone.now() - timedelta(minutes=1))
    checks.check_due()
    assert not awaits_finality(completed)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert (state(completed)[1], WatchedBlock.objects.count()) == (True, 0)


def test_a_sweep_made_due_awaits_finality_again_after_its_check(completed: dict[str, Any]) -> None:
    assert check_now(sweep_of(completed).id)
    assert not awaits_finality(completed)
    checks.check_due()
    assert awaits_finality(completed)


def test_a_sweep_made_due_is_left_to_its_check(app: PartnerApp, completed: dict[str, Any]) -> None:
    app.chain.mine(FINAL_AFTER)
    assert check_now(sweep_of(completed).id)
    check_blocks()
    assert (state(completed)[1], WatchedBlock.objects.count()) == (True, 1)
    checks.check_due()
    check_blocks()
    assert (state(completed), WatchedBlock.objects.count()) == (("completed", False, "final"), 0)


# --- reorganisations --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, FINAL_AFTER - 1])
def test_a_block_that_leaves_the_chain_has_its_sweeps_checked(app: PartnerApp, depth: int) -> None:
    built = app.build()
    app.approve(built)
    before = app.chain.rpc("evm_snapshot")
    app.confirm(built, app.chain.sign_and_send(app.user, built))
    app.chain.mine(depth - 1)
    app.chain.roll_back(before)
    app.chain.mine(depth + 1, seconds=3)
    check_blocks()
    assert (state(built)[0], awaits_finality(built), WatchedBlock.objects.count()) == ("completed", False, 0)
    checks.check_due()
    assert sweep_of(built).status == "pending"
    assert kinds_booked(sweep_of(built)) == ["sweep_fee", "reversal"]


# --- providers --------------------------------------------------------------------------------------------------------


def test_one_provider_alone_makes_nothing_final(
    app: PartnerApp, completed: dict[str, Any], use_providers: Providers, start_node: Start
) -> None:
    laggard = start_node()
    laggard.alter = lagging(FINAL_AFTER)
    use_providers(app.chain.world["rpcUrl"], laggard.url)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert (state(completed)[1], awaits_finality(completed)) == (True, True)
    laggard.alter = lagging(0)
    check_blocks()
    assert state(completed) == ("completed", False, "final")


def renumbered(method: str, _params: list[Any], result: Any) -> Any:
    """Number logs by the block, where the other provider numbers them by the transaction, or the reverse."""
    if method != "eth_getLogs":
        return result
    return [one | {"logIndex": hex(int(one["logIndex"], 16) + 7)} for one in result]


def changed(method: str, _params: list[Any], result: Any) -> Any:
    return [one | {"data": "0x" + "01" * 64} for one in result] if method == "eth_getLogs" else result


@pytest.mark.parametrize("lie", [hiding_logs, changed])
def test_a_sweep_whose_logs_a_provider_shows_otherwise_is_checked_itself(
    app: PartnerApp, completed: dict[str, Any], use_providers: Providers, start_node: Start, lie: Any
) -> None:
    liar = start_node()
    liar.alter = lie
    use_providers(app.chain.world["rpcUrl"], liar.url)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert (state(completed)[1], awaits_finality(completed)) == (True, False)
    checks.check_due()
    assert state(completed) == ("completed", False, "final"), "both show the same receipt"


def test_providers_that_number_logs_differently_show_the_same(
    app: PartnerApp, completed: dict[str, Any], use_providers: Providers, start_node: Start
) -> None:
    other = start_node()
    other.alter = renumbered
    use_providers(app.chain.world["rpcUrl"], other.url)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert state(completed) == ("completed", False, "final")


def test_one_provider_that_names_another_block_undoes_nothing(
    app: PartnerApp,
    completed: dict[str, Any],
    use_providers: Providers,
    start_node: Start,
    caplog: pytest.LogCaptureFixture,
) -> None:
    liar = start_node()
    height = hex(WatchedBlock.objects.get().number)
    liar.alter = lambda method, params, result: (
        result | {"hash": "0x" + "99" * 32} if (method, params[:1]) == ("eth_getBlockByNumber", [height]) else result
    )
    use_providers(liar.url, app.chain.world["rpcUrl"])
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert (state(completed)[:2], awaits_finality(completed)) == (("completed", True), True)
    assert "providers_disagree" in caplog.text


def test_what_differs_from_what_was_accepted_is_not_closed_by_the_set(
    app: PartnerApp, completed: dict[str, Any]
) -> None:
    SweepTransaction.objects.update(logs_digest="00" * 32)
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert (state(completed)[1], awaits_finality(completed)) == (True, False)


# --- failures ---------------------------------------------------------------------------------------------------------


def test_a_chain_that_does_not_answer_is_asked_again(
    app: PartnerApp, completed: dict[str, Any], use_providers: Providers
) -> None:
    use_providers("http://127.0.0.1:1")
    check_blocks()
    assert awaits_finality(completed)
    assert WatchedBlock.objects.get().due_at > timezone.now()
    use_providers(app.chain.world["rpcUrl"])
    app.chain.mine(FINAL_AFTER)
    check_blocks()
    assert state(completed) == ("completed", False, "final")


@pytest.mark.parametrize("step", ["write", "_give_up"])
def test_a_check_that_ends_half_way_is_made_up_for(
    app: PartnerApp, completed: dict[str, Any], monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    class KilledError(BaseException):
        pass

    def killed(*_arguments: object, **_named: object) -> None:
        raise KilledError

    app.chain.mine(FINAL_AFTER)
    with monkeypatch.context() as patch:
        patch.setattr(finality, step, killed)
        with pytest.raises(KilledError):
            check_blocks()
    check_blocks()
    assert (state(completed), WatchedBlock.objects.count()) == (("completed", False, "final"), 0)


def test_blocks_that_nothing_checks_are_left_to_the_reconciliation(app: PartnerApp, completed: dict[str, Any]) -> None:
    app.chain.mine(FINAL_AFTER)
    reconciliation.reconcile()  # moves its mark over the block
    assert state(completed)[1]
    WatchedBlock.objects.update(due_at=timezone.now() - timedelta(minutes=2))
    app.chain.mine(1)
    reconciliation.reconcile()
    assert state(completed) == ("completed", False, "final")
    check_blocks()
    assert WatchedBlock.objects.count() == 0
