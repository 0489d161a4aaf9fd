"""Each change of a status leaves one line in the log, when it is committed and not before."""

import pytest
from django.db import transaction
from structlog.testing import capture_logs

from sweeps.story.withdrawal import void
from tests.factories.sweeps import SweepFactory, SweepTransactionFactory, evm_reading, executed_receipt
from tests.settling import settle

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_change_of_status_is_logged_when_it_is_committed() -> None:
    tx = SweepTransactionFactory.create()
    look = evm_reading(executed_receipt(tx))
    with capture_logs() as entries:
        with transaction.atomic():
            settle(sweep_id=tx.sweep.id, reading=look)
            assert entries == []
        settle(sweep_id=tx.sweep.id, reading=look)  # which changes nothing more
    assert entries == [
        {
            "event": "sweep_status_changed",
            "log_level": "info",
            "sweep_id": str(tx.sweep.id),
            "from_status": "pending",
            "to_status": "completed",
            "cause": "executed",
            "tx_hash": tx.tx_hash,
        }
    ]


def test_a_change_that_is_rolled_back_is_not_logged() -> None:
    sweep = SweepFactory.create()
    with capture_logs() as entries, transaction.atomic():
        void(sweep_id=sweep.id, reason="why", requested_by="alice")
        transaction.set_rollback(True)
    assert entries == []


def test_the_reason_of_a_void_is_not_logged() -> None:
    sweep = SweepFactory.create()
    with capture_logs() as entries:
        void(sweep_id=sweep.id, reason="what an operator typed", requested_by="alice")
    assert [(entry["to_status"], entry["cause"]) for entry in entries] == [("void", "voided")]
    assert "operator" not in str(entries)
