"""Whether a receipt carries out an authorization, field by field."""

from typing import Any

import pytest
from sweeps.matching import Mismatch, judge

from sweepapi.evm.responses import Log
from sweepapi.evm.v5 import EXECUTED_TOPIC
from sweeps.models import FeeAuthorization, SweepTransaction
from tests.factories.sweeps import (
    SweepTransactionFactory,
    executed_log,
    executed_receipt,
    random_checksum_address,
    receipt_of,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def tx() -> SweepTransaction:
    return SweepTransactionFactory.create()


@pytest.fixture
def authorization(tx: SweepTransaction) -> FeeAuthorization:
    return tx.sweep.authorization


def mismatches(tx: SweepTransaction, *logs: Log) -> list[tuple[str, str]]:
    verdict = judge(receipt_of(tx, *logs), tx.sweep.authorization)
    assert (verdict.executed, verdict.reverted) == (None, False)
    return [(mismatch.field, mismatch.code) for mismatch in verdict.mismatches]


def test_the_event_that_was_signed_for_is_an_execution(tx: SweepTransaction, authorization: FeeAuthorization) -> None:
    executed = judge(executed_receipt(tx), authorization).executed
    assert executed is not None
    assert (executed.nonce, executed.gross_output, executed.total_fee) == (authorization.nonce, 1_000_000, 7_500)
    assert (executed.partner_fee, executed.protocol_fee, executed.user_amount) == (3_000, 4_500, 992_500)


def test_a_reverted_transaction_is_a_revert_whatever_it_logged(tx: SweepTransaction) -> None:
    authorization = tx.sweep.authorization
    verdict = judge(receipt_of(tx, executed_log(authorization), succeeded=False), authorization)
    assert (verdict.reverted, verdict.executed) == (True, None)


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
)
def test_an_event_that_differs_in_one_field_does_not_match(
    tx: SweepTransaction, change: dict[str, Any], field: str
) -> None:
    assert mismatches(tx, executed_log(tx.sweep.authorization, **change)) == [(field, "differs")]


@pytest.mark.parametrize("name", ["total_fee", "partner_fee", "protocol_fee", "user_amount"])
@pytest.mark.parametrize("shift", [-1, 1])
def test_amounts_that_are_one_unit_off_the_signed_bps_do_not_match(tx: SweepTransaction, name: str, shift: int) -> None:
    due = {"total_fee": 7_500, "partner_fee": 3_000, "protocol_fee": 4_500, "user_amount": 992_500}
    log = executed_log(tx.sweep.authorization, **{name: due[name] + shift})
    assert mismatches(tx, log) == [("amounts", "inconsistent")]


def test_everything_that_differs_is_named(tx: SweepTransaction) -> None:
    log = executed_log(tx.sweep.authorization, token_count=3, user=random_checksum_address(), total_fee=1)
    assert mismatches(tx, log) == [("user", "differs"), ("tokenCount", "differs"), ("amounts", "inconsistent")]


def test_an_event_of_another_nonce_is_of_another_authorization(tx: SweepTransaction) -> None:
    other = tx.sweep.authorization.nonce + 1
    assert mismatches(tx, executed_log(tx.sweep.authorization, nonce=other)) == [("nonce", "differs")]


def test_a_perfect_event_of_another_emitter_is_no_event(tx: SweepTransaction) -> None:
    log = executed_log(tx.sweep.authorization, emitter=random_checksum_address())
    assert mismatches(tx, log) == [("event", "missing")]


def test_a_receipt_without_logs_misses_the_event(tx: SweepTransaction) -> None:
    assert mismatches(tx) == [("event", "missing")]


def test_another_topic_or_other_bytes_are_no_event(tx: SweepTransaction) -> None:
    good = executed_log(tx.sweep.authorization)
    wrong_topic = Log(good.address, ("0x" + "12" * 32, *good.topics[1:]), good.data)
    too_few_topics = Log(good.address, good.topics[:3], good.data)
    cut = Log(good.address, good.topics, good.data[:-1])
    dirty = Log(good.address, good.topics, b"\x01" + good.data[1:])
    assert mismatches(tx, wrong_topic, too_few_topics, cut, dirty) == [("event", "missing")]
    assert good.topics[0] == EXECUTED_TOPIC


def test_all_logs_count_because_a_bundler_carries_several_sweeps(tx: SweepTransaction) -> None:
    ours, theirs = tx.sweep.authorization, SweepTransactionFactory.create().sweep.authorization
    receipt = receipt_of(tx, Log(random_checksum_address(), (), b""), executed_log(theirs), executed_log(ours))
    for authorization in (ours, theirs):
        executed = judge(receipt, authorization).executed
        assert executed is not None
        assert executed.nonce == authorization.nonce


def test_a_decoy_of_another_emitter_hides_no_execution(tx: SweepTransaction) -> None:
    authorization = tx.sweep.authorization
    decoy = executed_log(authorization, emitter=random_checksum_address(), user_amount=0)
    assert judge(receipt_of(tx, decoy, executed_log(authorization)), authorization).executed is not None


def test_a_mismatch_says_what_was_seen_and_what_was_signed(tx: SweepTransaction) -> None:
    verdict = judge(executed_receipt(tx, token_count=9), tx.sweep.authorization)
    assert verdict.mismatches == [
        Mismatch("tokenCount", "differs", "The event says 9, the authorization 1."),
    ]
