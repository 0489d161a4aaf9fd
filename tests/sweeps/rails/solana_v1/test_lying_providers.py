"""What one lying provider of two can't do to a sweep that landed: close it, or have it forgotten."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from dev.solana.history.records import Landed
from sweepapi.rpc import ProviderPool
from tests import fake_node
from tests.fake_node import Alter, FakeNode
from tests.solana_cluster import SolanaCluster
from tests.solana_sweeps import LocalSweep
from tests.sweeps.rails.solana_v1.checks import candidates, the_worker_checks

pytestmark = pytest.mark.django_db

UseNodes = Callable[..., ProviderPool]


@pytest.fixture
def sweep(cluster: SolanaCluster) -> LocalSweep:
    return LocalSweep(cluster)


@pytest.fixture
def liar(sweep: LocalSweep, use_nodes: UseNodes) -> Iterator[FakeNode]:
    """The first of two providers."""
    with fake_node.running(sweep.cluster.url) as node:
        use_nodes(node.url, sweep.cluster.url)
        yield node


def hiding(landed: Landed) -> Alter:
    """List everything but this transaction."""
    return lambda method, _params, result: (
        [one for one in result if one["signature"] != str(landed.signature)]
        if method == "getSignaturesForAddress"
        else result
    )


def moving(landed: Landed) -> Alter:
    """List this transaction in a slot below its own."""

    def alter(method: str, _params: list[Any], result: Any) -> Any:
        if method == "getSignaturesForAddress":
            lies = {str(landed.signature): {"slot": landed.block.slot - 1}}
            return [one | lies.get(one["signature"], {}) for one in result]
        return result

    return alter


def failing(method: str, _params: list[Any], result: Any) -> Any:
    """Show every transaction as a failed one."""
    return result | {"meta": result["meta"] | {"err": "AccountInUse"}} if method == "getTransaction" else result


def paying_nothing(method: str, _params: list[Any], result: Any) -> Any:
    """Show every transaction as if no tokens had moved."""
    if method == "getTransaction":
        result["meta"]["postTokenBalances"] = result["meta"]["preTokenBalances"]
    return result


def assert_completes(sweep: LocalSweep, landed: Landed) -> None:
    statuses = {the_worker_checks(sweep)[0] for _ in range(2)}
    assert "completed" in statuses
    assert (str(landed.signature), "accepted") in candidates(sweep)


def test_what_is_hidden_behind_a_final_transaction_of_a_stranger_is_still_found(
    sweep: LocalSweep, liar: FakeNode
) -> None:
    landed = sweep.land()
    sweep.spam()
    sweep.cluster.finalize()
    liar.alter = hiding(landed)
    assert the_worker_checks(sweep) == ("pending", True, [])
    assert sweep.executions[0].search_cursor == "", "the providers do not agree about what is older"
    sweep.cluster.expire_blockhashes()
    assert_completes(sweep, landed)


def test_what_is_hidden_below_many_transactions_of_strangers_is_still_found(sweep: LocalSweep, liar: FakeNode) -> None:
    landed = sweep.land()
    sweep.spam(count=30)
    sweep.cluster.expire_blockhashes()
    liar.alter = hiding(landed)
    assert_completes(sweep, landed)


def test_what_is_listed_in_another_slot_is_still_found(sweep: LocalSweep, liar: FakeNode) -> None:
    landed = sweep.land()
    liar.alter = moving(landed)
    sweep.cluster.expire_blockhashes()
    assert_completes(sweep, landed)


@pytest.mark.parametrize("lie", [failing, paying_nothing])
def test_what_is_shown_otherwise_by_one_provider_does_not_end_a_sweep(
    sweep: LocalSweep, liar: FakeNode, lie: Alter
) -> None:
    landed = sweep.land()
    sweep.cluster.expire_blockhashes()
    liar.alter = lie
    for _ in range(3):
        assert the_worker_checks(sweep)[1]
    assert sweep.executions[0].search_cursor == ""
    liar.alter = fake_node.unaltered
    assert_completes(sweep, landed)


def test_what_two_providers_show_alike_is_not_read_again(sweep: LocalSweep, liar: FakeNode) -> None:
    older = sweep.spam(count=3)
    sweep.cluster.finalize()
    sweep.spam(count=2)
    the_worker_checks(sweep)
    assert sweep.executions[0].search_cursor == str(older[-1].signature)
    liar.asked.clear()
    the_worker_checks(sweep)
    assert [methods.count("getTransaction") for methods in liar.asked] == [0, 2]


@pytest.mark.parametrize("first_asked", ["the liar", "the other"])
def test_a_final_transaction_of_a_stranger_that_only_one_provider_lists_is_read_again(
    sweep: LocalSweep, liar: FakeNode, use_nodes: UseNodes, first_asked: str
) -> None:
    first, second = sweep.spam(count=2)
    sweep.cluster.finalize()
    liar.alter = hiding(first)
    the_worker_checks(sweep)
    assert sweep.executions[0].search_cursor == ""
    if first_asked == "the other":
        use_nodes(sweep.cluster.url, liar.url)
    liar.alter = hiding(second)
    the_worker_checks(sweep)
    assert sweep.executions[0].search_cursor == str(first.signature)
