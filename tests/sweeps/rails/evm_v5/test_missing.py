"""What is missing before a mined transaction counts, by who shows it and what else the chain shows."""

from dataclasses import replace
from typing import Any

import pytest

from sweepapi.evm.logs.standing import Standing
from sweepapi.fees import FeeRates
from sweeps.models import SweepTransaction
from sweeps.protocol.rail import TransactionVerdict, Waiting
from sweeps.rails.evm.follow.followed import FollowedEvmSweep
from tests.sweeps.rails.evm_v5.test_deciding import FOLLOWED, TX, executed_log, receipt, verdict

BLOCK, AGREEMENT = SweepTransaction.Awaits.BLOCK, SweepTransaction.Awaits.AGREEMENT
CONTRADICTED = Waiting(AGREEMENT, is_contradicted=True)
MOST = FOLLOWED.most_on_one_word
EXECUTED, REVERTED, MISMATCHED = receipt(executed_log()), receipt(succeeded=False), receipt()
TOO_MUCH = receipt(executed_log(**vars(FeeRates(75, 4000).split(MOST + 1))))
AT_MOST = receipt(executed_log(**vars(FeeRates(75, 4000).split(MOST))))
PATIENT = replace(FOLLOWED, waited_for=frozenset({TX}))


def decided(*receipts: Any, followed: FollowedEvmSweep = FOLLOWED, **facts: Any) -> TransactionVerdict:
    (one,) = verdict(*receipts, followed=followed, **facts).transactions
    return one


@pytest.mark.parametrize("shown", [EXECUTED, REVERTED, MISMATCHED])
@pytest.mark.parametrize(
    ("standing", "waiting"),
    [
        (Standing.UNPLACED, Waiting(BLOCK)),
        (Standing.CONTRADICTED, CONTRADICTED),
        (Standing.ALONE, Waiting(AGREEMENT)),
        (Standing.AGREED, None),
        (Standing.ONLY, None),
    ],
)
def test_two_that_agree_or_the_only_one_decide(shown: Any, standing: Standing, waiting: Waiting | None) -> None:
    one = decided(shown, standing=standing)
    assert one.waiting == waiting
    concludes = (one.executed is not None, one.reverted, bool(one.mismatches))
    assert any(concludes) is (waiting is None), "nothing is concluded while something is missing"


@pytest.mark.parametrize(
    ("shown", "standing", "waiting"),
    [
        (AT_MOST, Standing.ALONE, None),
        (TOO_MUCH, Standing.ALONE, Waiting(AGREEMENT)),
        (REVERTED, Standing.ALONE, Waiting(AGREEMENT)),
        (MISMATCHED, Standing.ALONE, Waiting(AGREEMENT)),
        (EXECUTED, Standing.CONTRADICTED, CONTRADICTED),
        (EXECUTED, Standing.UNPLACED, Waiting(BLOCK)),
    ],
)
def test_after_ten_seconds_only_an_acceptance_within_the_bound_counts_on_one_word(
    shown: Any, standing: Standing, waiting: Waiting | None
) -> None:
    one = decided(shown, standing=standing, followed=PATIENT)
    assert one.waiting == waiting
    assert one.is_on_one_word is (waiting is None)


def test_what_two_show_is_not_on_one_word() -> None:
    assert not decided(EXECUTED, followed=PATIENT).is_on_one_word


@pytest.mark.parametrize(
    ("shown", "facts", "waiting"),
    [(AT_MOST, {}, None), (TOO_MUCH, {}, Waiting(BLOCK)), (TOO_MUCH, {"safe_number": 100}, None)],
)
def test_the_only_provider_is_believed_above_the_bound_once_the_block_is_safe(
    shown: Any, facts: dict[str, Any], waiting: Waiting | None
) -> None:
    assert decided(shown, standing=Standing.ONLY, **facts).waiting == waiting


def test_any_output_that_two_show_counts_at_once() -> None:
    assert decided(TOO_MUCH).executed is not None


@pytest.mark.parametrize("standing", [Standing.AGREED, Standing.ONLY, Standing.ALONE])
def test_nothing_is_accepted_while_the_nonce_is_unused(standing: Standing) -> None:
    assert decided(EXECUTED, standing=standing, states=[False], followed=PATIENT).waiting == CONTRADICTED
    assert decided(EXECUTED, standing=standing, states=[True], followed=PATIENT).executed is not None


@pytest.mark.parametrize("shown", [REVERTED, MISMATCHED])
@pytest.mark.parametrize("standing", [Standing.AGREED, Standing.ONLY])
def test_nothing_is_refused_while_something_unknown_used_the_nonce(shown: Any, standing: Standing) -> None:
    assert decided(shown, standing=standing, states=[True]).waiting == Waiting(AGREEMENT)
    assert decided(shown, standing=standing, states=[False]).waiting is None


def test_an_event_with_our_nonce_that_does_not_match_explains_its_use() -> None:
    other = receipt(executed_log(token_count=9))
    assert decided(other, states=[True]).mismatches


def test_a_revert_is_refused_while_another_known_transaction_used_the_nonce() -> None:
    other = replace(REVERTED, tx_hash="0x" + "01" * 32)
    both = replace(FOLLOWED, tx_hashes=(other.tx_hash, TX))
    first, second = verdict(other, EXECUTED, followed=both, states=[True]).transactions
    assert (first.reverted, second.executed is not None) == (True, True)
