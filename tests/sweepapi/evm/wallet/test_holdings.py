"""How far sources got is told exactly: what is cut, what goes on where, and what a later request is sent."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from eth_abi.abi import decode, encode

from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.tokens.erc20 import TRANSFER_TOPIC
from sweepapi.evm.wallet.holdings.coverage import Continuation, Coverage, Looked, SourceStatus
from sweepapi.evm.wallet.holdings.sources import Cut, NamedTokens, Page, SearchResult
from sweepapi.evm.wallet.holdings.survey import BALANCE_GAS, held_calls
from sweepapi.evm.wallet.holdings.transfer_logs import MAX_LOGS, PAGE_TOKENS, TransferLogs
from sweepapi.rpc import Call
from sweepapi.rpc.calls import read
from sweepapi.rpc.errors import CallFailedError

WALLET = "0xC45AbE1c48539b9D69801EF05c5dB34155fe45CF"
# In EIP-55, as each is all digits.
TOKENS = [f"0x{i:040d}" for i in range(1, 1_401)]
A, B, C, D = TOKENS[:4]
PAGES = [Page([A, B], None), Page([B, C], "second"), Page([D], "third")]


def log_of(token: str, topics: int = 3) -> dict[str, Any]:
    return {"address": token.lower(), "topics": [TRANSFER_TOPIC, *["0x" + "00" * 32] * (topics - 1)]}


def searched(
    blocks: int, answers: Callable[[Call], object], *, head: int = 10_000, position: Any = None
) -> SearchResult:
    """Search the logs, with what a node answers to each query."""
    search = TransferLogs(blocks).search(WALLET, position)
    calls = search.calls(head)
    return search.found([read(call, {"result": answers(call)}) for call in calls])


def looked(result: SearchResult, *, knows_all: bool = True) -> Looked:
    return Looked(NamedTokens(HoldingsSource.BLOCKSCOUT, (), knows_all), result)


@pytest.mark.parametrize(
    ("room", "known", "tokens", "goes_on_at"),
    [
        (4, [], [A, B, B, C, D], "after"),
        (3, [], [A, B, B, C], "third"),
        (2, [], [A, B], "second"),
        (1, [], [], None),
        (1, [A, B], [A, B, B, C], "third"),
        (0, [A, B, C, D], [A, B, B, C, D], "after"),
    ],
)
def test_a_page_whose_new_tokens_do_not_fit_is_where_the_source_goes_on(
    room: int, known: Sequence[str], tokens: Sequence[str], goes_on_at: Any
) -> None:
    result = SearchResult(PAGES, Cut.TIME, "after", goes_on=True).within(room, known=set(known))
    assert (result.tokens, result.goes_on_at, result.goes_on) == (tokens, goes_on_at, True)
    assert result.cut is (Cut.TIME if goes_on_at == "after" else Cut.COUNT)


def test_the_newest_tokens_come_first_and_other_events_are_left_out() -> None:
    result = searched(1_000, lambda _call: [log_of(A), log_of(B), log_of(C, topics=4), log_of(A)])
    assert result.tokens == [A, B]
    assert (result.blocks, result.cut, result.goes_on_at) == ((9_001, 10_000), Cut.BLOCKS, (9_000, 10))


def test_the_logs_from_the_first_block_on_are_all() -> None:
    result = searched(1_000, lambda _call: [log_of(A)], head=999)
    assert (result.blocks, result.cut, result.goes_on) == ((0, 999), None, False)


def test_a_later_search_ends_where_the_one_before_began_and_is_ten_times_as_long() -> None:
    asked: list[tuple[str, str]] = []

    def answer(call: Call) -> list[Any]:
        asked.append((call.params[0]["fromBlock"], call.params[0]["toBlock"]))
        return []

    result = searched(100, answer, position=[9_000, 10])
    assert asked[0] == (hex(8_901), hex(9_000))
    assert len(asked) == 10
    assert (result.blocks, result.goes_on_at) == ((8_001, 9_000), (8_000, 10))


def test_a_later_search_counts_up_to_the_first_query_that_failed() -> None:
    result = searched(
        100, lambda call: [log_of(A)] if call.params[0]["toBlock"] != hex(8_800) else None, position=[9_000, 10]
    )
    assert (result.blocks, result.goes_on_at, result.tokens) == ((8_801, 9_000), (8_800, 10), [A])


@pytest.mark.parametrize(
    "answer",
    [None, "logs", [{}] * (MAX_LOGS + 1), [log_of("0x12")]],
    ids=["null", "text", "too many", "no address"],
)
def test_logs_that_are_too_many_or_unreadable_are_a_failure(answer: object) -> None:
    result = searched(1_000, lambda _call: answer)
    assert (result.tokens, result.cut, result.goes_on) == ([], Cut.FAILURE, False)


def test_logs_that_name_more_tokens_than_fit_go_on_with_the_others_of_these_blocks() -> None:
    def answer(_call: Call) -> list[Any]:
        return [log_of(token) for token in reversed(TOKENS)]

    first = searched(1_000, answer).within(2 * PAGE_TOKENS, known=set())
    assert (first.tokens, first.cut) == (TOKENS[: 2 * PAGE_TOKENS], Cut.COUNT)
    rest = searched(1_000, answer, head=20_000, position=json.loads(json.dumps(first.goes_on_at)))
    assert (rest.tokens, rest.cut) == (TOKENS[2 * PAGE_TOKENS :], Cut.BLOCKS)
    assert first.blocks == rest.blocks == (9_001, 10_000)


def test_a_call_that_failed_answers_nothing() -> None:
    search = TransferLogs(1_000).search(WALLET, None)
    search.calls(10_000)
    assert search.found([CallFailedError("refused")]).cut is Cut.FAILURE


def test_a_continuation_is_read_as_it_was_written() -> None:
    place = Continuation(
        {"transfer_logs": 9_000, "blockscout": {"id": "5", "fiat_value": "null"}}, [A, WALLET], is_all_known=True
    )
    assert Continuation.decode(place.encode()) == place
    assert Continuation.decode(Continuation({}).encode()) == Continuation({}, [], is_all_known=False)


def test_a_reading_is_complete_once_a_source_that_knows_all_ended_and_nothing_is_left() -> None:
    ended, cut = SearchResult(PAGES), SearchResult(PAGES, Cut.TIME, "after", goes_on=True)
    assert Coverage.of([looked(ended)], left=[], is_all_known=False).is_complete
    assert not Coverage.of([looked(ended, knows_all=False)], left=[], is_all_known=False).is_complete
    assert not Coverage.of([looked(cut)], left=[], is_all_known=False).is_complete
    assert not Coverage.of([looked(ended)], left=[A], is_all_known=False).is_complete
    assert Coverage.of([], left=[], is_all_known=True).is_complete


def test_once_all_is_known_only_what_is_left_is_to_be_looked_at() -> None:
    ended, cut = SearchResult(PAGES), SearchResult(PAGES, Cut.TIME, "after", goes_on=True)
    assert Coverage.of([looked(ended), looked(cut)], left=[], is_all_known=False).following is None
    assert Coverage.of([looked(ended)], left=[A], is_all_known=False).following == Continuation(
        {}, [A], is_all_known=True
    )
    following = Coverage.of([looked(cut)], left=[A], is_all_known=False).following
    assert following == Continuation({"blockscout": "after"}, [A], is_all_known=False)


@pytest.mark.parametrize(
    ("result", "status"),
    [
        (SearchResult([]), SourceStatus.COMPLETE),
        (SearchResult(PAGES, Cut.TIME), SourceStatus.PARTIAL),
        (SearchResult([], Cut.BLOCKS, blocks=(1, 2)), SourceStatus.PARTIAL),
        (SearchResult([], Cut.COUNT), SourceStatus.PARTIAL),
        (SearchResult([], Cut.TIME), SourceStatus.UNAVAILABLE),
        (SearchResult([], Cut.FAILURE), SourceStatus.UNAVAILABLE),
        (SearchResult([], Cut.PAUSE), SourceStatus.UNAVAILABLE),
    ],
)
def test_a_source_is_unavailable_if_it_said_nothing(result: SearchResult, status: SourceStatus) -> None:
    assert looked(result).coverage.status is status


def test_a_call_has_the_gas_that_all_its_tokens_may_burn() -> None:
    asked = []
    for call in held_calls(TOKENS, wallet=WALLET):
        transaction, _, _ = call.params
        tokens, _, gas = decode(["address[]", "address", "uint256"], bytes.fromhex(transaction["data"][10:]))
        assert len(tokens) * gas <= int(transaction["gas"], 16)
        assert gas == BALANCE_GAS
        asked += tokens
    assert asked == TOKENS


def test_a_survey_about_other_tokens_is_a_failure() -> None:
    (call,) = held_calls(TOKENS[:2], wallet=WALLET)
    for answer in ("0x", "0x" + "00" * 64, f"0x{encode(['bytes'], [b'1']).hex()}", None):
        assert isinstance(read(call, {"result": answer}), CallFailedError)
    assert read(call, {"result": f"0x{encode(['bytes'], [bytes([0, 1])]).hex()}"}) == [B]
