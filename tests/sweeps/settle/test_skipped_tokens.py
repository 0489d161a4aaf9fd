"""What an execution left out is stored with it, told in the history, and shown for each token."""

import pytest
from django.db import IntegrityError, transaction

from sweepapi.evm.contracts.batch import SkipReason
from sweepapi.evm.encoding.responses import Receipt
from sweeps.models import SkippedToken, Sweep, SweepTransaction
from sweeps.shown import timeline
from tests import snapshots
from tests.factories.sweeps import (
    PermitFactory,
    SweepFactory,
    SweepTokenFactory,
    SweepTransactionFactory,
    block_at,
    evm_reading,
    executed_log,
    receipt_of,
    skipped_log,
)
from tests.sweeps.settle.readings import apply

pytestmark = pytest.mark.django_db


@pytest.fixture
def tx() -> SweepTransaction:
    """A candidate of a sweep of three tokens, of which two may be left out."""
    sweep = SweepFactory.create(permit=None)
    PermitFactory.create(sweep=sweep, floors=[300_000] * 3, max_skipped=2)
    SweepTokenFactory.create(sweep=sweep, position=1, symbol="LINK")
    SweepTokenFactory.create(sweep=sweep, position=2, symbol="UNI")
    return SweepTransactionFactory.create(sweep=sweep)


def receipt(tx: SweepTransaction, **skipped: SkipReason) -> Receipt:
    """Return the receipt of an execution that left out the tokens with these symbols."""
    positions = {token.symbol: token.position for token in tx.sweep.tokens.all()}
    logs = [skipped_log(tx.sweep, positions[symbol], reason) for symbol, reason in skipped.items()]
    return receipt_of(tx, *logs, executed_log(tx.sweep))


def shown(sweep: Sweep) -> dict[str, tuple[str | None, str | None]]:
    """Return outcome and reason of each token by its symbol."""
    tokens = snapshots.shown(sweep)["tokens"]
    return {token["symbol"]: (token["outcome"], token["skipReason"]) for token in tokens}


def test_before_an_execution_no_token_has_an_outcome(tx: SweepTransaction) -> None:
    assert shown(tx.sweep) == dict.fromkeys(("USDC", "LINK", "UNI"), (None, None))


def test_each_token_was_swept_skipped_for_a_reason_or_dropped(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(receipt(tx, LINK=SkipReason.NOT_FILLED, UNI=SkipReason.DROPPED)))
    assert (sweep.status, sweep.flags) == ("completed", [])
    assert shown(sweep) == {"USDC": ("swept", None), "LINK": ("skipped", "not_filled"), "UNI": ("dropped", None)}
    assert snapshots.shown(sweep)["skippedCount"] == 2


def test_the_history_says_which_token_was_left_out_and_why(tx: SweepTransaction) -> None:
    sweep = apply(tx.sweep, evm_reading(receipt(tx, LINK=SkipReason.BELOW_LEAST)))
    kinds = [event.kind for event in sweep.events.all()]
    assert kinds == ["transaction_accepted", "token_skipped", "entry_posted", "status"]
    event = sweep.events.get(kind="token_skipped")
    link = sweep.tokens.get(symbol="LINK").asset
    assert event.tx_hash == tx.tx_hash
    assert timeline.sentence(event) == (
        f"The token {link} was left out, because its pool would have paid less than the minimum."
    )


def test_an_execution_that_left_the_chain_left_nothing_out_and_the_next_one_decides(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt(tx, LINK=SkipReason.BELOW_LEAST)))
    sweep = apply(tx.sweep, evm_reading(head_number=101, canonical=block_at(100, fork=1)))
    assert (sweep.status, snapshots.shown(sweep)["skippedCount"]) == ("pending", 0)
    assert shown(sweep)["LINK"] == (None, None)
    sweep = apply(tx.sweep, evm_reading(receipt(tx, UNI=SkipReason.BELOW_LEAST)))
    assert shown(sweep) == {"USDC": ("swept", None), "LINK": ("swept", None), "UNI": ("skipped", "below_least")}
    assert SkippedToken.objects.count() == 2, "what was stored before is kept"


def test_the_final_check_compares_what_was_left_out(tx: SweepTransaction) -> None:
    first = receipt(tx, LINK=SkipReason.BELOW_LEAST)
    apply(tx.sweep, evm_reading(first))
    other = evm_reading(
        receipt(tx, UNI=SkipReason.BELOW_LEAST), head_number=200, canonical=block_at(100), final_number=100
    )
    sweep = apply(tx.sweep, other)
    assert (sweep.status, sweep.last_error) == (
        "pending",
        "The final block does not show the execution that was accepted.",
    )
    apply(tx.sweep, evm_reading(first))
    final = evm_reading(first, head_number=200, canonical=block_at(100), final_number=100)
    assert not apply(tx.sweep, final).is_open


def test_what_was_left_out_is_never_changed_or_removed(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt(tx, LINK=SkipReason.BELOW_LEAST)))
    stored = SkippedToken.objects.get()
    with pytest.raises(IntegrityError, match="append-only: no update"), transaction.atomic():
        SkippedToken.objects.update(reason="dropped")
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        stored.delete()


def test_a_token_is_left_out_once_and_for_a_known_reason(tx: SweepTransaction) -> None:
    apply(tx.sweep, evm_reading(receipt(tx, LINK=SkipReason.BELOW_LEAST)))
    stored = SkippedToken.objects.get()
    facts = {"execution": stored.execution, "booking_epoch": 0, "token": stored.token}
    with pytest.raises(IntegrityError, match="skipped_once_a_booking"), transaction.atomic():
        SkippedToken.objects.create(**facts, reason="dropped")
    with pytest.raises(IntegrityError, match="skipped_reason_known"), transaction.atomic():
        SkippedToken.objects.create(**facts | {"booking_epoch": 1}, reason="tired")
