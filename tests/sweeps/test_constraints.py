"""What must hold about sweeps is held by PostgreSQL, whoever writes."""

from typing import Any

import pytest
from django.db import IntegrityError, models, transaction
from django.utils import timezone

from sweeps.models import AuthorizationNonces, FeeAuthorization, PermitNonces, Sweep, SweepToken, SweepTransaction
from tests.factories.sweeps import CONTRACT, SweepFactory, SweepTokenFactory, SweepTransactionFactory

pytestmark = pytest.mark.django_db

NOW = timezone.now()
FEES = {"gross_output": 100, "total_fee": 10, "partner_fee": 4, "protocol_fee": 6, "user_amount": 90}
COMPLETED = {"status": "completed", "completed_at": NOW, **FEES}
CLOSED = {"is_open": False, "closed_at": NOW, "next_check_at": None}


def refused(constraint: str, model: type[models.Model], row: models.Model, **changes: Any) -> None:
    """Change a row behind the models' back and see the constraint refuse it."""
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        model._default_manager.filter(pk=row.pk).update(**changes)  # noqa: SLF001 the documented way to a manager


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        *[("sweep_completed_has_its_facts", COMPLETED | {missing: None}) for missing in [*FEES, "completed_at"]],
        *[("sweep_completed_has_its_facts", {extra: 0}) for extra in FEES],
        ("sweep_completed_has_its_facts", {"completed_at": NOW}),
        ("sweep_status_known", {"status": "done"}),
        ("sweep_split_adds_up", COMPLETED | {"user_amount": 91}),
        ("sweep_split_adds_up", COMPLETED | {"total_fee": 9}),
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
        ("sweep_slippage_in_range", {"slippage_bps": 0}),
        ("sweep_slippage_in_range", {"slippage_bps": 5001}),
        ("sweep_minimum_below_expectation", {"min_gross": 1_000_001}),
    ],
)
def test_a_sweep_that_contradicts_itself_is_refused(constraint: str, changes: dict[str, Any]) -> None:
    refused(constraint, Sweep, SweepFactory.create(), **changes)


@pytest.mark.parametrize(
    "changes",
    [
        COMPLETED,
        COMPLETED | CLOSED,
        {"status": "expired"} | CLOSED,
        {"status": "failed"},
        {"status": "failed"} | CLOSED,
        {"status": "void", "voided_at": NOW, "void_reason": "why"},
    ],
)
def test_every_state_there_is_can_be_stored(changes: dict[str, Any]) -> None:
    sweep = SweepFactory.create()
    assert Sweep.objects.filter(pk=sweep.pk).update(**changes) == 1


@pytest.mark.parametrize(
    ("constraint", "changes"),
    [
        ("sweep_token_amount_positive", {"amount": 0}),
        ("sweep_token_minimum_positive", {"min_output": 0}),
        ("sweep_token_funding_known", {"funding": 3}),
    ],
)
def test_a_token_that_makes_no_sense_is_refused(constraint: str, changes: dict[str, Any]) -> None:
    refused(constraint, SweepToken, SweepTokenFactory.create(), **changes)


def test_a_token_and_a_position_occur_once_a_sweep() -> None:
    token = SweepTokenFactory.create(position=0)
    with pytest.raises(IntegrityError, match="sweep_token_once"), transaction.atomic():
        SweepTokenFactory.create(sweep=token.sweep, mint=token.mint, position=1)
    with pytest.raises(IntegrityError, match="sweep_token_position"), transaction.atomic():
        SweepTokenFactory.create(sweep=token.sweep, position=0)


def test_an_authorization_is_identified_by_chain_contract_and_nonce() -> None:
    first = SweepFactory.create().authorization
    with pytest.raises(IntegrityError, match="authorization_identity_on_chain"), transaction.atomic():
        SweepFactory.create(authorization__nonce=first.nonce)
    SweepFactory.create(authorization__nonce=first.nonce, chain_id=first.chain_id + 1)


@pytest.mark.parametrize("bps", [{"total_fee_bps": 301}, {"partner_share_bps": 10_001}])
def test_fees_above_the_contracts_cap_or_the_whole_are_refused(bps: dict[str, int]) -> None:
    with pytest.raises(IntegrityError, match="authorization_bps_in_range"), transaction.atomic():
        SweepFactory.create(**{f"authorization__{name}": value for name, value in bps.items()})


def test_what_was_signed_is_never_changed_or_removed() -> None:
    authorization = SweepFactory.create().authorization
    refused("append-only: no update", FeeAuthorization, authorization, deadline_seconds=1)
    with pytest.raises(IntegrityError, match="append-only: no delete"), transaction.atomic():
        authorization.delete()


def accepted_facts() -> dict[str, Any]:
    return {"status": "accepted", "confirmed_at": NOW, "block_number": 1, "block_hash": "0x" + "ab" * 32}


def test_one_transaction_at_most_is_accepted_a_sweep() -> None:
    first = SweepTransactionFactory.create(**accepted_facts())
    second = SweepTransactionFactory.create(sweep=first.sweep)
    refused("candidate_accepted_once_a_sweep", SweepTransaction, second, **accepted_facts())


def test_a_hash_is_a_candidate_once_a_sweep_and_may_be_one_of_several_sweeps() -> None:
    tx = SweepTransactionFactory.create()
    SweepTransactionFactory.create(tx_hash=tx.tx_hash)
    with pytest.raises(IntegrityError, match="candidate_once_a_sweep"), transaction.atomic():
        SweepTransactionFactory.create(sweep=tx.sweep, tx_hash=tx.tx_hash)


@pytest.mark.parametrize("missing", ["confirmed_at", "block_number", "block_hash"])
def test_an_accepted_transaction_lies_in_a_block(missing: str) -> None:
    tx = SweepTransactionFactory.create()
    refused("candidate_accepted_is_in_a_block", SweepTransaction, tx, **(accepted_facts() | {missing: None}))


@pytest.mark.parametrize("changes", [{"status": "mined"}, {"finality": "deep"}])
def test_a_transaction_has_a_known_status_and_finality(changes: dict[str, str]) -> None:
    refused("candidate_status_known", SweepTransaction, SweepTransactionFactory.create(), **changes)


def test_only_an_accepted_transaction_is_confirmed() -> None:
    refused("candidate_accepted_is_in_a_block", SweepTransaction, SweepTransactionFactory.create(), confirmed_at=NOW)


def test_counters_of_nonces_exist_once() -> None:
    AuthorizationNonces.objects.create(chain_id=1, contract=CONTRACT)
    with pytest.raises(IntegrityError, match="authorization_nonces_of_contract"), transaction.atomic():
        AuthorizationNonces.objects.create(chain_id=1, contract=CONTRACT)
    PermitNonces.objects.create(chain_id=1, wallet=CONTRACT)
    with pytest.raises(IntegrityError, match="permit_nonces_of_wallet"), transaction.atomic():
        PermitNonces.objects.create(chain_id=1, wallet=CONTRACT)


def test_a_sweep_with_a_history_can_not_be_deleted() -> None:
    tx = SweepTransactionFactory.create()
    with pytest.raises(models.ProtectedError):
        tx.sweep.delete()
