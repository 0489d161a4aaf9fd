"""PostgreSQL enforces the rules of sweeps."""

from typing import Any

import pytest
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from sweeps.models import Execution, Offer, Sweep, SweepToken
from tests.factories.sweeps import (
    ExecutionFactory,
    OfferFactory,
    SweepFactory,
    SweepTokenFactory,
    SweepTransactionFactory,
)

pytestmark = pytest.mark.django_db

NOW = timezone.now()
AMOUNTS = {"gross_output": 100, "total_fee": 10, "partner_fee": 4, "protocol_fee": 6, "user_amount": 90}
EXECUTED = {"status": "executed", **AMOUNTS}
COMPLETED = {"status": "completed", "completed_at": NOW}
CLOSED = {"is_open": False, "closed_at": NOW, "next_check_at": None}
ACCEPTED = {"status": "accepted", "confirmed_at": NOW, "block_number": 1, "block_hash": "0x" + "ab" * 32}
WITH_EVENT = {"last_event": 2}  # required for a change of status


def refused(constraint: str, row: models.Model, **changes: Any) -> None:
    """Change a row without the models and see the constraint refuse it."""
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        type(row)._default_manager.filter(pk=row.pk).update(**changes)  # noqa: SLF001 the documented way to a manager


# --- sweeps -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        ("sweep_completed_has_its_time", COMPLETED | {"completed_at": None}),
        ("sweep_completed_has_its_time", {"completed_at": NOW}),
        ("sweep_status_known", {"status": "done"}),
        ("sweep_closed_is_not_due", {"is_open": False}),
        ("sweep_closed_is_not_due", {"next_check_at": None}),
        ("sweep_closed_is_not_due", {"closed_at": NOW}),
        ("sweep_closed_is_not_due", {"status": "failed"} | CLOSED | {"next_check_at": NOW}),
        ("sweep_expired_is_closed", {"status": "expired"}),
        ("sweep_pending_is_open", CLOSED),
        ("sweep_void_has_time_and_reason", {"status": "void", "void_reason": "why"}),
        ("sweep_void_has_time_and_reason", {"status": "void", "voided_at": NOW}),
        ("sweep_lease_is_whole", {"lease_until": NOW}),
        ("sweep_lease_is_whole", {"lease_token": "00000000-0000-7000-8000-000000000000"}),
        ("sweep_bps_in_range", {"slippage_bps": 0}),
        ("sweep_bps_in_range", {"slippage_bps": 5001}),
        ("sweep_bps_in_range", {"total_fee_bps": 10_001}),
        ("sweep_bps_in_range", {"partner_share_bps": 10_001}),
        ("sweep_recipient_if_settled_on_chain", {"settlement": "later"}),
        ("sweep_recipient_if_settled_on_chain", {"settlement": "payable"}),
        ("sweep_recipient_if_settled_on_chain", {"partner_recipient": None}),
    ],
    ids=str,
)
def test_a_sweep_that_contradicts_itself_is_refused(constraint: str, changes: dict[str, Any]) -> None:
    refused(constraint, SweepFactory.create(), **(WITH_EVENT | changes))


@pytest.mark.parametrize(
    "changes",
    [
        COMPLETED,
        COMPLETED | CLOSED,
        {"status": "expired"} | CLOSED,
        {"status": "failed"},
        {"status": "failed"} | CLOSED,
        {"status": "void", "voided_at": NOW, "void_reason": "why"},
        {"settlement": "payable", "partner_recipient": None},
    ],
    ids=str,
)
def test_every_valid_state_can_be_stored(changes: dict[str, Any]) -> None:
    sweep = SweepFactory.create()
    assert Sweep.objects.filter(pk=sweep.pk).update(**WITH_EVENT, **changes) == 1


def test_a_sweep_with_a_history_can_not_be_deleted() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(models.ProtectedError):
        tx.sweep.delete()


# --- executions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        *[("execution_has_amounts_if_executed", EXECUTED | {missing: None}) for missing in AMOUNTS],
        *[("execution_has_amounts_if_executed", {extra: 0}) for extra in AMOUNTS],
        ("execution_split_adds_up", EXECUTED | {"user_amount": 91}),
        ("execution_split_adds_up", EXECUTED | {"total_fee": 9}),
        ("execution_status_known", {"status": "done"}),
        ("execution_pending_is_open", {"closed_at": NOW}),
        ("execution_has_a_cancellation_if_cancelled", {"status": "cancelled", "closed_at": NOW}),
        ("execution_has_a_cancellation_if_cancelled", {"cancellation_tx_hash": "0x" + "ca" * 32}),
    ],
    ids=str,
)
def test_an_execution_that_contradicts_itself_is_refused(constraint: str, changes: dict[str, Any]) -> None:
    refused(constraint, SweepFactory.create().executions.get(), **changes)


@pytest.mark.parametrize(
    "ended",
    [{"status": "failed"}, {"status": "expired"}, {"status": "cancelled", "cancellation_tx_hash": "0x" + "ca" * 32}],
    ids=str,
)
def test_an_execution_can_end_without_amounts(ended: dict[str, Any]) -> None:
    sweep = SweepFactory.create()
    assert Execution.objects.filter(sweep=sweep).update(**ended, closed_at=NOW) == 1


def test_an_execution_is_identified_by_network_venue_and_id() -> None:
    first = SweepFactory.create().executions.get()
    with pytest.raises(IntegrityError, match="execution_identity_on_chain"), transaction.atomic():
        SweepFactory.create(execution__execution_id=first.execution_id)
    SweepFactory.create(execution__execution_id=first.execution_id, network="eip155:8453")


def test_a_position_among_the_executions_of_a_sweep_occurs_once() -> None:
    sweep = SweepFactory.create()
    with pytest.raises(IntegrityError, match="execution_position"), transaction.atomic():
        ExecutionFactory.create(sweep=sweep, token=None)
    ExecutionFactory.create(sweep=sweep, token=None, position=1)


# --- tokens and offers ------------------------------------------------------------------------------------------------


def test_a_token_of_zero_is_refused() -> None:
    token = SweepToken.objects.get(sweep=SweepFactory.create())
    refused("sweep_token_amount_positive", token, amount=0)


def test_a_token_and_a_position_occur_once_per_sweep() -> None:
    token = SweepFactory.create().tokens.get()
    with pytest.raises(IntegrityError, match="sweep_token_once"), transaction.atomic():
        SweepTokenFactory.create(sweep=token.sweep, asset=token.asset, position=1)
    with pytest.raises(IntegrityError, match="sweep_token_position"), transaction.atomic():
        SweepTokenFactory.create(sweep=token.sweep, position=0)


def test_a_sequence_occurs_once_among_the_offers_of_a_sweep() -> None:
    sweep = SweepFactory.create()
    with pytest.raises(IntegrityError, match="offer_sequence"), transaction.atomic():
        OfferFactory.create(sweep=sweep)
    OfferFactory.create(sweep=sweep, sequence=2)


def test_an_offer_is_never_changed_or_removed() -> None:
    offer = Offer.objects.get(sweep=SweepFactory.create())
    refused("append-only: no update", offer, expected_gross=1)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        offer.delete()


# --- candidates -------------------------------------------------------------------------------------------------------


def test_at_most_one_transaction_per_execution_is_accepted() -> None:
    first = SweepTransactionFactory.create(**ACCEPTED)
    second = SweepTransactionFactory.create(sweep=first.sweep)
    refused("candidate_accepted_once_an_execution", second, **ACCEPTED)
    other = ExecutionFactory.create(sweep=first.sweep, token=None, position=1)
    SweepTransactionFactory.create(sweep=first.sweep, execution=other, **ACCEPTED)


def test_a_hash_is_a_candidate_once_per_execution_and_may_be_one_of_several() -> None:
    tx = SweepTransactionFactory.create()
    SweepTransactionFactory.create(tx_hash=tx.tx_hash)
    other = ExecutionFactory.create(sweep=tx.sweep, token=None, position=1)
    SweepTransactionFactory.create(sweep=tx.sweep, execution=other, tx_hash=tx.tx_hash)
    with pytest.raises(IntegrityError, match="candidate_once_an_execution"), transaction.atomic():
        SweepTransactionFactory.create(sweep=tx.sweep, execution=tx.execution, tx_hash=tx.tx_hash)


@pytest.mark.parametrize("missing", [{"confirmed_at": None}, {"block_number": None}, {"block_hash": ""}], ids=str)
def test_an_accepted_transaction_lies_in_a_block(missing: dict[str, Any]) -> None:
    refused("candidate_accepted_is_in_a_block", SweepTransactionFactory.create(), **(ACCEPTED | missing))


@pytest.mark.parametrize("changes", [{"status": "mined"}, {"finality": "deep"}], ids=str)
def test_a_transaction_has_a_known_status_and_finality(changes: dict[str, str]) -> None:
    refused("candidate_status_known", SweepTransactionFactory.create(), **changes)


def test_only_an_accepted_transaction_is_confirmed() -> None:
    refused("candidate_accepted_is_in_a_block", SweepTransactionFactory.create(), confirmed_at=NOW)
