"""The rail's conclusions from a reading of one sweep, and its searches for what the reading does not explain."""

from dataclasses import replace
from typing import Any

import pytest

from sweepapi.evm.contracts.v5 import CANCELLED_TOPIC, EXECUTED_TOPIC
from sweepapi.evm.encoding.responses import Block, Log, Receipt
from sweepapi.evm.logs.log_search import Event
from sweepapi.evm.logs.sightings import Sighting
from sweepapi.fees import FeeRates
from sweeps.models import SweepTransaction
from sweeps.protocol.rail import Depth, Ended, Ending
from sweeps.rails.evm.follow.followed import SEARCH_MARGIN_BLOCKS, EvmAcceptance, FollowedEvmSweep, depth_of
from tests.factories import followed
from tests.factories.followed import TERMS
from tests.factories.sweeps import CONTRACT, receipt_of

HASH, OTHER = "0x" + "aa" * 32, "0x" + "bb" * 32
NONCE = TERMS.nonce
USER, PARTNER, PROTOCOL = TERMS.user, TERMS.fees.partner_recipient, TERMS.fees.protocol_recipient
FOLLOWED = replace(followed.FOLLOWED, deadline=1_000, built_at_height=200)
PAID = FeeRates(75, 4000).split(1_000_000)
TX = "0x" + "dd" * 32
EXECUTED = replace(FOLLOWED, tx_hashes=(TX,), accepted=EvmAcceptance(TX, 50, HASH, PAID))
SEEN = Sighting(
    head_number=400,
    safe_number=368,
    final_number=336,
    receipts={},
    canonical=None,
    state=False,
    safe_timestamp=1_000,
)


# --- what closes a sweep ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "safe_timestamp", "proven"),
    [(False, 1_001, True), (False, 1_000, False), (True, 1_001, False), (None, None, False), (None, 1_001, False)],
)
def test_only_an_unused_nonce_on_a_safe_block_past_the_deadline_is_proof(
    *, state: bool | None, safe_timestamp: int | None, proven: bool
) -> None:
    seen = replace(SEEN, state=state, safe_timestamp=safe_timestamp)
    assert FOLLOWED.is_proven_unused(seen) is proven
    conclusion = FOLLOWED.subject.conclude(seen)
    assert (conclusion is not None and conclusion.closes) is proven


def test_a_used_nonce_past_the_deadline_contradicts_that_it_ran_out_and_closes_nothing() -> None:
    used = FOLLOWED.subject.conclude(replace(SEEN, state=True, safe_timestamp=1_001))
    assert used is not None
    assert not used.closes
    assert used != FOLLOWED.subject.conclude(replace(SEEN, safe_timestamp=1_001))


@pytest.mark.parametrize(
    ("canonical", "depth"),
    [
        (None, None),
        (Block(49, HASH, 0), None),
        (Block(50, OTHER, 0), Depth.GONE),
        (Block(50, HASH, 0), Depth.FINAL),
    ],
)
def test_an_accepted_block_is_concluded_to_be_gone_or_final(canonical: Block | None, depth: Depth | None) -> None:
    conclusion = EXECUTED.subject.conclude(replace(SEEN, canonical=canonical))
    assert (conclusion is None) == (depth is None)
    assert depth_of(replace(SEEN, canonical=canonical), 50, HASH) is (depth or Depth.UNKNOWN)


LOG = Log(CONTRACT, (EXECUTED_TOPIC,), b"paid")
SHOWN = receipt_of(SweepTransaction(tx_hash=TX), LOG, block=50)


@pytest.mark.parametrize(
    "other",
    [
        None,
        replace(SHOWN, block_number=51),
        replace(SHOWN, block_hash=OTHER),
        replace(SHOWN, succeeded=False),
        replace(SHOWN, logs=(replace(LOG, data=b"more"),)),
        replace(SHOWN, logs=(replace(LOG, topics=(CANCELLED_TOPIC,)),)),
        replace(SHOWN, logs=(LOG, LOG)),
    ],
    ids=["none", "height", "block", "reverted", "data", "topics", "another log"],
)
def test_providers_that_differ_in_any_part_of_the_event_do_not_agree(other: Receipt | None) -> None:
    final = replace(SEEN, canonical=Block(50, HASH, 0), state=True)
    shown, different = (EXECUTED.subject.conclude(replace(final, receipts={TX: one})) for one in (SHOWN, other))
    assert shown != different


def test_what_other_contracts_emitted_does_not_count_for_agreement() -> None:
    final = replace(SEEN, canonical=Block(50, HASH, 0), state=True)
    noisy = replace(SHOWN, logs=(LOG, replace(LOG, address=USER)), gas_used=1)
    shown, same = (EXECUTED.subject.conclude(replace(final, receipts={TX: one})) for one in (SHOWN, noisy))
    assert shown == same


def test_an_accepted_block_that_is_not_final_yet_closes_nothing() -> None:
    young = replace(SEEN, canonical=Block(50, HASH, 0), final_number=49)
    assert EXECUTED.subject.conclude(young) is None


def test_two_providers_that_show_different_blocks_at_the_accepted_height_do_not_agree() -> None:
    first, second = (
        EXECUTED.subject.conclude(replace(SEEN, canonical=Block(50, replacement, 0)))
        for replacement in (OTHER, "0x" + "cc" * 32)
    )
    assert first != second


def test_an_executed_sweep_is_never_proven_unused() -> None:
    assert EXECUTED.subject.conclude(replace(SEEN, safe_timestamp=1_001)) is None


# --- what is searched for ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("followed", "facts"),
    [
        (FOLLOWED, {"state": False}),
        (FOLLOWED, {"state": None}),
        (FOLLOWED, {"state": True, "safe_number": None}),
        (EXECUTED, {"state": True}),
    ],
)
def test_only_a_used_nonce_of_a_sweep_that_was_not_executed_is_searched_for(
    followed: FollowedEvmSweep, facts: dict[str, Any]
) -> None:
    assert followed.search(replace(SEEN, **facts)) is None
    assert FOLLOWED.search(replace(SEEN, state=True)) is not None


@pytest.mark.parametrize(
    ("cursor", "built_at_height", "first_block"),
    [("", 200, 200 - SEARCH_MARGIN_BLOCKS), ("", 3, 0), ("300", 200, 300), ("999", 200, 368)],
)
def test_a_search_covers_the_blocks_from_the_build_or_its_cursor_to_the_safe_one(
    cursor: str, built_at_height: int, first_block: int
) -> None:
    search = replace(FOLLOWED, search_cursor=cursor, built_at_height=built_at_height).search(replace(SEEN, state=True))
    assert search is not None
    assert (search.contract, search.first_block, search.last_block) == (CONTRACT, first_block, 368)


def cancelled(nonce: int = NONCE) -> Log:
    return Log(CONTRACT, (CANCELLED_TOPIC, f"0x{nonce:064x}", f"0x{USER[2:]:0>64}"), b"")


def executed(nonce: int = NONCE) -> Log:
    topics = (EXECUTED_TOPIC, f"0x{nonce:064x}", f"0x{USER[2:]:0>64}", "0x" + "11" * 32)
    return Log(CONTRACT, topics, bytes(9 * 32))


@pytest.mark.parametrize(
    ("log", "event"),
    [
        (cancelled(), Event(Ended(Ending.CANCELLED, f"cancelled on chain by {USER}"), is_hint=False)),
        (executed(), Event(None, is_hint=True)),
        (cancelled(NONCE + 1), None),
        (executed(NONCE + 1), None),
        (replace(executed(), data=b""), None),
        (Log(CONTRACT, (), b""), None),
    ],
)
def test_a_log_is_a_cancellation_or_a_hint_at_an_execution_of_this_nonce(log: Log, event: Event | None) -> None:
    search = FOLLOWED.search(replace(SEEN, state=True))
    assert search is not None
    assert search.read(log) == event
