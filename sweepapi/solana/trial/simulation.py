"""Runs a transaction in a simulation, and reads what it would change from an answer that is hostile until checked."""

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from solders.pubkey import Pubkey
from solders.transaction import VersionedTransaction

from sweepapi.rpc import Call
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.encoding import responses
from sweepapi.solana.encoding.accounts import ClusterAccount
from sweepapi.solana.packing import compute_budget

_LAST_LOGS = 8
_LOG_CHARACTERS = 200


@dataclass(frozen=True)
class ClusterSimulation:
    """What a transaction would do on the state of one slot."""

    slot: int
    error: object | None  # None if it would succeed
    units: int  # compute units consumed
    accounts: dict[Pubkey, ClusterAccount | None]  # the watched ones afterwards; empty if it fails
    logs: tuple[str, ...]  # the last lines


def simulate_call(transaction: VersionedTransaction, watched: Sequence[Pubkey]) -> Call:
    """Return the call that simulates a transaction, signed or not, and decodes to a ``ClusterSimulation``."""
    options = {
        "encoding": "base64",
        "sigVerify": False,
        "replaceRecentBlockhash": True,
        "commitment": "confirmed",
        "accounts": {"encoding": "base64", "addresses": [str(key) for key in watched]},
    }
    encoded = base64.b64encode(bytes(transaction)).decode()
    return Call("simulateTransaction", (encoded, options), lambda result: _simulation(result, watched))


def _simulation(result: object, watched: Sequence[Pubkey]) -> ClusterSimulation:
    answer = responses.mapping(result)
    value = responses.mapping(responses.in_context(answer))
    error = value.get("err")
    return ClusterSimulation(
        slot=answer["context"]["slot"],
        error=error,
        units=_units(value.get("unitsConsumed")),
        accounts=_accounts(value.get("accounts"), watched) if error is None else {},
        logs=_logs(value.get("logs")),
    )


def _accounts(value: object, watched: Sequence[Pubkey]) -> dict[Pubkey, ClusterAccount | None]:
    found = responses.sequence(value)
    if len(found) != len(watched):
        raise BadResponseError("simulateTransaction: expected every watched account")
    return {key: responses.account(account) for key, account in zip(watched, found, strict=True)}


def _units(value: object) -> int:
    units = responses.counter(value)
    if units > compute_budget.MAX_UNITS:
        raise BadResponseError("simulateTransaction: more units than a transaction can consume")
    return units


def _logs(value: Any) -> tuple[str, ...]:  # noqa: ANN401 - JSON of any shape
    lines = responses.sequence(value) if value is not None else []
    return tuple(responses.text(line)[:_LOG_CHARACTERS] for line in lines[-_LAST_LOGS:])
