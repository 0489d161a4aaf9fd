"""A rail whose readings are verdicts already, so that tests decide what was read of every execution."""

from datetime import datetime, timedelta
from typing import Any

from sweepapi.fees import FeeRates, Split
from sweeps.models import Sweep
from sweeps.protocol.rail import (
    Depth,
    Ended,
    Ending,
    Executed,
    ExecutionVerdict,
    Inclusion,
    SweepProgress,
    TransactionVerdict,
    Verdict,
)
from sweeps.rails.evm_v5.rail import EvmV5
from tests.factories.ledger import random_hash
from tests.settling import settle

SOON, LATE = timedelta(minutes=1), timedelta(hours=1)
PAID = FeeRates(75, 4000).split(1_000_000)
NOTHING_NEW = ExecutionVerdict()
RAN_OUT = ExecutionVerdict(ended=Ended(Ending.RAN_OUT))
CANCELLED = ExecutionVerdict(ended=Ended(Ending.CANCELLED, "cancelled on chain", "0x" + "ca" * 32))
GONE = ExecutionVerdict(accepted=Depth.GONE)
FINAL = ExecutionVerdict(accepted=Depth.FINAL)


class DecidedRail(EvmV5):
    """A rail for any number of executions, whose readings are verdicts already."""

    name = "decided"

    def follow(self, sweeps: Any) -> list[Any]:
        return list(sweeps)

    @staticmethod
    def decide(_followed: Any, reading: Any) -> Verdict:
        verdict: Verdict = reading
        return verdict

    @staticmethod
    def next_check(progress: SweepProgress, _verdict: Verdict) -> datetime:
        return progress.now + (SOON if progress.is_executed else LATE)


def executed(paid: Split = PAID, **facts: Any) -> ExecutionVerdict:
    """Return the verdict that a transaction which was not reported executed it."""
    inclusion = Inclusion(100, "0x" + "ab" * 32, 1)
    transaction = TransactionVerdict(random_hash(), inclusion, executed=Executed(paid, **facts))
    return ExecutionVerdict(100, [transaction])


def reverted(tx_hash: str | None = None) -> ExecutionVerdict:
    inclusion = Inclusion(100, "0x" + "ab" * 32, 1)
    return ExecutionVerdict(100, [TransactionVerdict(tx_hash or random_hash(), inclusion, reverted=True)])


def apply(sweep: Sweep, *verdicts: ExecutionVerdict) -> Sweep:
    """Settle these verdicts about the executions, in their order, and return the stored sweep."""
    by_id = {execution.id: verdict for execution, verdict in zip(sweep.executions.all(), verdicts, strict=True)}
    settle(sweep_id=sweep.id, reading=Verdict(by_id))
    return Sweep.objects.get(id=sweep.id)
