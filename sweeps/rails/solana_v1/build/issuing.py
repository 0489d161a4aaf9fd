"""Issues a planned sweep on Solana: each transaction is an execution, known by its reference key. Nothing is signed."""

import base64
import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.utils import timezone
from solders.instruction import Instruction

from sweepapi.errors import SweepFailed
from sweepapi.networks import Networks
from sweeps.models import Sweep
from sweeps.protocol.rail import Identity, IssuedSweep, Offered
from sweeps.rails.solana_v1.build.stages import SolanaSimulated
from sweeps.rails.solana_v1.models import BuiltTransaction


@dataclass(frozen=True)
class SolanaIssued(IssuedSweep):
    """A issued sweep on a Solana cluster."""

    planned: SolanaSimulated

    def first_check_at(self, now: datetime) -> datetime:
        """Return when to check: soon, because nothing is reported on Solana."""
        return now + timedelta(seconds=settings.FIRST_CHECK_SECONDS)

    @property
    def expires_in_seconds(self) -> int:
        """About how many seconds are left, by the blocks in which the transactions can land."""
        return int(self.planned.seconds_left)


def issue(
    planned: SolanaSimulated,
    *,
    registry: Networks,  # noqa: ARG001 - a rail may sign
    renewed: Sweep | None = None,
) -> SolanaIssued:
    """Return the identities of the transactions; raises ``SweepFailed`` for a sweep to be offered again.

    Transactions of the first offer may still land until their blockhash expires, and then the sweep is over.
    """
    if renewed is not None:
        raise SweepFailed("A sweep on Solana can't be offered again; build a new one.")
    return SolanaIssued(
        planned=planned,
        identities=[
            Identity(
                venue=planned.fees.protocol_recipient,
                execution_id=str(transaction.packed.reference),
                tokens=transaction.packed.legs,
                min_gross=sum(planned.tokens[position].min_output for position in transaction.packed.legs),
            )
            for transaction in planned.transactions
        ],
        deadline=timezone.now() + timedelta(seconds=planned.seconds_left),
    )


def store(offered: Offered[SolanaIssued]) -> None:
    """Store what was composed for each execution."""
    planned = offered.issued.planned
    grace_blocks = math.ceil(settings.SOLANA_EXPIRY_GRACE_SECONDS / planned.slot_seconds)
    executions = {execution.execution_id: execution for execution in offered.sweep.executions.all()}
    BuiltTransaction.objects.bulk_create(
        BuiltTransaction(
            execution=executions[str(transaction.packed.reference)],
            last_valid_block_height=transaction.last_valid_block_height,
            awaited_until_height=transaction.last_valid_block_height + grace_blocks,
            fee_account=str(planned.fee_account),
            instructions=[_stored(instruction) for instruction in transaction.packed.instructions],
        )
        for transaction in planned.transactions
    )


def _stored(instruction: Instruction) -> dict[str, Any]:
    return {
        "program": str(instruction.program_id),
        "accounts": [str(account.pubkey) for account in instruction.accounts],
        "data": base64.b64encode(instruction.data).decode(),
    }
