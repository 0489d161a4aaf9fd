"""Settles readings, and reads the results from the database."""

from ledger.entries.reading import postings_of
from sweeps.models import Execution, Sweep, SweepTransaction
from sweeps.rails.evm.follow.following import EvmReading
from tests.factories.sweeps import evm_reading, executed_receipt, found_cancellation
from tests.settling import settle

CANCELLER = "0x" + "cA" * 20
# The postings for a gross output of a million units: kind, account and amount.
BOOKED = [
    ("sweep_fee", "fees_charged", 7_500),
    ("sweep_fee", "partner_settled", -3_000),
    ("sweep_fee", "protocol_revenue", -4_500),
]
REVERSED = [("reversal", account, -amount) for _, account, amount in BOOKED]


def apply(sweep: Sweep, look: EvmReading) -> Sweep:
    """Settle a reading and return the sweep as stored."""
    settle(sweep_id=sweep.id, reading=look)
    return Sweep.objects.get(id=sweep.id)


def complete(tx: SweepTransaction) -> Sweep:
    """Settle the execution of a sweep in block 100."""
    return apply(tx.sweep, evm_reading(executed_receipt(tx)))


def cancelled(*, agreed: bool = True) -> EvmReading:
    """Return a check that found the cancellation of the nonce."""
    return evm_reading(state=True, finding=found_cancellation(CANCELLER, agreed=agreed))


def statuses(sweep: Sweep) -> list[str]:
    """Return the status of every candidate."""
    return [tx.status for tx in sweep.transactions.all()]


def fees_booked(sweep: Sweep) -> list[tuple[str, str, int]]:
    """Return kind, account and amount of every posting about a sweep."""
    return [(p.entry.kind, p.account.name, p.amount) for p in postings_of(sweep.id)]


def execution_of(sweep: Sweep) -> Execution:
    return Execution.objects.get(sweep=sweep)
