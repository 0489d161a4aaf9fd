"""What lands after its sweep was closed is found among the transactions of the fee account, and booked."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest
from spl.token.constants import WRAPPED_SOL_MINT

from indexer import reconciliation
from ledger.models import JournalEntry
from sweepapi import networks
from sweepapi.rpc import ProviderPool
from sweepapi.solana.landed import account_scan
from sweeps.models import EventKind
from sweeps.rails.registry import RAILS
from sweeps.rails.solana_v1.models import ScannedSlots
from sweeps.rails.solana_v1.reconcile import reconciling
from tests import fake_node
from tests.fake_node import Alter
from tests.indexer.reconciled import refuse_to_settle
from tests.settling import settle
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import SWEPT, LocalSweep
from tests.sweeps.rails.solana_v1.checks import candidates, the_worker_checks

pytestmark = pytest.mark.django_db

UseNodes = Callable[..., ProviderPool]


@pytest.fixture
def sweep(cluster: SolanaCluster) -> LocalSweep:
    return LocalSweep(cluster)


def expire(sweep: LocalSweep) -> None:
    sweep.cluster.expire_blockhashes()
    the_worker_checks(sweep)


def outcome_after_reconciliation(sweep: LocalSweep) -> tuple[str, bool, list[str]]:
    reconciliation.reconcile()
    row = sweep.refreshed()
    return row.status, row.is_open, row.flags


@pytest.mark.parametrize("version", [0, 1])
def test_a_transaction_with_a_newer_blockhash_opens_its_expired_sweep_and_is_booked(
    sweep: LocalSweep, version: int
) -> None:
    expire(sweep)
    assert (sweep.row.status, sweep.row.is_open) == ("expired", False)
    sign = [sweep.cluster.sign, sweep.cluster.sign_v1][version]
    landed = sweep.cluster.send(sign(sweep.user, sweep.instructions[0]))
    assert outcome_after_reconciliation(sweep) == ("expired", False, []), "not final yet"
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("completed", True, ["executed_after_close"])
    assert candidates(sweep) == [(str(landed.signature), "accepted")]
    assert the_worker_checks(sweep) == ("completed", False, ["executed_after_close"])
    assert JournalEntry.objects.count() == 1


def test_a_part_that_lands_after_it_was_closed_is_booked_while_the_sweep_is_open(cluster: SolanaCluster) -> None:
    sweep = LocalSweep(cluster, transactions=2)
    first, second = sweep.executions
    cluster.expire_blockhashes()
    the_worker_checks(sweep)
    sweep.land(0)
    cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("completed", True, ["executed_after_close", "partial"])
    sweep.land(1)
    cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("completed", True, ["executed_after_close"])
    assert JournalEntry.objects.filter(execution_ref__in=[first.id, second.id]).count() == 2


@pytest.mark.parametrize("is_reversed", [False, True], ids=["one of USDC", "one of SOL"])
def test_an_execution_that_cannot_be_settled_does_not_hide_those_of_other_fee_accounts(
    cluster: SolanaCluster, monkeypatch: pytest.MonkeyPatch, *, is_reversed: bool
) -> None:
    sweeps = [LocalSweep(cluster), LocalSweep(cluster, output=WRAPPED_SOL_MINT)]
    unsettled, found = sweeps[::-1] if is_reversed else sweeps
    for sweep in sweeps:
        sweep.land()
    cluster.finalize()

    refuse_to_settle(monkeypatch, {unsettled.row.id})
    for minute in range(2):
        monkeypatch.setattr(reconciling, "time", SimpleNamespace(time=lambda minute=minute: 60.0 * minute))
        with pytest.raises(ExceptionGroup):
            reconciliation.reconcile()
    assert [one.refreshed().status for one in (unsettled, found)] == ["pending", "completed"]


def test_what_final_blocks_showed_is_not_read_twice(sweep: LocalSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    expire(sweep)
    sweep.land()
    sweep.cluster.finalize()
    outcome_after_reconciliation(sweep)
    monkeypatch.setattr(
        reconciling, "read_agreed", lambda _pool, listed: {} if not listed else pytest.fail("read again")
    )
    outcome_after_reconciliation(sweep)


def test_spans_stay_small_and_every_one_counts(sweep: LocalSweep, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reconciling, "READ_AT_ONCE", 2)
    expire(sweep)
    for _ in range(5):
        sweep.cluster.faucet.give_tokens(sweep.cluster.fee_wallet, sweep.output, 1)
    sweep.land()
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(sweep)[0] == "completed"
    assert ScannedSlots.objects.get().next_slot == sweep.cluster.node.head("finalized").slot + 1


def test_a_scan_that_is_too_long_says_so_and_passes_nothing(
    sweep: LocalSweep, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    expire(sweep)
    sweep.land()
    sweep.cluster.finalize()
    with monkeypatch.context() as shortened:
        shortened.setattr(account_scan, "MAX_PAGES", 0)
        assert outcome_after_reconciliation(sweep) == ("expired", False, [])
    assert "too many transactions name the account" in caplog.text
    assert outcome_after_reconciliation(sweep)[0] == "completed"


def test_a_new_fee_account_is_read_from_its_first_sweep_on(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    """Providers may not keep what is older, such as the first sweep with another output."""
    sweep.cluster.bank.advance(500)
    newer = LocalSweep(sweep.cluster, output=WRAPPED_SOL_MINT)
    first_available = newer.executions[0].built_at_height - 200
    use_nodes(sweep.cluster.add_node(first_available_slot=first_available))
    newer.land()
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(newer)[0] == "completed"


def test_a_span_that_the_providers_do_not_agree_about_is_read_again(sweep: LocalSweep, use_nodes: UseNodes) -> None:
    expire(sweep)
    sweep.land()
    sweep.cluster.finalize()
    pruned = sweep.cluster.add_node(first_available_slot=2**39)
    for other in (pruned, sweep.cluster.add_node(keeps_history=False), "http://127.0.0.1:1"):
        use_nodes(sweep.cluster.url, other)
        assert outcome_after_reconciliation(sweep) == ("expired", False, [])
    use_nodes(sweep.cluster.url, sweep.cluster.add_node())
    assert outcome_after_reconciliation(sweep)[0] == "completed"


LIES: dict[str, Alter] = {
    "hidden": lambda method, _params, result: result[1:] if method == "getSignaturesForAddress" else result,
    "moved": lambda method, _params, result: (
        [*result[:-1], result[-1] | {"slot": result[-1]["slot"] - 1}] if method == "getSignaturesForAddress" else result
    ),
    "failed": lambda method, _params, result: (
        result | {"meta": result["meta"] | {"err": "AccountInUse"}} if method == "getTransaction" else result
    ),
    "of another block": lambda method, _params, result: (
        result | {"blockhash": "1" * 32} if method == "getBlock" else result
    ),
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
@pytest.mark.parametrize("liar_is_first", [True, False])
def test_what_one_of_two_providers_shows_otherwise_is_not_passed(
    sweep: LocalSweep, use_nodes: UseNodes, lie: Alter, *, liar_is_first: bool
) -> None:
    expire(sweep)
    sweep.land()
    sweep.cluster.finalize()
    with fake_node.running(sweep.cluster.url) as node:
        node.alter = lie
        use_nodes(*([node.url, sweep.cluster.url] if liar_is_first else [sweep.cluster.url, node.url]))
        assert outcome_after_reconciliation(sweep) == ("expired", False, [])
        node.alter = fake_node.unaltered
        assert outcome_after_reconciliation(sweep)[0] == "completed"


def test_what_is_found_before_the_worker_checks_is_not_late(sweep: LocalSweep) -> None:
    sweep.land()
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("completed", True, [])


def test_what_the_worker_settles_during_a_reconciliation_is_not_noted_as_a_second_execution(sweep: LocalSweep) -> None:
    sweep.land()
    sweep.cluster.finalize()
    (span,) = RAILS["solana_v1"].find_executed(networks.current(), sweep.cluster.network, str(sweep.cluster.fee_wallet))
    the_worker_checks(sweep)
    assert the_worker_checks(sweep) == ("completed", False, [])
    ((sweep_id, reading),) = span.readings
    settle(sweep_id=sweep_id, reading=reading)
    assert not sweep.row.events.filter(kind=EventKind.REJECTED).exists()


def test_strangers_who_pay_the_fee_account_and_name_the_key_change_nothing(sweep: LocalSweep) -> None:
    expire(sweep)
    events = sweep.row.events.count()
    sweep.spam(count=3)
    *others, fee = sweep.instructions[0]
    del others[1:]
    sweep.cluster.send(sweep.sign([*others, fee]))
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("expired", False, [])
    assert sweep.row.events.count() == events


def test_a_second_execution_of_a_closed_sweep_is_noted_and_not_booked(sweep: LocalSweep) -> None:
    sweep.cluster.faucet.give_tokens(sweep.user.pubkey(), sweep.swept(), SWEPT)
    sweep.land()
    sweep.cluster.finalize()
    the_worker_checks(sweep)
    assert the_worker_checks(sweep) == ("completed", False, [])
    second = sweep.cluster.send(sweep.sign(sweep.instructions[0]))
    sweep.cluster.finalize()
    assert outcome_after_reconciliation(sweep) == ("completed", False, [])
    (noted,) = sweep.row.events.filter(kind=EventKind.REJECTED)
    assert noted.tx_hash == str(second.signature)
    assert JournalEntry.objects.count() == 1
