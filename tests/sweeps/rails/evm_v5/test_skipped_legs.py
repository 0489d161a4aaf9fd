"""What a V5 sweep left out is read from the logs in front of its event, and must agree with what was signed."""

from dataclasses import replace
from typing import Any

import pytest
from eth_abi.abi import encode

from sweepapi.evm.contracts.batch import SKIPPED_TOPIC, SkipReason
from sweepapi.evm.contracts.v5 import EXECUTED_TOPIC
from sweepapi.evm.encoding.responses import Log
from sweeps.models import SkippedToken, SweepTransaction
from sweeps.protocol.rail import Depth, Executed, ExecutionVerdict, Skipped
from sweeps.rails.evm.follow.deciding import decide
from sweeps.rails.evm.follow.followed import EvmAcceptance
from tests.factories.followed import FOLLOWED as OF_ONE
from tests.factories.followed import TERMS as OF_ONE_TOKEN
from tests.factories.ledger import random_hash
from tests.factories.sweeps import CONTRACT, block_at, evm_reading, random_checksum_address, receipt_of

TX = random_hash()
TOKENS = tuple(random_checksum_address() for _ in range(4))
TERMS = replace(OF_ONE_TOKEN, tokens=TOKENS, floors=(101, 200, 300, 400), max_skipped=3)
FOLLOWED = replace(OF_ONE, terms=TERMS, tx_hashes=(TX,))
Reason = SkippedToken.Reason


def executed_log(gross_output: int = 2_000, *, nonce: int = TERMS.nonce) -> Log:
    """Return the event of an execution that matches the terms."""
    paid = TERMS.fees.split(gross_output)
    data = [
        TERMS.fees.partner_recipient,
        TERMS.fees.protocol_recipient,
        TERMS.output_token,
        len(TOKENS),
        *vars(paid).values(),
    ]
    topics = (EXECUTED_TOPIC, f"0x{nonce:064x}", f"0x{TERMS.user[2:].lower():0>64}", TERMS.partner_id)
    return Log(CONTRACT, topics, encode([*["address"] * 3, *["uint256"] * 6], data))


def skipped_log(
    leg: int,
    reason: int = SkipReason.BELOW_LEAST,
    *,
    nonce: int = TERMS.nonce,
    token: str = "",
    emitter: str = CONTRACT,
) -> Log:
    """Return the event of a leg that was left out."""
    data = encode(["uint256", "address", "uint8"], [leg, token or TOKENS[leg], reason])
    return Log(emitter, (SKIPPED_TOPIC, f"0x{nonce:064x}"), data)


def verdict(*logs: Log, **facts: Any) -> ExecutionVerdict:
    """Compare a look with a successful receipt of these logs."""
    receipt = receipt_of(SweepTransaction(tx_hash=TX), *logs)
    return decide(FOLLOWED, evm_reading(receipt, **facts)).executions[FOLLOWED.execution_id]


def executed(*logs: Log) -> Executed | None:
    (decided,) = verdict(*logs).transactions
    return decided.executed


def mismatches(*logs: Log) -> list[tuple[str, str]]:
    (decided,) = verdict(*logs).transactions
    assert decided.executed is None
    return [(mismatch.field, mismatch.code) for mismatch in decided.mismatches]


def left_out(*logs: Log) -> list[tuple[int, str]]:
    """Return position and reason of each token that an execution left out."""
    outcome = executed(*logs)
    assert outcome is not None
    return [(one.position, one.reason) for one in outcome.skipped]


def test_an_execution_without_such_events_swept_every_token() -> None:
    assert left_out(executed_log()) == []


def test_what_was_left_out_is_in_the_order_of_the_tokens_with_its_reason() -> None:
    logs = [skipped_log(3, SkipReason.NOT_FILLED), skipped_log(0, SkipReason.DROPPED), skipped_log(2)]
    assert left_out(*logs, executed_log()) == [(0, Reason.DROPPED), (2, Reason.BELOW_LEAST), (3, Reason.NOT_FILLED)]


def test_only_the_floors_of_the_tokens_that_ran_have_to_be_reached() -> None:
    assert TERMS.fees.split(605).user_amount == sum(TERMS.floors[:3])
    assert left_out(skipped_log(3), executed_log(605)) == [(3, Reason.BELOW_LEAST)]
    assert mismatches(skipped_log(3), executed_log(604)) == [("userAmount", "inconsistent")]


def test_less_than_all_floors_is_inconsistent_if_nothing_was_left_out() -> None:
    assert mismatches(executed_log(605)) == [("userAmount", "inconsistent")]
    assert verdict(executed_log(605)).raised == {"inconsistent_amounts"}


@pytest.mark.parametrize(
    "logs",
    [
        [skipped_log(4, token=TOKENS[0])],
        [skipped_log(2**256 - 1, token=TOKENS[0])],
        [skipped_log(1, token=TOKENS[2])],
        [skipped_log(1, nonce=TERMS.nonce + 1)],
        [skipped_log(1), skipped_log(1, SkipReason.DROPPED)],
        [skipped_log(leg) for leg in range(4)],
    ],
    ids=["no such leg", "the largest leg", "another token", "another nonce", "twice", "more than allowed"],
)
def test_events_that_contradict_what_was_signed_are_inconsistent(logs: list[Log]) -> None:
    assert mismatches(*logs, executed_log()) == [("skipped", "inconsistent")]
    assert verdict(*logs, executed_log()).raised == {"inconsistent_amounts"}


def test_events_of_another_contract_or_in_other_bytes_do_not_count() -> None:
    of_another = skipped_log(1, emitter=random_checksum_address())
    cut = replace(skipped_log(1), data=skipped_log(1).data[:-1])
    assert left_out(of_another, skipped_log(1, 3), cut, executed_log()) == []


def test_each_sweep_of_one_transaction_has_the_events_in_front_of_its_own() -> None:
    theirs = [skipped_log(0, nonce=7), executed_log(nonce=7)]
    after = [skipped_log(2, nonce=8), executed_log(nonce=8)]
    assert left_out(*theirs, skipped_log(1), executed_log(), *after) == [(1, Reason.BELOW_LEAST)]


def test_a_final_receipt_that_left_out_something_else_undoes_the_acceptance() -> None:
    paid = TERMS.fees.split(2_000)
    accepted = EvmAcceptance(TX, 100, block_at(100).hash, paid, (Skipped(1, Reason.BELOW_LEAST),))
    depths = {}
    for name, logs in {"the same": [skipped_log(1)], "another": [skipped_log(2)], "nothing": []}.items():
        receipt = receipt_of(SweepTransaction(tx_hash=TX), *logs, executed_log())
        look = evm_reading(receipt, canonical=block_at(100), final_number=100)
        depths[name] = decide(replace(FOLLOWED, accepted=accepted), look).executions[FOLLOWED.execution_id].accepted
    assert depths == {"the same": Depth.FINAL, "another": Depth.GONE, "nothing": Depth.GONE}
