"""Every event of a contract is read up to the final block, and a provider that hides or invents one stops the scan.

The events are cancellations of authorizations, on the real contract.
"""

from collections.abc import Callable
from typing import Any

import pytest
from eth_utils.address import to_checksum_address
from structlog.testing import capture_logs

from sweepapi import networks
from sweepapi.evm.chain.chains import Chain, FinalityRule
from sweepapi.evm.chain.errors import FinalBlockReplacedError
from sweepapi.evm.contracts import v5
from sweepapi.evm.contracts.batch import SKIPPED_TOPIC
from sweepapi.evm.encoding.responses import MinedLog, Receipt
from sweepapi.evm.logs import log_query, log_scan
from sweepapi.evm.logs.log_scan import Scan, ScanMark, Stream
from sweepapi.rpc import ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from tests.factories.ledger import random_hash
from tests.fake_node import Alter, FakeNode, hiding_logs, lagging, unaltered
from tests.local_chain import FINAL_AFTER, LocalChain

STRANGER = to_checksum_address("0x" + "0f" * 20)
NONCES = (2**255 + 7, 2**255 + 8, 2**255 + 9)

Providers = Callable[..., ProviderPool]
Start = Callable[[], FakeNode]


@pytest.fixture
def hashes(chain: LocalChain) -> list[str]:
    """Three cancellations in blocks of their own, on final blocks."""
    sent = [chain.cancel(nonce) for nonce in NONCES]
    chain.mine(FINAL_AFTER)
    return sent


@pytest.fixture
def pool(chain: LocalChain, use_providers: Providers) -> ProviderPool:
    return use_providers(chain.world["rpcUrl"])


def stream_of(chain: LocalChain) -> Stream:
    return Stream(chain.contracts["v5"], (v5.CANCELLED_TOPIC,), lambda log: v5.decode_cancelled(log) is not None)


def scan(chain: LocalChain, pool: ProviderPool, *, first_block: int = 0, start: str = "") -> Scan:
    """Scan from a block on; ``start`` is the hash that the block below it had."""
    facts = networks.current().chain("eip155:31337")
    return log_scan.scan(chain=facts, pool=pool, stream=stream_of(chain), after=ScanMark(first_block - 1, start))


def logs_of(found: Scan) -> list[MinedLog]:
    return [mined for span in found.spans for mined in span.logs]


def hashes_of(found: Scan) -> list[str]:
    return [mined.tx_hash for mined in logs_of(found)]


def last_blocks(found: Scan) -> list[int]:
    return [span.end.number for span in found.spans]


def final_block(chain: LocalChain) -> int:
    return int(chain.web3.eth.get_block("finalized")["number"])


def height(chain: LocalChain, tx_hash: str) -> int:
    return int(chain.receipt(tx_hash)["blockNumber"])


def forged(**lie: Any) -> Alter:
    """Change every event of a query like this; other logs of the contract stay as they are."""

    def alter(method: str, _params: list[Any], result: Any) -> Any:
        if method != "eth_getLogs":
            return result
        return [log | lie if log["topics"][0] == v5.CANCELLED_TOPIC else log for log in result]

    return alter


# --- what is read -----------------------------------------------------------------------------------------------------


def test_every_event_up_to_the_final_block_is_read_in_order(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    found = scan(chain, pool)
    assert hashes_of(found) == hashes
    assert [mined.log.topics[1] for mined in logs_of(found)] == [f"0x{nonce:064x}" for nonce in NONCES]
    assert (found.final_number, last_blocks(found)) == (final_block(chain), [final_block(chain)])
    assert found.head_number == chain.web3.eth.block_number


def test_an_event_above_the_final_block_waits(chain: LocalChain, pool: ProviderPool, hashes: list[str]) -> None:
    late = chain.cancel(1)
    chain.mine(FINAL_AFTER - 2)
    assert hashes_of(scan(chain, pool)) == hashes
    chain.mine()
    assert hashes_of(scan(chain, pool)) == [*hashes, late]


def test_a_chain_whose_finality_is_a_depth_is_read_to_that_depth(
    chain: LocalChain, pool: ProviderPool, hashes: list[str], change_chain: Callable[..., Chain]
) -> None:
    change_chain(finality=FinalityRule(safe=1, final=FINAL_AFTER + 1, recheck_seconds=3, max_head_age_seconds=None))
    assert hashes_of(scan(chain, pool)) == hashes[:-1]


def test_events_of_other_contracts_and_other_kinds_are_left_out(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    chain.pause()
    chain.mine(FINAL_AFTER)
    assert hashes_of(scan(chain, pool)) == hashes


def test_long_scans_are_cut_into_spans_and_end_where_one_batch_does(
    chain: LocalChain, pool: ProviderPool, hashes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = height(chain, hashes[0])
    monkeypatch.setattr(log_scan, "SPAN_LENGTHS", (2,))
    monkeypatch.setattr(log_query, "SPANS_AT_ONCE", 1)
    found = scan(chain, pool, first_block=first)
    assert (hashes_of(found), last_blocks(found)) == (hashes[:2], [first + 1])
    rest = scan(chain, pool, first_block=first + 2)
    assert (hashes_of(rest), last_blocks(rest)) == (hashes[2:], [final_block(chain)])


@pytest.mark.usefixtures("hashes")
def test_nothing_is_queried_before_there_are_new_final_blocks(
    chain: LocalChain, pool: ProviderPool, round_trips: list[list[str]]
) -> None:
    found = scan(chain, pool, first_block=final_block(chain) + 1)
    assert found.spans == []
    assert ["eth_getLogs" in methods for methods in round_trips] == [False]


def test_a_chain_without_a_final_block_yet_has_nothing_to_read(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    young = start_node()
    young.alter = lambda method, params, result: (
        None if (method, params[:1]) == ("eth_getBlockByNumber", ["finalized"]) else result
    )
    assert scan(chain, use_providers(young.url)).spans == []


# --- two providers ----------------------------------------------------------------------------------------------------


def test_two_providers_that_show_the_same_agree(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    nodes = [start_node() for _ in range(2)]
    found = scan(chain, use_providers(*(node.url for node in nodes)))
    assert hashes_of(found) == hashes
    assert [sum("eth_getLogs" in methods for methods in node.asked) for node in nodes] == [1, 1]


@pytest.mark.parametrize(
    "lie",
    [
        hiding_logs,
        forged(blockHash=random_hash()),
        forged(transactionHash=random_hash()),
        forged(topics=[v5.CANCELLED_TOPIC, "0x" + "00" * 32, "0x" + "00" * 32]),
    ],
)
def test_a_span_that_they_show_differently_ends_the_scan_and_is_logged(
    chain: LocalChain,
    use_providers: Providers,
    start_node: Start,
    hashes: list[str],
    lie: Alter,
) -> None:
    liar = start_node()
    liar.alter = lie
    pool = use_providers(chain.world["rpcUrl"], liar.url)
    with capture_logs() as logs:
        assert scan(chain, pool).spans == []
    (warning,) = [entry for entry in logs if entry["event"] == "logs_disagree"]
    assert (warning["contract"], warning["first_block"], warning["last_block"]) == (
        chain.contracts["v5"],
        0,
        final_block(chain),
    )
    liar.alter = unaltered
    assert hashes_of(scan(chain, pool)) == hashes


def with_another_log(method: str, _params: list[Any], result: Any) -> Any:
    """Show a log of the contract before each of its events, as a sweep reports a leg that it left out."""

    def both(log: Any) -> list[Any]:
        return [
            log | {"topics": [SKIPPED_TOPIC, "0x" + "00" * 32]},
            log | {"logIndex": hex(int(log["logIndex"], 16) + 1)},
        ]

    if method == "eth_getLogs":
        return [one for log in result for one in both(log)]
    if method == "eth_getTransactionReceipt":
        return result | {"logs": [one for log in result["logs"] for one in both(log)]}
    return result


def numbered_otherwise(method: str, params: list[Any], result: Any) -> Any:
    """Number logs by the block, where the other node numbers them by the transaction, and list the last one first."""
    shown = with_another_log(method, params, result)
    if method != "eth_getLogs":
        return shown
    return [log | {"logIndex": hex(int(log["logIndex"], 16) + 40)} for log in reversed(shown)]


def test_the_position_of_an_event_is_among_the_logs_of_the_contract_in_its_transaction(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    nodes = [start_node() for _ in range(2)]
    nodes[0].alter, nodes[1].alter = with_another_log, numbered_otherwise
    pool = use_providers(*(node.url for node in nodes))
    found = logs_of(scan(chain, pool))
    assert [(one.tx_hash, one.position) for one in found] == [(tx_hash, 1) for tx_hash in hashes]
    assert list(log_scan.receipts(pool, stream_of(chain), found)) == hashes


def test_a_receipt_with_the_event_at_another_position_does_not_count(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    node = start_node()
    pool = use_providers(node.url)
    found = logs_of(scan(chain, pool))
    node.alter = lambda method, params, result: (
        with_another_log(method, params, result) if method == "eth_getTransactionReceipt" else result
    )
    assert log_scan.receipts(pool, stream_of(chain), found) == {}
    node.alter = unaltered
    assert list(log_scan.receipts(pool, stream_of(chain), found)) == hashes


def test_spans_before_the_first_disagreement_count(
    chain: LocalChain,
    use_providers: Providers,
    start_node: Start,
    hashes: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = height(chain, hashes[0])
    monkeypatch.setattr(log_scan, "SPAN_LENGTHS", (1,))
    liar = start_node()
    liar.alter = lambda method, params, result: (
        [] if method == "eth_getLogs" and params[0]["fromBlock"] == hex(first + 1) else result
    )
    found = scan(chain, use_providers(chain.world["rpcUrl"], liar.url), first_block=first)
    assert (hashes_of(found), last_blocks(found)) == (hashes[:1], [first])


def test_a_provider_that_lags_has_not_answered_for_what_it_does_not_have(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    behind = start_node()
    behind.alter = lagging(final_block(chain) - height(chain, hashes[0]))
    pool = use_providers(chain.world["rpcUrl"], behind.url)
    found = scan(chain, pool)
    assert (hashes_of(found), last_blocks(found)) == (hashes[:1], [height(chain, hashes[0])])
    behind.alter = unaltered
    assert hashes_of(scan(chain, pool)) == hashes


def test_a_provider_whose_final_block_falls_back_between_two_requests_has_not_answered(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    """A provider is often many nodes: the one that shows the depth may not be the one that shows the logs."""
    behind = start_node()
    behind.alter = lambda method, params, result: (
        lagging(final_block(chain))(method, params, result) if "eth_getLogs" in behind.asked[-1] else result
    )
    with pytest.raises(ChainUnavailableError, match="refuse"):
        scan(chain, use_providers(chain.world["rpcUrl"], behind.url), first_block=height(chain, hashes[0]))


@pytest.mark.usefixtures("hashes")
def test_one_of_two_providers_is_not_enough(chain: LocalChain, use_providers: Providers) -> None:
    with pytest.raises(ChainUnavailableError, match="second provider"):
        scan(chain, use_providers(chain.world["rpcUrl"], "http://127.0.0.1:1"))


def test_two_of_three_providers_are_enough(chain: LocalChain, use_providers: Providers, hashes: list[str]) -> None:
    pool = use_providers(chain.world["rpcUrl"], "http://127.0.0.1:1", chain.world["rpcUrl"])
    assert hashes_of(scan(chain, pool)) == hashes


@pytest.mark.usefixtures("hashes")
def test_one_provider_can_raise_neither_the_head_nor_the_final_block(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: (
        result | {"number": hex(2**30)} if method == "eth_getBlockByNumber" else result
    )
    found = scan(chain, use_providers(chain.world["rpcUrl"], liar.url, chain.world["rpcUrl"]))
    assert (found.head_number, found.final_number) == (chain.web3.eth.block_number, final_block(chain))


def test_one_of_three_providers_that_shows_something_else_is_outvoted(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    liar = start_node()
    liar.alter = hiding_logs
    pool = use_providers(liar.url, chain.world["rpcUrl"], chain.world["rpcUrl"])
    with capture_logs() as logs:
        assert hashes_of(scan(chain, pool)) == hashes
    assert [(entry["event"], entry["outvoted"]) for entry in logs] == [("providers_disagree", [0])]


@pytest.mark.usefixtures("hashes")
def test_three_providers_that_each_show_something_else_end_the_scan(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    liars = [start_node(), start_node()]
    liars[0].alter = hiding_logs
    liars[1].alter = lambda method, _params, result: result[:-1] if method == "eth_getLogs" else result
    assert scan(chain, use_providers(chain.world["rpcUrl"], *(liar.url for liar in liars))).spans == []


def test_a_scan_that_no_provider_answers_is_an_error(chain: LocalChain, no_providers: ProviderPool) -> None:
    with pytest.raises(ChainUnavailableError):
        scan(chain, no_providers)


# --- the block before -------------------------------------------------------------------------------------------------


def test_a_span_ends_with_the_hash_of_its_last_block_and_the_next_scan_compares_it(
    chain: LocalChain, pool: ProviderPool, hashes: list[str]
) -> None:
    (span,) = scan(chain, pool).spans
    assert span.end.block_hash == chain.web3.eth.get_block(span.end.number)["hash"].to_0x_hex()
    late = chain.cancel(1)
    chain.mine(FINAL_AFTER)
    assert hashes_of(scan(chain, pool, first_block=span.end.number + 1, start=span.end.block_hash)) == [late]
    assert len(hashes) == 3


@pytest.mark.usefixtures("hashes")
def test_a_final_block_that_all_providers_show_with_another_hash_is_an_error(
    chain: LocalChain, use_providers: Providers
) -> None:
    pool = use_providers(chain.world["rpcUrl"], chain.world["rpcUrl"])
    with pytest.raises(FinalBlockReplacedError, match="block 4 was"):
        scan(chain, pool, first_block=5, start=random_hash())


@pytest.mark.parametrize("height", [4, 5, 6])
@pytest.mark.usefixtures("hashes")
def test_one_provider_that_shows_another_block_before_or_at_the_end_only_ends_the_scan(
    chain: LocalChain, use_providers: Providers, start_node: Start, monkeypatch: pytest.MonkeyPatch, height: int
) -> None:
    monkeypatch.setattr(log_scan, "SPAN_LENGTHS", (1,))
    start = chain.web3.eth.get_block(4)["hash"].to_0x_hex()
    liar = start_node()
    liar.alter = lambda method, params, result: (
        result | {"hash": random_hash()} if (method, params[:1]) == ("eth_getBlockByNumber", [hex(height)]) else result
    )
    found = scan(chain, use_providers(chain.world["rpcUrl"], liar.url), first_block=5, start=start)
    assert last_blocks(found) == list(range(5, height))


def test_an_answer_with_a_block_of_another_height_does_not_count(
    chain: LocalChain, use_providers: Providers, start_node: Start
) -> None:
    liar = start_node()
    liar.alter = lambda method, params, result: (
        result | {"number": "0x1"} if method == "eth_getBlockByNumber" and params[0].startswith("0x") else result
    )
    with pytest.raises(ChainUnavailableError, match="refuse"):
        scan(chain, use_providers(liar.url))


# --- hostile responses ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "lie",
    [
        {"address": STRANGER},
        {"topics": [v5.CANCELLED_TOPIC, random_hash()]},
        {"removed": True},
        {"blockNumber": "0x7fffffff"},
        {"blockNumber": None},
        {"blockHash": None},
        {"transactionHash": "0x12"},
        {"logIndex": None},
    ],
)
def test_a_log_that_was_not_queried_makes_the_answer_unusable(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str], lie: dict[str, Any]
) -> None:
    liar = start_node()
    liar.alter = forged(**lie)
    with pytest.raises(ChainUnavailableError, match="refuse"):
        scan(chain, use_providers(liar.url), first_block=height(chain, hashes[0]))


@pytest.mark.parametrize("answer", [None, {}, "0x", [None], [[]]])
def test_a_response_of_another_shape_does_not_count(
    chain: LocalChain, use_providers: Providers, start_node: Start, answer: Any
) -> None:
    liar = start_node()
    liar.alter = lambda method, _params, result: answer if method == "eth_getLogs" else result
    with pytest.raises(ChainUnavailableError, match="refuse"):
        scan(chain, use_providers(liar.url))


def test_shorter_spans_are_queried_if_a_provider_refuses_long_ones(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    stingy = start_node()
    stingy.alter = lambda method, params, result: (
        None
        if method == "eth_getLogs" and int(params[0]["toBlock"], 16) - int(params[0]["fromBlock"], 16) >= 10
        else result
    )
    found = scan(chain, use_providers(stingy.url), first_block=height(chain, hashes[0]))
    assert hashes_of(found) == hashes


def test_shorter_spans_are_queried_if_the_response_is_too_long(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    full = start_node()
    full.refuse = lambda batch: any(
        int(call["params"][0]["toBlock"], 16) - int(call["params"][0]["fromBlock"], 16) >= 10
        for call in batch
        if call["method"] == "eth_getLogs"
    )
    assert hashes_of(scan(chain, use_providers(full.url), first_block=height(chain, hashes[0]))) == hashes


# --- receipts ---------------------------------------------------------------------------------------------------------


def receipts(chain: LocalChain, pool: ProviderPool) -> dict[str, Receipt]:
    """Scan, and return the receipts of what was found."""
    return log_scan.receipts(pool, stream_of(chain), logs_of(scan(chain, pool)))


def in_receipts(**lie: Any) -> Alter:
    """Change every log of a receipt like this."""
    return lambda method, _params, result: (
        result | {"logs": [log | lie for log in result["logs"]]} if method == "eth_getTransactionReceipt" else result
    )


def test_the_receipts_show_the_logs_in_their_blocks(chain: LocalChain, pool: ProviderPool, hashes: list[str]) -> None:
    found = receipts(chain, pool)
    assert list(found) == hashes
    assert all(receipt.succeeded and len(receipt.logs) == 1 for receipt in found.values())


def test_they_are_fetched_in_batches_that_providers_take(
    chain: LocalChain, pool: ProviderPool, hashes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_scan, "RECEIPTS_AT_ONCE", 2)
    assert list(receipts(chain, pool)) == hashes


def refusing_more_than(count: int, *, hopeless: str = "") -> Callable[[list[dict[str, Any]]], bool]:
    """Refuse batches of more receipts than that, and any with the hopeless one."""

    def refuse(batch: list[dict[str, Any]]) -> bool:
        asked = [call["params"][0] for call in batch if call["method"] == "eth_getTransactionReceipt"]
        return len(asked) > count or hopeless in asked

    return refuse


def test_a_batch_that_is_too_large_is_halved_until_all_but_the_largest_receipt_is_shown(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    node = start_node()
    node.refuse = refusing_more_than(1)
    assert list(receipts(chain, use_providers(node.url))) == hashes
    node.refuse = refusing_more_than(3, hopeless=hashes[1])
    assert list(receipts(chain, use_providers(node.url))) == [hashes[0], hashes[2]]


def test_a_batch_is_halved_for_the_only_provider_that_has_the_receipts(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str]
) -> None:
    node, forgetful = start_node(), start_node()
    node.refuse = refusing_more_than(1)
    forgetful.alter = lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result
    assert list(receipts(chain, use_providers(node.url, forgetful.url))) == hashes


def test_a_batch_is_not_halved_for_providers_that_are_down(
    chain: LocalChain, pool: ProviderPool, no_providers: ProviderPool, hashes: list[str], round_trips: list[list[str]]
) -> None:
    logs = logs_of(scan(chain, pool))
    assert len(logs) == len(hashes)
    round_trips.clear()
    assert log_scan.receipts(no_providers, stream_of(chain), logs) == {}
    assert len(round_trips) == 2


@pytest.mark.parametrize(
    "lie",
    [
        in_receipts(address=STRANGER),
        in_receipts(topics=[v5.CANCELLED_TOPIC, random_hash(), "0x" + "00" * 32]),
        lambda method, _params, result: result | {"logs": []} if method == "eth_getTransactionReceipt" else result,
        lambda method, _params, result: (
            result | {"logs": result["logs"] * 2} if method == "eth_getTransactionReceipt" else result
        ),
        lambda method, _params, result: result | {"status": "0x0"} if method == "eth_getTransactionReceipt" else result,
        lambda method, _params, result: (
            result | {"blockHash": random_hash()} if method == "eth_getTransactionReceipt" else result
        ),
        lambda method, _params, result: None if method == "eth_getTransactionReceipt" else result,
    ],
)
def test_a_receipt_that_shows_something_else_does_not_count_and_another_provider_is_read(
    chain: LocalChain, use_providers: Providers, start_node: Start, hashes: list[str], lie: Alter
) -> None:
    liar = start_node()
    liar.alter = lie
    assert receipts(chain, use_providers(liar.url)) == {}
    assert list(receipts(chain, use_providers(liar.url, chain.world["rpcUrl"]))) == hashes
