"""The verdict on a reading of a V4 sweep, where it differs from V5; plain values, without a database."""

from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from eth_abi.abi import encode

from ledger.models import Settlement
from sweepapi.evm.contracts.batch import SKIPPED_TOPIC, SkipReason
from sweepapi.evm.contracts.v4 import EXECUTED_TOPIC
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC as V5_TOPIC
from sweepapi.evm.encoding.responses import Log, MinedLog, Receipt
from sweepapi.evm.logs.log_digest import digest
from sweepapi.evm.logs.log_search import Event, Hit, SearchFinding
from sweepapi.fees import Split
from sweeps.models import SkippedToken, SweepTransaction
from sweeps.protocol.rail import Ended, Ending, Executed, ExecutionVerdict, FeeTerms, Skipped
from sweeps.rails.evm.follow.deciding import decide
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from sweeps.rails.evm_v4.terms import V4Terms, sweep_ref_of
from tests.factories.ledger import random_hash
from tests.factories.sweeps import (
    CONTRACT,
    OUTPUT,
    block_at,
    evm_reading,
    found_execution,
    random_checksum_address,
    receipt_of,
)

TX = random_hash()
TERMS = V4Terms(
    sweep_ref=sweep_ref_of(uuid4()),
    user=random_checksum_address(),
    output_token=OUTPUT,
    tokens=(random_checksum_address(), random_checksum_address()),
    floors=(500_000, 492_500),
    fees=FeeTerms(75, 4000, None, random_checksum_address(), Settlement.PAYABLE),
)
FOLLOWED = FollowedEvmSweep(
    sweep_id=uuid4(),
    execution_id=uuid4(),
    contract=CONTRACT,
    terms=TERMS,
    deadline=1_700_001_000,
    built_at_height=10,
    search_cursor="",
    tx_hashes=(TX,),
    accepted=None,
    most_on_one_word=2_000_000,
    waited_for=frozenset(),
)
OTHER_REF = sweep_ref_of(uuid4())
USED = frozenset({"sweep_ref_used"})


def executed_log(*, emitter: str = CONTRACT, **changes: Any) -> Log:
    """Return the ``SweepExecutedV4`` that matches the terms, for a gross output of a million units, with changes."""
    amounts = {"gross_output": 1_000_000, "fee": 7_500, "user_amount": 992_500}
    event = {**vars(TERMS), "token_count": len(TERMS.tokens), **amounts} | changes
    data = [event[name] for name in ("output_token", "token_count", "gross_output", "fee", "user_amount")]
    topics = (EXECUTED_TOPIC, event["sweep_ref"], f"0x{event['user'][2:].lower():0>64}")
    return Log(emitter, topics, encode(["address", *["uint256"] * 4], data))


def skipped_log(leg: int, *, token: str = "") -> Log:
    """Return the event of a leg that was left out under the reference, for whichever user."""
    data = encode(["uint256", "address", "uint8"], [leg, token or TERMS.tokens[leg], SkipReason.BELOW_LEAST])
    return Log(CONTRACT, (SKIPPED_TOPIC, TERMS.sweep_ref), data)


def executed(*logs: Log) -> Executed:
    (decided,) = verdict(receipt(*logs)).transactions
    assert decided.executed is not None
    return decided.executed


def receipt(*logs: Log, tx_hash: str = TX) -> Receipt:
    return receipt_of(SweepTransaction(tx_hash=tx_hash), *logs)


def verdict(*receipts: Receipt, followed: FollowedEvmSweep = FOLLOWED, **facts: Any) -> ExecutionVerdict:
    """Compare a look with these receipts."""
    return decide(followed, evm_reading(*receipts, **facts)).executions[followed.execution_id]


def outcome(*logs: Log) -> list[tuple[str, str]]:
    """Return field and code of each mismatch of a successful receipt; empty if it executed the sweep."""
    (decided,) = verdict(receipt(*logs)).transactions
    assert (decided.executed is None) == bool(decided.mismatches)
    return [(mismatch.field, mismatch.code) for mismatch in decided.mismatches]


def found(log: Log, *, agreed: bool = True) -> SearchFinding:
    """Return the finding of this log as the rail reads it."""
    event = TERMS.read(log)
    assert event is not None
    return SearchFinding(Hit(event, MinedLog(log, 0, TX, 60, block_at(60).hash)), None, agreed=agreed, resume_at=None)


def test_the_reference_is_the_uuid_and_sixteen_zero_bytes() -> None:
    sweep_id = UUID("01a2019e-eb46-7677-867b-2da843a979d0")
    assert sweep_ref_of(sweep_id) == "0x01a2019eeb467677867b2da843a979d0" + "00" * 16


def test_the_partners_part_of_the_fee_is_its_share_rounded_down() -> None:
    (decided,) = verdict(receipt(executed_log())).transactions
    paid = Split(1_000_000, 7_500, 3_000, 4_500, 992_500)
    assert decided.executed == Executed(paid, logs_digest=digest([executed_log()]), log_position=0)


@pytest.mark.parametrize(
    ("change", "mismatch"),
    [
        ({"output_token": random_checksum_address()}, ("outputToken", "differs")),
        ({"token_count": 1}, ("tokenCount", "differs")),
        ({"sweep_ref": OTHER_REF}, ("sweepRef", "differs")),
        ({"user": random_checksum_address()}, ("sweepRef", "differs")),
        ({"fee": 7_499, "user_amount": 992_501}, ("fee", "differs")),
        ({"fee": 7_501, "user_amount": 992_499}, ("fee", "differs")),
        ({"fee": 7_499}, ("amounts", "inconsistent")),
        ({"user_amount": 992_499}, ("amounts", "inconsistent")),
        ({"gross_output": 1_000_200}, ("amounts", "inconsistent")),
        ({"emitter": random_checksum_address()}, ("event", "missing")),
    ],
    ids=str,
)
def test_an_event_that_differs_in_one_field_does_not_match(change: dict[str, Any], mismatch: tuple[str, str]) -> None:
    assert outcome(executed_log(**change)) == [mismatch]


@pytest.mark.parametrize("gross", [0, 1, 133, 134, 10_000, 2**200 + 7])
def test_the_fee_is_the_floor_of_the_bps(gross: int) -> None:
    fee = gross * 75 // 10_000
    assert outcome(executed_log(gross_output=gross, fee=fee, user_amount=gross - fee)) == []


def test_the_users_own_event_is_found_among_those_of_one_transaction() -> None:
    strangers = executed_log(user=random_checksum_address(), fee=1)
    another_sweep = executed_log(sweep_ref=OTHER_REF, token_count=5)
    assert outcome(strangers, another_sweep, executed_log()) == []


def test_what_was_left_out_is_read_from_the_events_in_front() -> None:
    skipped = (Skipped(1, SkippedToken.Reason.BELOW_LEAST),)
    assert executed(skipped_log(1), executed_log()).skipped == skipped
    strangers = executed_log(user=random_checksum_address())
    assert executed(skipped_log(0), strangers, skipped_log(1), executed_log()).skipped == skipped


def test_a_token_that_the_sweep_does_not_have_was_left_out_by_terms_of_the_users_own() -> None:
    others = [skipped_log(0, token=random_checksum_address()), skipped_log(5, token=TERMS.tokens[0])]
    assert executed(*others, executed_log()).skipped == ()


@pytest.mark.parametrize(
    ("logs", "is_below"),
    [
        ([executed_log()], False),
        ([executed_log(gross_output=999_999, fee=7_499, user_amount=992_500)], False),
        ([executed_log(gross_output=999_998, fee=7_499, user_amount=992_499)], True),
        ([skipped_log(0), executed_log(gross_output=500_000, fee=3_750, user_amount=496_250)], False),
        ([skipped_log(1), executed_log(gross_output=500_000, fee=3_750, user_amount=496_250)], True),
    ],
    ids=["whole", "the floors exactly", "a unit less", "without the first", "without the second"],
)
def test_a_user_who_allowed_less_than_the_floors_is_flagged(logs: list[Log], *, is_below: bool) -> None:
    assert executed(*logs).is_below_minimum == is_below


def test_an_event_of_v5_at_the_same_contract_does_not_count() -> None:
    log = executed_log()
    assert outcome(replace(log, topics=(V5_TOPIC, *log.topics[1:]))) == [("event", "missing")]


def test_a_used_reference_is_flagged_until_its_event_is_found() -> None:
    decided = verdict(state=True)
    assert (decided.raised, decided.ended) == (USED, None)
    nothing = SearchFinding(None, None, agreed=False, resume_at=500)
    searched = verdict(state=True, finding=nothing)
    assert (searched.raised, searched.search_cursor) == (USED, "500")
    assert searched.obstacle == "The sweepRef is used, but the event that used it has not been found yet."


def test_an_execution_that_was_not_reported_is_decided_by_its_receipt() -> None:
    unreported = receipt(executed_log(), tx_hash=random_hash())
    decided = verdict(followed=replace(FOLLOWED, tx_hashes=()), state=True, finding=found_execution(unreported))
    assert [one.executed is not None for one in decided.transactions] == [True]
    assert decided.cleared == USED


def test_the_users_own_event_on_other_terms_ends_the_sweep() -> None:
    decided = verdict(state=True, finding=found(executed_log(token_count=1)))
    assert decided.ended == Ended(Ending.TAKEN, "tokenCount: the event has 1, the sweep 2.", TX)
    assert decided.raised == USED


def test_an_event_on_other_terms_that_only_one_provider_shows_ends_nothing() -> None:
    decided = verdict(state=True, finding=found(executed_log(fee=1), agreed=False))
    assert decided.ended is None
    assert decided.obstacle == "The providers disagree about the event that used the sweepRef."


@pytest.mark.parametrize("state", [True, None])
def test_a_deadline_that_passed_proves_nothing_unless_the_reference_is_unused(state: object) -> None:
    passed: dict[str, Any] = {"safe_timestamp": FOLLOWED.deadline + 1}
    assert verdict(state=False, **passed).ended == Ended(Ending.RAN_OUT)
    assert verdict(state=state, **passed).ended is None


@pytest.mark.parametrize("change", [{"sweep_ref": OTHER_REF}, {"user": random_checksum_address()}], ids=str)
def test_logs_that_the_search_did_not_ask_for_are_not_read(change: dict[str, Any]) -> None:
    assert TERMS.read(executed_log(**change)) is None
    assert TERMS.read(executed_log()) == Event(None, is_hint=True)


def test_the_search_asks_for_the_users_own_event() -> None:
    search = FOLLOWED.search(evm_reading(state=True).sighting)
    assert search is not None
    assert search.topics == executed_log().topics
