"""What executing or simulating a transaction gave, in the JSON terms of a node."""

import base64
import json
from dataclasses import dataclass, field
from typing import Any

from solders.account import Account
from solders.pubkey import Pubkey
from solders.signature import Signature
from solders.transaction_metadata import (
    FailedTransactionMetadata,
    SimulatedTransactionInfo,
    TransactionMetadata,
    TransactionResult,
)

from dev.solana.history import base58


@dataclass(frozen=True)
class Outcome:
    err: Any = None  # None: it succeeded
    executed: bool = False  # if not, it cannot land, not even as a failed transaction
    fee: int = 0
    units: int = 0
    logs: list[str] = field(default_factory=list)
    inner: list[dict[str, Any]] = field(default_factory=list)
    return_data: dict[str, Any] | None = None
    accounts: dict[Pubkey, Account] = field(default_factory=dict)  # afterwards, only of a simulation that succeeded


def outcome_of(result: TransactionResult | SimulatedTransactionInfo) -> Outcome:
    """Translate LiteSVM's result."""
    failed = isinstance(result, FailedTransactionMetadata)
    meta = result if isinstance(result, TransactionMetadata) else result.meta()
    return Outcome(
        err=json.loads(result.to_json())["err"] if failed else None,
        executed=meta.signature() != Signature.default(),
        fee=meta.fee(),
        units=meta.compute_units_consumed(),
        logs=meta.logs(),
        inner=_inner_instructions(meta),
        return_data=_return_data(meta),
        accounts=dict(result.post_accounts()) if isinstance(result, SimulatedTransactionInfo) else {},
    )


def _inner_instructions(meta: TransactionMetadata) -> list[dict[str, Any]]:
    groups = []
    for index, inner in enumerate(meta.inner_instructions()):
        instructions = [
            {
                "programIdIndex": each.instruction().program_id_index,
                "accounts": list(each.instruction().accounts),
                "data": base58.encode(each.instruction().data),
                "stackHeight": each.stack_height(),
            }
            for each in inner
        ]
        if instructions:
            groups.append({"index": index, "instructions": instructions})
    return groups


def _return_data(meta: TransactionMetadata) -> dict[str, Any] | None:
    returned = meta.return_data()
    if not returned.data:
        return None
    return {"programId": str(returned.program_id), "data": [base64.b64encode(returned.data).decode(), "base64"]}
