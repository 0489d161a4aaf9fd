"""The connection ends at a commit, so that no one knows whether it happened: 503, and the request can be repeated."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from typing import Any, LiteralString

import pytest

from dev.wallets import Wallet
from sweepapi_client import finalized
from tests.local_chain import LocalChain
from tests.resilience.engines import connect
from tests.resilience.faulty_link import End
from tests.resilience.world import Answer, World

COMMIT = b"COMMIT\0"
STATUS = "SELECT status FROM sweeps_sweep WHERE id = %s"
SWEEPS = "SELECT count(*) FROM sweeps_sweep"
A_MINUTE_LATER = "UPDATE partners_idempotencyrecord SET started_at = started_at - interval '61 seconds'"
INCOMPLETE = """
    SELECT count(*) FROM sweeps_sweep AS sweep
    WHERE NOT EXISTS (SELECT FROM sweeps_offer WHERE sweep_id = sweep.id)
       OR NOT EXISTS (SELECT FROM sweeps_execution WHERE sweep_id = sweep.id)
       OR NOT EXISTS (SELECT FROM sweeps_sweeptoken WHERE sweep_id = sweep.id)
       OR NOT EXISTS (SELECT FROM sweeps_sweepevent WHERE sweep_id = sweep.id)
"""


def end_each_commit(world: World, request: Callable[[], Answer], end: End, *, then: int) -> int:
    """Repeat the request, with its first commit ended, its second, and so on; return how many there were."""
    for passes in count():
        world.links["postgres"].cut(COMMIT, passes=passes, end=end)
        answer = request()
        if not world.links["postgres"].has_cut:
            world.links["postgres"].work()
            assert answer.status == then
            return passes
        assert (answer.status, answer.retry_after) == (503, "2")
        world.engines.wait_for(world.serves, "the end of the pause")
        assert request().status == then
    raise AssertionError


def value(world: World, query: LiteralString, *parameters: str) -> Any:
    with connect(world.database.url) as monitor:
        ((found,),) = monitor.execute(query, parameters).fetchall()
    return found


@pytest.fixture(autouse=True)
def no_other_commits(world: World) -> Iterator[None]:
    """Only requests commit."""
    with world.fault("freeze work and freeze worker and freeze beat"):
        yield


@pytest.fixture
def executed(world: World, chain: LocalChain) -> tuple[str, str]:
    """Build a sweep and execute it; its id and the hash."""
    wallet = Wallet(chain.node, chain.world["users"][1]["privateKey"])
    built = world.build(wallet.address)
    for issue in built["issues"]["allowance"]:
        chain.receipt(wallet.send(issue["transaction"]))
    return built["sweepId"], wallet.send(finalized(built, wallet.sign(built["permit2"])))


@pytest.mark.parametrize("end", End)
def test_a_build_whose_commit_is_unknown_is_whole_or_absent(world: World, end: End) -> None:
    assert end_each_commit(world, world.post_build, end, then=201) >= 1
    assert value(world, INCOMPLETE) == 0


@pytest.mark.parametrize("end", End)
def test_a_build_under_a_key_whose_commits_are_unknown_is_built_once(world: World, end: End) -> None:
    for passes in count():
        headers = {"Idempotency-Key": f"{end} {passes}"}
        before = value(world, SWEEPS)
        world.links["postgres"].cut(COMMIT, passes=passes, end=end)
        first = world.post_build(**headers)
        if not world.links["postgres"].has_cut:
            world.links["postgres"].work()
            assert (first.status, passes >= 2) == (201, True), "the claim and the build were committed"
            return
        assert first.status == 503
        world.engines.wait_for(world.serves, "the end of the pause")
        with connect(world.database.url) as operator:
            operator.execute(A_MINUTE_LATER)
        second, third = world.post_build(**headers), world.post_build(**headers)
        assert (second.status, third) == (201, replace(second, seconds=third.seconds))
        assert value(world, SWEEPS) == before + 1


@pytest.mark.parametrize("end", End)
def test_a_refresh_whose_commit_is_unknown_can_be_repeated(world: World, end: End) -> None:
    path = f"/v2/sweep/build/{world.build()['sweepId']}/refresh"
    assert end_each_commit(world, lambda: world.ask("POST", path, {}), end, then=200) >= 1
    assert value(world, INCOMPLETE) == 0


@pytest.mark.parametrize("end", End)
def test_a_confirm_whose_commit_is_unknown_books_once(world: World, executed: tuple[str, str], end: End) -> None:
    sweep_id, tx_hash = executed
    path = f"/v2/sweep/status/{sweep_id}/confirm"
    assert end_each_commit(world, lambda: world.ask("POST", path, {"txHash": tx_hash}), end, then=200) >= 1
    assert value(world, STATUS, sweep_id) == "completed"
    assert value(world, "SELECT count(*) FROM ledger_journalentry WHERE sweep_ref = %s", sweep_id) == 1
    assert value(world, "SELECT count(*) FROM sweeps_sweeptransaction WHERE sweep_id = %s", sweep_id) == 1


@pytest.mark.parametrize("end", End)
def test_a_cancel_whose_commit_is_unknown_can_be_repeated(world: World, end: End) -> None:
    sweep_id = world.build()["sweepId"]
    path = f"/v2/sweep/status/{sweep_id}/cancel"
    assert end_each_commit(world, lambda: world.ask("POST", path, {}), end, then=200) >= 1
    assert value(world, STATUS, sweep_id) == "void"
