"""The verdict on a reading of a V5 sweep, field by field and case by case; plain values, without a database."""

from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode

from sweepapi.evm.contracts.v5 import CANCELLED_TOPIC, EXECUTED_TOPIC
from sweepapi.evm.encoding.responses import Log, Receipt
from sweepapi.evm.logs.log_search import SearchFinding
from sweepapi.fees import FeeRates, Split
from sweeps.models import SweepTransaction
from sweeps.protocol.rail import Depth, Ended, Ending, Executed, ExecutionVerdict, Mismatch, TransactionVerdict
from sweeps.rails.evm.follow.deciding import decide
from sweeps.rails.evm.follow.followed import EvmAcceptance, FollowedEvmSweep
from sweeps.rails.evm_v5.terms import V5Terms
from tests.factories.followed import FOLLOWED as UNREPORTED
from tests.factories.followed import TERMS
from tests.factories.ledger import random_hash
from tests.factories.sweeps import (
    CONTRACT,
    OUTPUT,
    block_at,
    evm_reading,
    found_cancellation,
    found_execution,
    random_checksum_address,
    receipt_of,
)

TX = random_hash()
FOLLOWED = replace(UNREPORTED, tx_hashes=(TX,))
PAID = FeeRates(75, 4000).split(1_000_000)
COMPLETED = replace(FOLLOWED, accepted=EvmAcceptance(TX, 100, block_at(100).hash, PAID))
RAN_OUT: dict[str, Any] = {"safe_timestamp": FOLLOWED.deadline + 1}
USED = frozenset({"nonce_used"})
NOT_FOUND = SearchFinding(None, None, agreed=False, resume_at=None)


def executed_log(*, emitter: str = CONTRACT, terms: V5Terms = TERMS, **changes: Any) -> Log:
    """Return the ``SweepExecutedV5`` that matches the terms, for a gross output of a million units, with changes."""
    event = {**vars(terms), **vars(terms.fees), "token_count": len(terms.tokens), **vars(PAID)} | changes
    data = [event[name] for name in ("partner_recipient", "protocol_recipient", "output_token", "token_count")]
    data += [event[name] for name in ("gross_output", "total_fee", "partner_fee", "protocol_fee", "user_amount")]
    return Log(
        address=emitter,
        topics=(EXECUTED_TOPIC, f"0x{event['nonce']:064x}", f"0x{event['user'][2:].lower():0>64}", event["partner_id"]),
        data=encode([*["address"] * 3, *["uint256"] * 6], data),
    )


def receipt(*logs: Log, tx_hash: str = TX, succeeded: bool = True) -> Receipt:
    return receipt_of(SweepTransaction(tx_hash=tx_hash), *logs, succeeded=succeeded)


def verdict(*receipts: Receipt, followed: FollowedEvmSweep = FOLLOWED, **facts: Any) -> ExecutionVerdict:
    """Compare a look with these receipts."""
    return decide(followed, evm_reading(*receipts, **facts)).executions[followed.execution_id]


def of_transaction(*logs: Log, followed: FollowedEvmSweep = FOLLOWED) -> TransactionVerdict:
    """Compare a successful receipt with these logs."""
    (decided,) = verdict(receipt(*logs), followed=followed).transactions
    return decided


def executed_in(decided: TransactionVerdict) -> Executed:
    """Return the execution that was found, without the digest of its logs and its position."""
    assert decided.executed is not None
    return replace(decided.executed, logs_digest="", log_position=None)


def mismatches(*logs: Log) -> list[tuple[str, str]]:
    decided = of_transaction(*logs)
    assert (decided.executed, decided.reverted) == (None, False)
    return [(mismatch.field, mismatch.code) for mismatch in decided.mismatches]


# --- receipts ---------------------------------------------------------------------------------------------------------


def test_an_event_that_matches_the_signed_terms_is_an_execution() -> None:
    decided = of_transaction(executed_log())
    assert executed_in(decided) == Executed(Split(1_000_000, 7_500, 3_000, 4_500, 992_500))
    assert (decided.tx_hash, decided.inclusion.block_number) == (TX, 100)


def test_a_reverted_transaction_is_a_revert_whatever_it_logged() -> None:
    (decided,) = verdict(receipt(executed_log(), succeeded=False)).transactions
    assert (decided.reverted, decided.executed) == (True, None)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"user": random_checksum_address()}, "user"),
        ({"partner_id": "0x" + "ab" * 32}, "partnerId"),
        ({"partner_recipient": random_checksum_address()}, "partnerRecipient"),
        ({"protocol_recipient": random_checksum_address()}, "protocolRecipient"),
        ({"output_token": random_checksum_address()}, "outputToken"),
        ({"token_count": 2}, "tokenCount"),
    ],
    ids=str,
)
def test_an_event_that_differs_in_one_field_does_not_match(change: dict[str, Any], field: str) -> None:
    assert mismatches(executed_log(**change)) == [(field, "differs")]


@pytest.mark.parametrize("name", ["total_fee", "partner_fee", "protocol_fee", "user_amount"])
@pytest.mark.parametrize("shift", [-1, 1])
def test_amounts_that_are_one_unit_off_the_signed_bps_do_not_match(name: str, shift: int) -> None:
    assert mismatches(executed_log(**{name: vars(PAID)[name] + shift})) == [("amounts", "inconsistent")]


def test_everything_that_differs_is_named() -> None:
    log = executed_log(token_count=3, user=random_checksum_address(), total_fee=1)
    assert mismatches(log) == [("user", "differs"), ("tokenCount", "differs"), ("amounts", "inconsistent")]


def test_an_event_with_another_nonce_belongs_to_another_authorization() -> None:
    assert mismatches(executed_log(nonce=TERMS.nonce + 1)) == [("nonce", "differs")]


def test_a_matching_event_of_another_contract_does_not_count() -> None:
    assert mismatches(executed_log(emitter=random_checksum_address())) == [("event", "missing")]


def test_a_receipt_without_logs_lacks_the_event() -> None:
    assert mismatches() == [("event", "missing")]


def test_a_log_of_another_topic_or_of_malformed_bytes_does_not_count() -> None:
    good = executed_log()
    wrong_topic = Log(good.address, ("0x" + "12" * 32, *good.topics[1:]), good.data)
    too_few_topics = Log(good.address, good.topics[:3], good.data)
    cut = Log(good.address, good.topics, good.data[:-1])
    dirty = Log(good.address, good.topics, b"\x01" + good.data[1:])
    assert mismatches(wrong_topic, too_few_topics, cut, dirty) == [("event", "missing")]


def test_all_logs_count_because_a_bundler_may_execute_several_sweeps() -> None:
    theirs = replace(TERMS, nonce=8, user=random_checksum_address())
    logs = [Log(random_checksum_address(), (), b""), executed_log(terms=theirs), executed_log()]
    for terms in (TERMS, theirs):
        assert executed_in(of_transaction(*logs, followed=replace(FOLLOWED, terms=terms))) == Executed(PAID)


def test_an_event_of_another_contract_does_not_hide_an_execution() -> None:
    decoy = executed_log(emitter=random_checksum_address(), user_amount=0)
    assert executed_in(of_transaction(decoy, executed_log())) == Executed(PAID)


def test_a_mismatch_names_the_seen_and_the_signed_value() -> None:
    assert of_transaction(executed_log(token_count=9)).mismatches == [
        Mismatch("tokenCount", "differs", "tokenCount: the event has 9, the authorization 1."),
    ]


def test_inconsistent_amounts_raise_a_flag() -> None:
    assert verdict(receipt(executed_log(total_fee=1))).raised == {"inconsistent_amounts"}


def test_receipts_are_decided_in_the_order_of_their_reports_up_to_the_execution() -> None:
    hashes = tuple(random_hash() for _ in range(4))
    receipts = [receipt(*logs, tx_hash=h) for h, logs in zip(hashes, [(), (executed_log(),), ()], strict=False)]
    decided = verdict(*reversed(receipts), followed=replace(FOLLOWED, tx_hashes=hashes)).transactions
    assert [one.tx_hash for one in decided] == list(hashes[:2])


# --- the nonce --------------------------------------------------------------------------------------------------------


def test_an_unused_nonce_past_the_deadline_has_run_out() -> None:
    look = evm_reading(**RAN_OUT)
    assert decide(FOLLOWED, look).has_run_out
    assert verdict(**RAN_OUT).ended == Ended(Ending.RAN_OUT)


@pytest.mark.parametrize(
    "facts",
    [
        {"safe_timestamp": FOLLOWED.deadline},
        {"safe_timestamp": None},
        RAN_OUT | {"state": None},
        RAN_OUT | {"state": True},
        RAN_OUT | {"agreed": False},
    ],
    ids=str,
)
def test_without_that_proof_the_execution_does_not_end(facts: dict[str, Any]) -> None:
    assert verdict(**facts).ended is None


def test_a_used_nonce_raises_a_flag_and_an_unused_one_clears_it() -> None:
    assert verdict(state=True).raised == USED
    assert verdict(state=False).cleared == USED
    unread = verdict(state=None)
    assert (unread.raised, unread.cleared) == (frozenset(), frozenset())


def test_an_execution_explains_the_used_nonce() -> None:
    decided = verdict(receipt(executed_log()), state=True)
    assert (decided.raised, decided.cleared) == (frozenset(), USED)


# --- what a search found ----------------------------------------------------------------------------------------------


def test_a_cancellation_that_two_providers_show_ends_the_execution_and_names_its_sender() -> None:
    finding = found_cancellation(OUTPUT)
    decided = verdict(state=True, finding=finding)
    assert finding.hit is not None
    assert decided.cleared == USED
    assert decided.ended == Ended(Ending.CANCELLED, f"cancelled on chain by {OUTPUT}", finding.hit.tx_hash)


def test_a_cancellation_that_one_provider_shows_is_an_obstacle() -> None:
    decided = verdict(state=True, finding=found_cancellation(OUTPUT, agreed=False))
    assert (decided.ended, decided.raised) == (None, USED)
    assert decided.obstacle == "The providers disagree about the event that used the nonce."


def test_an_execution_that_was_found_is_decided_by_its_receipt() -> None:
    stranger = random_hash()
    (decided,) = verdict(state=True, finding=found_execution(receipt(executed_log(), tx_hash=stranger))).transactions
    assert (decided.tx_hash, executed_in(decided)) == (stranger, Executed(PAID))


def test_a_reported_hash_that_was_found_is_decided_once() -> None:
    found = receipt(executed_log())
    (decided,) = verdict(receipt(), state=True, finding=found_execution(found)).transactions
    assert executed_in(decided) == Executed(PAID)


def test_an_execution_without_a_receipt_is_an_obstacle() -> None:
    decided = verdict(state=True, finding=found_execution(receipt(executed_log()), known=False))
    assert (decided.transactions, decided.ended, decided.raised) == ([], None, USED)
    assert decided.obstacle == "An event shows an execution, but no receipt confirms it."


def test_a_search_that_found_nothing_says_so_and_where_to_continue() -> None:
    decided = verdict(state=True, finding=replace(NOT_FOUND, resume_at=50))
    assert (decided.search_cursor, decided.raised) == ("50", USED)
    assert decided.obstacle == "The nonce is used, but the event that used it has not been found yet."


def test_the_cursor_of_a_search_is_kept_without_a_new_one_and_dropped_for_an_unused_nonce() -> None:
    searching = replace(FOLLOWED, search_cursor="50")
    assert verdict(followed=searching, state=True).search_cursor == "50"
    assert verdict(followed=searching, state=True, finding=NOT_FOUND).search_cursor == ""
    assert verdict(followed=searching, state=False).search_cursor == ""


# --- where to search --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("followed", "first_block"),
    [(FOLLOWED, 0), (replace(FOLLOWED, built_at_height=70), 6), (replace(FOLLOWED, search_cursor="50"), 50)],
    ids=["near the first block", "from the build", "from the cursor"],
)
def test_a_used_nonce_is_searched_up_to_the_safe_block(followed: FollowedEvmSweep, first_block: int) -> None:
    search = followed.search(evm_reading(state=True).sighting)
    assert search is not None
    assert (search.key, search.contract) == (FOLLOWED.sweep_id, CONTRACT)
    assert (search.first_block, search.last_block) == (first_block, 68)
    assert search.topics == ((EXECUTED_TOPIC, CANCELLED_TOPIC), f"0x{TERMS.nonce:064x}")


def test_there_is_no_search_without_need() -> None:
    explained = evm_reading(receipt(executed_log()), state=True)
    for reading in (evm_reading(), evm_reading(state=None), evm_reading(state=True, safe_number=None), explained):
        assert FOLLOWED.search(reading.sighting) is None
    assert COMPLETED.search(evm_reading(state=True).sighting) is None


# --- completed --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("facts", "depth"),
    [
        ({"canonical": None}, Depth.UNKNOWN),
        ({"canonical": block_at(99)}, Depth.UNKNOWN),
        ({"canonical": block_at(100)}, Depth.INCLUDED),
        ({"canonical": block_at(100), "safe_number": 100}, Depth.SAFE),
        ({"canonical": block_at(100), "safe_number": None, "final_number": 100}, Depth.FINAL),
        ({"canonical": block_at(100, fork=1), "final_number": 100}, Depth.GONE),
    ],
    ids=lambda value: value.value if isinstance(value, Depth) else "",
)
def test_only_the_depth_of_its_block_counts_for_a_completed_sweep(facts: dict[str, Any], depth: Depth) -> None:
    decided = verdict(receipt(executed_log()), followed=COMPLETED, **RAN_OUT, **facts)
    assert decided == ExecutionVerdict(100, accepted=depth, log_position=0 if depth is Depth.FINAL else None)


@pytest.mark.parametrize("canonical", [block_at(100), block_at(100, fork=1)], ids=["final", "gone"])
def test_providers_that_disagree_about_the_accepted_block_are_an_obstacle(canonical: object) -> None:
    undecided: dict[str, Any] = {"followed": COMPLETED, "canonical": canonical, "final_number": 100, "agreed": False}
    disputed, awaited = verdict(**undecided, is_disputed=True), verdict(**undecided)
    assert (disputed.accepted, awaited.accepted) == (Depth.UNKNOWN, Depth.UNKNOWN)
    assert disputed.obstacle == "The providers disagree about the accepted block."
    assert awaited.obstacle == "No second provider shows the same of the accepted block yet."


UNUSED: dict[str, Any] = {
    "followed": COMPLETED,
    "canonical": block_at(100),
    "safe_number": 100,
    "final_number": 100,
    "state": False,
}


def test_an_accepted_execution_that_no_provider_shows_is_undone_if_its_nonce_is_unused() -> None:
    decided = verdict(**UNUSED)
    assert decided.accepted is Depth.GONE
    assert decided.obstacle == "The final block does not show the execution that was accepted."


def test_a_receipt_that_contradicts_the_unused_nonce_closes_nothing() -> None:
    decided = verdict(receipt(executed_log()), **UNUSED)
    obstacle = "The final block shows the execution that was accepted, but its nonce is unused."
    assert (decided.accepted, decided.obstacle) == (Depth.UNKNOWN, obstacle)


def test_a_final_block_without_the_accepted_receipt_closes_nothing() -> None:
    decided = verdict(followed=COMPLETED, canonical=block_at(100), final_number=100)
    obstacle = "No provider shows the accepted transaction any more."
    assert (decided.accepted, decided.obstacle) == (Depth.UNKNOWN, obstacle)


@pytest.mark.parametrize(
    "shown",
    [
        receipt(executed_log(**vars(FeeRates(75, 4000).split(2_000_000)))),
        receipt(),
        receipt(executed_log(), succeeded=False),
        replace(receipt(executed_log()), block_hash=block_at(100, fork=1).hash),
    ],
    ids=["paid something else", "no event", "reverted", "in another block"],
)
def test_a_final_receipt_that_shows_something_else_undoes_the_acceptance(shown: Receipt) -> None:
    decided = verdict(shown, followed=COMPLETED, canonical=block_at(100), final_number=100)
    assert decided.accepted is Depth.GONE
    assert decided.obstacle == "The final block does not show the execution that was accepted."


# --- what a second provider has to confirm ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("followed", "facts", "concludes"),
    [
        (FOLLOWED, {}, False),
        (FOLLOWED, RAN_OUT, True),
        (COMPLETED, {"canonical": block_at(100)}, False),
        (COMPLETED, {"canonical": block_at(100), "final_number": 100}, True),
        (COMPLETED, {"canonical": block_at(100, fork=1)}, True),
    ],
    ids=["pending", "ran out", "included", "final", "gone"],
)
def test_only_an_irreversible_conclusion_needs_a_second_provider(
    followed: FollowedEvmSweep, facts: dict[str, Any], *, concludes: bool
) -> None:
    assert (followed.subject.conclude(evm_reading(**facts).sighting) is not None) == concludes
