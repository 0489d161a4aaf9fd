"""One check the chain covers many subjects, and conclusions need a second provider's opinion."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from structlog.testing import capture_logs

from sweepapi import networks
from sweepapi.evm.chain.multicall import Read
from sweepapi.evm.contracts.v5 import IS_NONCE_USED
from sweepapi.evm.logs.sightings import Conclusion, Sighting, Subject, read_sightings
from sweepapi.evm.logs.standing import Standing
from sweepapi.rpc import ProviderPool
from tests.fake_node import FakeNode
from tests.local_chain import LocalChain

HASH = "0x" + "aa" * 32

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


def subject(chain: LocalChain, *hashes: str, key: str = "one") -> Subject:
    """Return a subject from which nothing is concluded."""
    return Subject(
        key=key,
        read=Read(chain.contracts["v5"], IS_NONCE_USED, (10**9,)),
        tx_hashes=hashes,
        accepted_height=None,
        conclude=lambda _sighting: None,
        content=lambda receipt: receipt,
    )


def ask(pool: ProviderPool, *subjects: Subject) -> dict[Any, Sighting]:
    return read_sightings(chain=networks.current().chains["local"], pool=pool, subjects=subjects)


def payment(chain: LocalChain) -> str:
    return chain.send(chain.users[0], {"to": chain.users[1].address, "data": "0x", "value": "1"})


def test_a_check_finds_what_was_mined_in_one_round_trip(
    chain: LocalChain, use_providers: Providers, round_trips: list[list[str]]
) -> None:
    tx_hash = payment(chain)
    seen = ask(use_providers(chain.world["rpcUrl"]), subject(chain, tx_hash))["one"]
    receipt = seen.receipts[tx_hash]
    assert receipt is not None
    assert (receipt.succeeded, seen.state, seen.agreed) == (True, False, True)
    assert len(round_trips) == 1


def test_an_unknown_hash_is_looked_up_at_a_second_provider_and_not_at_a_third(
    chain: LocalChain, use_providers: Providers, start_node: Start, round_trips: list[list[str]]
) -> None:
    nodes = [start_node() for _ in range(3)]
    seen = ask(use_providers(*(node.url for node in nodes)), subject(chain, HASH))["one"]
    assert seen.receipts == {HASH: None}
    assert len(round_trips) == 2
    assert [len(node.asked) for node in nodes] == [1, 1, 0]


def test_a_receipt_that_only_the_second_provider_knows_is_seen_and_contradicted(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    tx_hash, behind = payment(chain), start_node()
    behind.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    seen = ask(use_providers(behind.url, chain.world["rpcUrl"]), subject(chain, tx_hash))["one"].seen[tx_hash]
    assert (seen.receipt.tx_hash, seen.standing) == (tx_hash, Standing.CONTRADICTED)


def test_receipts_are_read_at_two_providers_and_their_blocks_by_one_more_round_trip(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    tx_hash, nodes = payment(chain), [start_node() for _ in range(3)]
    chain.mine(2)
    seen = ask(use_providers(*(node.url for node in nodes)), subject(chain, tx_hash))["one"].seen[tx_hash]
    assert (seen.standing, seen.states) == (Standing.AGREED, frozenset({False}))
    assert [node.asked[1:] for node in nodes] == [[["eth_getBlockByNumber"]]] * 2 + [[]]


@pytest.mark.parametrize("is_third_honest", [True, False])
def test_a_third_provider_is_queried_about_what_two_do_not_show_alike(
    chain: LocalChain, use_providers: Providers, start_node: Start, *, is_third_honest: bool
) -> None:
    known, disputed = payment(chain), payment(chain)
    nodes = [start_node() for _ in range(3)]

    def hiding(method: str, params: list[Any], result: Any) -> Any:
        return None if (method, params) == ("eth_getTransactionReceipt", [disputed]) else result

    nodes[0].alter = hiding
    if not is_third_honest:
        nodes[2].alter = hiding
    pool = use_providers(*(node.url for node in nodes))
    seen = ask(pool, subject(chain, known, key="known"), subject(chain, disputed, key="disputed"))
    assert seen["known"].seen[known].standing is Standing.AGREED
    expected = Standing.AGREED if is_third_honest else Standing.CONTRADICTED
    assert seen["disputed"].seen[disputed].standing is expected
    assert [methods.count("eth_getTransactionReceipt") for methods in nodes[2].asked if len(methods) > 1] == [1]


def test_what_a_provider_shows_unreadably_counts_as_no_opinion_and_affects_no_other_subject(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    unread, unplaced, whole = payment(chain), payment(chain), payment(chain)
    chain.mine()
    height = chain.rpc("eth_getTransactionReceipt", unplaced)["blockNumber"]
    odd, honest = start_node(), start_node()
    odd.alter = lambda _method, params, result: "0x" if params[:1] in ([unread], [height]) else result
    subjects = [subject(chain, tx_hash, key=tx_hash) for tx_hash in (unread, unplaced, whole)]
    seen = ask(use_providers(odd.url, honest.url), *subjects)
    standings = [seen[tx_hash].seen[tx_hash].standing for tx_hash in (unread, unplaced, whole)]
    assert standings == [Standing.ALONE, Standing.ALONE, Standing.AGREED]


def test_a_request_that_waits_asks_two_providers_only(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    tx_hash, nodes = payment(chain), [start_node() for _ in range(3)]
    nodes[0].alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    pool = use_providers(*(node.url for node in nodes))
    local = networks.current().chains["local"]
    seen = read_sightings(chain=local, pool=pool, subjects=[subject(chain, tx_hash)], timeout_seconds=20)["one"]
    assert seen.seen[tx_hash].standing is Standing.CONTRADICTED
    assert nodes[2].asked == []


def test_many_subjects_are_one_round_trip(
    chain: LocalChain, use_providers: Providers, round_trips: list[list[str]]
) -> None:
    tx_hash = payment(chain)
    subjects = [subject(chain, tx_hash, key=str(number)) for number in range(50)]
    assert len(ask(use_providers(chain.world["rpcUrl"]), *subjects)) == 50
    assert len(round_trips) == 1


def test_the_block_at_the_accepted_height_is_that_of_the_canonical_chain(
    chain: LocalChain, use_providers: Providers
) -> None:
    receipt = chain.receipt(payment(chain))
    question = replace(subject(chain), accepted_height=receipt["blockNumber"])
    canonical = ask(use_providers(chain.world["rpcUrl"]), question)["one"].canonical
    assert canonical is not None
    assert (canonical.number, canonical.hash) == (receipt["blockNumber"], receipt["blockHash"].to_0x_hex())


def test_every_subjects_state_is_its_own(chain: LocalChain, use_providers: Providers) -> None:
    chain.cancel(10**9 + 1)
    chain.mine(100)
    used = Read(chain.contracts["v5"], IS_NONCE_USED, (10**9 + 1,))
    unreadable = Read(chain.users[0].address, IS_NONCE_USED, (1,))  # an account without code
    seen = ask(
        use_providers(chain.world["rpcUrl"]),
        subject(chain, key="unused"),
        replace(subject(chain, key="unreadable"), read=unreadable),
        replace(subject(chain, key="used"), read=used),
    )
    assert {key: sighting.state for key, sighting in seen.items()} == {
        "unused": False,
        "unreadable": None,
        "used": True,
    }


# --- conclusions ------------------------------------------------------------------------------------------------------


def test_there_is_no_second_query_if_nothing_is_concluded(
    chain: LocalChain, use_providers: Providers, round_trips: list[list[str]]
) -> None:
    assert ask(use_providers(chain.world["rpcUrl"], chain.world["rpcUrl"]), subject(chain))["one"].agreed
    assert len(round_trips) == 1


@pytest.mark.parametrize(("is_the_same", "agreed"), [(True, True), (False, False)])
def test_a_conclusion_counts_only_if_a_second_provider_leads_to_the_same(
    chain: LocalChain, use_providers: Providers, start_node: Start, *, is_the_same: bool, agreed: bool
) -> None:
    second = start_node()
    if not is_the_same:
        second.alter = lambda method, params, result: (
            result | {"number": "0x0"} if (method, params[:1]) == ("eth_getBlockByNumber", ["safe"]) else result
        )
    chain.mine(100)
    question = replace(subject(chain), conclude=lambda sighting: Conclusion(sighting.safe_number))
    assert ask(use_providers(chain.world["rpcUrl"], second.url), question)["one"].agreed is agreed


def test_a_conclusion_does_not_count_while_the_second_provider_is_down(
    chain: LocalChain, use_providers: Providers
) -> None:
    question = replace(subject(chain), conclude=lambda _sighting: Conclusion("closed"))
    assert not ask(use_providers(chain.world["rpcUrl"], "http://127.0.0.1:1"), question)["one"].agreed


def test_a_single_provider_is_trusted(chain: LocalChain, use_providers: Providers) -> None:
    question = replace(subject(chain), conclude=lambda _sighting: Conclusion("closed"))
    assert ask(use_providers(chain.world["rpcUrl"]), question)["one"].agreed


# --- disagreement -----------------------------------------------------------------------------------------------------


def unsafe(method: str, params: list[Any], result: Any) -> Any:
    """Show no safe block above the first one."""
    is_safe = (method, params[:1]) == ("eth_getBlockByNumber", ["safe"])
    return result | {"number": "0x1"} if is_safe else result


def safe_number(sighting: Sighting) -> Conclusion | None:
    return Conclusion(sighting.safe_number)


def disagreements(logs: list[Any]) -> list[tuple[str, list[int], list[int]]]:
    """Return the alerts: about what, between whom, and who was outvoted."""
    alerts = [one for one in logs if one["event"] == "providers_disagree"]
    assert all(one["log_level"] == "error" for one in alerts)
    return [(one["subject"], one["providers"], one["outvoted"]) for one in alerts]


def test_two_providers_that_disagree_close_nothing_and_raise_an_alert(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    liar = start_node()
    liar.alter = unsafe
    chain.mine(100)
    pool = use_providers(chain.world["rpcUrl"], liar.url)
    with capture_logs() as logs:
        seen = ask(pool, replace(subject(chain), conclude=safe_number))["one"]
    assert (seen.agreed, seen.is_disputed) == (False, True)
    assert disagreements(logs) == [("one", [0, 1], [])]


@pytest.mark.parametrize("position", [0, 1, 2])
def test_of_three_providers_two_decide_and_the_other_is_named(
    chain: LocalChain, use_providers: Providers, start_node: Start, position: int
) -> None:
    nodes = [start_node() for _ in range(3)]
    nodes[position].alter = unsafe
    chain.mine(100)
    pool = use_providers(*(node.url for node in nodes))
    with capture_logs() as logs:
        seen = ask(pool, replace(subject(chain), conclude=safe_number))["one"]
    assert (seen.agreed, seen.safe_number) == (True, chain.web3.eth.get_block("safe")["number"])
    is_queried = position < 2
    assert disagreements(logs) == ([("one", [0, 1, 2], [position])] if is_queried else [])
    assert [len(node.asked) for node in nodes] == [1, 1, 1 if is_queried else 0]


def test_a_provider_that_can_not_say_yet_does_not_contradict_the_others(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    behind = start_node()
    behind.alter = unsafe
    chain.mine(100)
    reached = replace(subject(chain), conclude=lambda seen: Conclusion("safe") if seen.safe_number != 1 else None)
    with capture_logs() as logs:
        seen = ask(use_providers(chain.world["rpcUrl"], behind.url), reached)["one"]
    assert (seen.agreed, seen.is_disputed, disagreements(logs)) == (False, False, [])
    third = use_providers(chain.world["rpcUrl"], behind.url, start_node().url)
    assert ask(third, reached)["one"].agreed


def test_a_conclusion_that_closes_nothing_needs_no_second_provider_and_outvotes_one_that_would(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    nodes = [start_node() for _ in range(3)]
    chain.mine(100)
    weak = replace(
        subject(chain), conclude=lambda seen: Conclusion(seen.safe_number == 1, closes=seen.safe_number == 1)
    )
    pool = use_providers(*(node.url for node in nodes))
    assert ask(pool, weak)["one"].agreed
    assert [len(node.asked) for node in nodes] == [1, 0, 0]
    nodes[0].alter = unsafe
    seen = ask(pool, weak)["one"]
    assert (seen.agreed, seen.safe_number) == (True, chain.web3.eth.get_block("safe")["number"])


def test_a_receipt_that_only_the_outvoted_provider_shows_does_not_count_for_an_accepted_execution(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    receipt = chain.receipt(payment(chain))
    tx_hash, height = receipt["transactionHash"].to_0x_hex(), receipt["blockNumber"]
    honest = [start_node() for _ in range(2)]
    for node in honest:  # for which the transaction does not exist
        node.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    pool = use_providers(chain.world["rpcUrl"], *(node.url for node in honest))
    accepted = replace(
        subject(chain, tx_hash),
        accepted_height=height,
        conclude=lambda seen: Conclusion(seen.receipts[tx_hash]),
    )
    seen = ask(pool, accepted)["one"]
    assert (seen.agreed, seen.receipts) == (True, {tx_hash: None})
