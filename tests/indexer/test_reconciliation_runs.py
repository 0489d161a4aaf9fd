"""Runs of the reconciliation: how they fail, how long they last, that one works at a time, and how to repeat them."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from io import StringIO
from typing import Any
from uuid import UUID

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from eth_utils.address import to_checksum_address
from structlog.testing import capture_logs

from indexer import reconciliation
from indexer.reconciliation import settle_found
from sweepapi import networks
from sweepapi.evm.logs import log_query, log_scan
from sweepapi.networks import Networks
from sweepapi.rpc import ProviderPool
from sweeps.models import Sweep
from sweeps.rails.evm.follow.followed import SEARCH_MARGIN_BLOCKS
from sweeps.rails.evm.follow.following import EvmReading
from sweeps.rails.evm.models import ScannedBlocks
from sweeps.rails.registry import RAILS
from sweeps.story.settle import SettlementOutcome
from tests.factories.sweeps import ExecutionFactory
from tests.fake_node import FakeNode, hiding_logs, unaltered
from tests.indexer.reconciled import NETWORK, behind_final, cursor, refuse_to_settle, state, warnings
from tests.local_chain import FINAL_AFTER
from tests.partner_app import PartnerApp

pytestmark = pytest.mark.django_db

FIRST, LAST = to_checksum_address("0x" + "00" * 20), to_checksum_address("0x" + "ff" * 20)  # of all contracts

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


# --- what fails -------------------------------------------------------------------------------------------------------


@pytest.fixture
def unsettled(monkeypatch: pytest.MonkeyPatch) -> set[UUID]:
    """The sweeps that can't be settled until they leave this set."""
    sweep_ids: set[UUID] = set()
    refuse_to_settle(monkeypatch, sweep_ids)
    return sweep_ids


def test_a_sweep_that_cannot_be_settled_keeps_only_itself_from_being_settled_and_is_found_again(
    app: PartnerApp, executed: Sweep, unsettled: set[UUID]
) -> None:
    after = app.build()
    app.execute(after)
    app.chain.mine(FINAL_AFTER)
    unsettled.add(executed.id)
    with capture_logs() as logs, pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        reconciliation.reconcile()
    assert [entry["sweep_id"] for entry in logs if entry["event"] == "settling_failed"] == [str(executed.id)]
    assert Sweep.objects.get(id=after["sweepId"]).status == "completed"
    assert cursor(app.chain.contracts["v5"]) < executed.executions.get().built_at_height
    unsettled.clear()
    reconciliation.reconcile()
    assert state(executed)[0] == "completed"
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)


def test_the_other_contracts_have_their_turn_before_an_error_is_raised(
    app: PartnerApp, executed: Sweep, unsettled: set[UUID]
) -> None:
    for venue in FIRST, LAST:
        ExecutionFactory.create(venue=venue)
    unsettled.add(executed.id)
    with pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        reconciliation.reconcile()
    assert cursor(FIRST) == cursor(LAST) == behind_final(app)


def test_no_error_hides_another(app: PartnerApp, executed: Sweep, unsettled: set[UUID]) -> None:
    after = app.build()
    app.execute(after)
    app.chain.mine(FINAL_AFTER)
    unsettled |= {executed.id, UUID(after["sweepId"])}
    with pytest.RaisesGroup(RuntimeError, RuntimeError, flatten_subgroups=True):
        reconciliation.reconcile()


def test_an_error_of_one_rail_does_not_keep_the_other_from_its_turn(
    monkeypatch: pytest.MonkeyPatch, executed: Sweep
) -> None:
    class BrokenRail(type(RAILS["evm_v4"])):  # type: ignore[misc]
        def find_executed(self, _registry: Networks, network: str, venue: str) -> Any:
            raise RuntimeError(network, venue)

    for venue in FIRST, LAST:
        ExecutionFactory.create(sweep__rail="evm_v4", venue=venue)
    monkeypatch.setattr(reconciliation, "RAILS", RAILS | {"evm_v4": BrokenRail()})
    with pytest.RaisesGroup(RuntimeError, RuntimeError):
        reconciliation.reconcile()
    assert state(executed)[0] == "completed"


# --- how long it lasts ------------------------------------------------------------------------------------------------


@pytest.fixture
def short_spans(monkeypatch: pytest.MonkeyPatch) -> int:
    """The blocks that one scan reads, in spans of one block each; fewer than there are."""
    monkeypatch.setattr(log_scan, "SPAN_LENGTHS", (1,))
    monkeypatch.setattr(log_query, "SPANS_AT_ONCE", 2)
    return 2


@pytest.mark.usefixtures("short_spans")
def test_a_run_goes_on_until_it_has_caught_up(app: PartnerApp, executed: Sweep) -> None:
    assert warnings() == []
    assert cursor(app.chain.contracts["v5"]) == behind_final(app)
    assert state(executed)[0] == "completed"


def test_when_its_time_is_up_a_run_has_read_some_of_each_contract_and_says_how_much_is_left(
    app: PartnerApp, monkeypatch: pytest.MonkeyPatch, short_spans: int
) -> None:
    for venue in FIRST, LAST:
        ExecutionFactory.create(venue=venue, built_at_height=SEARCH_MARGIN_BLOCKS)
    app.chain.mine(FINAL_AFTER)
    monkeypatch.setattr(reconciliation, "RUN_SECONDS", 0)
    with capture_logs() as logs:
        reconciliation.reconcile()
    assert cursor(FIRST) == cursor(LAST) == short_spans
    assert [(entry["event"], entry["venue"], entry["blocks"]) for entry in logs] == [
        ("reconciliation_behind", FIRST, behind_final(app) - short_spans),
        ("reconciliation_behind", LAST, behind_final(app) - short_spans),
    ]


# --- one run at a time -----------------------------------------------------------------------------------------------


def run_in_another_process() -> list[str]:
    """Reconcile in another session of the database, and return what was logged."""

    def run() -> list[str]:
        try:
            with capture_logs() as logs:
                reconciliation.reconcile()
            return [entry["event"] for entry in logs]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(run).result()


def test_a_run_does_nothing_while_another_is_under_way(executed: Sweep, monkeypatch: pytest.MonkeyPatch) -> None:
    meanwhile = []

    def slow(found: Mapping[UUID, EvmReading]) -> SettlementOutcome:
        meanwhile.extend(run_in_another_process())
        return settle_found(found)

    monkeypatch.setattr(reconciliation, "settle_found", slow)
    reconciliation.reconcile()
    assert meanwhile == ["reconciliation_is_under_way"]
    assert state(executed)[0] == "completed"
    assert run_in_another_process() == []


def test_a_run_that_failed_is_not_under_way(executed: Sweep, unsettled: set[UUID]) -> None:
    unsettled.add(executed.id)
    with pytest.RaisesGroup(RuntimeError, flatten_subgroups=True):
        reconciliation.reconcile()
    assert run_in_another_process() == []


# --- read again -------------------------------------------------------------------------------------------------------


def rescan(*arguments: str) -> str:
    out = StringIO()
    call_command("rescan", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.parametrize("name", ["local", NETWORK])
def test_what_final_blocks_show_only_later_is_found_by_reading_them_again(
    app: PartnerApp, executed: Sweep, start_node: Start, use_providers: Providers, name: str
) -> None:
    node = start_node()
    node.alter = hiding_logs
    use_providers(node.url)
    reconciliation.reconcile()
    node.alter = unaltered
    reconciliation.reconcile()
    assert state(executed) == ("expired", False, [])
    contract, next_block = app.chain.contracts["v5"], behind_final(app)
    assert rescan(name, "3") == f"{contract}: block 3 is next, was {next_block}\n"
    assert cursor(contract) == 3
    reconciliation.reconcile()
    assert state(executed)[0] == "completed"


def test_no_contract_is_moved_forward(app: PartnerApp, executed: Sweep) -> None:
    reconciliation.reconcile()
    before = cursor(executed.executions.get().venue)
    assert rescan("local", str(before)) == f"Nothing changed: no contract was scanned beyond block {before}.\n"
    assert cursor(app.chain.contracts["v5"]) == before


@pytest.mark.usefixtures("executed")
def test_contracts_of_other_networks_are_left_alone() -> None:
    reconciliation.reconcile()
    ScannedBlocks.objects.create(network="eip155:8453", contract=FIRST, next_block=50)
    rescan("local", "0")
    assert ScannedBlocks.objects.get(contract=FIRST).next_block == 50


def test_a_run_that_is_under_way_does_not_move_the_cursor_forward_again(app: PartnerApp) -> None:
    app.build()
    reconciliation.reconcile()
    next_block = cursor(app.chain.contracts["v5"])
    app.chain.mine(3)
    found = RAILS["evm_v5"].find_executed(networks.current(), NETWORK, app.chain.contracts["v5"])
    next(found)
    rescan("local", str(next_block - 1))
    assert list(found) == []
    assert cursor(app.chain.contracts["v5"]) == next_block - 1


@pytest.mark.parametrize(
    ("arguments", "refusal"),
    [
        (("nowhere", "1"), "No chain has the name or CAIP-2 identifier nowhere."),
        (("eip155:5", "1"), "No chain has the name or CAIP-2 identifier eip155:5."),
        (("local", "1"), "No contract on local has been scanned yet."),
        (("local", "-1"), "must be the number of a block"),
        (("local", "0x10"), "must be the number of a block"),
        (("local", "9" * 19), "must be the number of a block"),
        (("local", "\u0663"), "must be the number of a block"),
    ],
)
def test_a_rescan_that_makes_no_sense_is_refused(arguments: tuple[str, str], refusal: str) -> None:
    with pytest.raises(CommandError, match=refusal):
        rescan(*arguments)


# --- when -------------------------------------------------------------------------------------------------------------
