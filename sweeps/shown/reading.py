"""Reads everything that is shown of a sweep by one statement, which PostgreSQL returns as one JSON object.

Names and values are those of the answers wherever they do not depend on the rail or on words of ours.
"""

from collections.abc import Collection, Sequence
from typing import Any
from uuid import UUID

from ledger.reading import POSTINGS_OF_SWEEP
from partners.authentication import Requester
from sweepapi.errors import SweepNotFound
from sweepapi.modes import mode_of
from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sql import utc
from sweeps.protocol.presentation import Snapshot

_OUTCOME = """
CASE
    WHEN left_out.reason = 'dropped' THEN 'dropped'
    WHEN left_out.reason IS NOT NULL THEN 'skipped'
    WHEN execution.status = 'executed' THEN 'swept'
END AS outcome
"""
_TOKENS_OF_SWEEP = """
FROM sweeps_sweeptoken AS token
JOIN sweeps_execution AS execution ON execution.id = token.execution_id
LEFT JOIN sweeps_skippedtoken AS left_out ON left_out.execution_id = execution.id
    AND left_out.booking_epoch = execution.booking_epoch AND left_out.token_id = token.id
WHERE token.sweep_id = sweep.id
ORDER BY token.position
"""
_TOKENS = f"""
SELECT token.asset AS mint, token.symbol, token.decimals, token.amount::text AS amount, {_OUTCOME},
    NULLIF(left_out.reason, 'dropped') AS "skipReason"
{_TOKENS_OF_SWEEP}
"""
_TRANSACTIONS = f"""
SELECT tx.tx_hash AS "txHash", tx.status, tx.source, tx.block_number AS "blockNumber",
    NULLIF(tx.block_hash, '') AS "blockHash",
    CASE
        WHEN tx.status = 'accepted' THEN GREATEST(tx.confirmations, block.head_number - tx.block_number + 1)
        ELSE tx.confirmations
    END AS confirmations,
    tx.finality, tx.gas_used::text AS "gasUsed", {utc("tx.submitted_at")} AS "submittedAt",
    {utc("tx.confirmed_at")} AS "confirmedAt", tx.reason
FROM sweeps_sweeptransaction AS tx
WHERE tx.sweep_id = sweep.id
ORDER BY tx.id
"""
_EVENTS = f"""
SELECT event.kind, event.to_status, event.cause, {utc("event.at")} AS at, event.tx_hash, event.facts
FROM sweeps_sweepevent AS event
WHERE event.sweep_id = sweep.id
ORDER BY event.sequence
"""
_EXECUTION = """
execution.execution_id AS id, execution.venue, execution.status, execution.gross_output, execution.total_fee,
execution.partner_fee, execution.protocol_fee, execution.user_amount
"""
_EXECUTIONS = f"""
SELECT {_EXECUTION} FROM sweeps_execution AS execution
WHERE execution.sweep_id = sweep.id
ORDER BY execution.position
"""
_EXECUTIONS_IN_FULL = f"""
SELECT {_EXECUTION},
    ARRAY(
        SELECT token.asset FROM sweeps_sweeptoken AS token
        WHERE token.execution_id = execution.id ORDER BY token.position
    ) AS tokens,
    shown.tx_hash AS "txHash", COALESCE(shown.reason, '') AS reason
FROM sweeps_execution AS execution
LEFT JOIN LATERAL (
    SELECT tx.tx_hash, tx.reason FROM sweeps_sweeptransaction AS tx
    WHERE tx.execution_id = execution.id ORDER BY tx.status <> 'accepted', tx.id DESC LIMIT 1
) AS shown ON true
WHERE execution.sweep_id = sweep.id
ORDER BY execution.position
"""


def _array(rows: str) -> str:
    return f"(SELECT COALESCE(json_agg(one), '[]') FROM ({rows}) AS one)"


_FACTS = f"""
    'id', sweep.id, 'client_reference', sweep.client_reference, 'network', sweep.network, 'rail', sweep.rail,
    'status', sweep.status, 'is_open', sweep.is_open, 'wallet', sweep.wallet, 'output_asset', sweep.output_asset,
    'output_symbol', sweep.output_symbol, 'output_decimals', sweep.output_decimals,
    'created_at', {utc("sweep.created_at")}, 'deadline', {utc("sweep.deadline")},
    'completed_at', {utc("sweep.completed_at")}, 'settlement', sweep.settlement, 'flags', sweep.flags,
    'total_fee_bps', sweep.total_fee_bps, 'partner_share_bps', sweep.partner_share_bps,
    'expected_gross', (
        SELECT offer.expected_gross FROM sweeps_offer AS offer
        WHERE offer.sweep_id = sweep.id ORDER BY offer.sequence DESC LIMIT 1
    )
"""


def _snapshot(executions: str) -> str:
    return f"""json_build_object(
    {_FACTS},
    'check_attempts', sweep.check_attempts, 'last_checked_at', {utc("sweep.last_checked_at")},
    'next_look_at', {utc("COALESCE(sweep.next_check_at, block.due_at)")}, 'last_error', sweep.last_error,
    'tokens', {_array(_TOKENS)}, 'transactions', {_array(_TRANSACTIONS)}, 'events', {_array(_EVENTS)},
    'executions', {_array(executions)}, 'entries', {_array(POSTINGS_OF_SWEEP)}
)"""


_SNAPSHOT, _SNAPSHOT_IN_FULL = _snapshot(_EXECUTIONS), _snapshot(_EXECUTIONS_IN_FULL)
_HASHES = """
SELECT tx.tx_hash AS "txHash", tx.status FROM sweeps_sweeptransaction AS tx WHERE tx.sweep_id = sweep.id ORDER BY tx.id
"""
_SUMMARY = f"""json_build_object(
    {_FACTS}, 'executions', {_array(_EXECUTIONS)},
    'tokens', {_array(f"SELECT {_OUTCOME} {_TOKENS_OF_SWEEP}")}, 'transactions', {_array(_HASHES)}
)"""
_SWEEPS = "FROM sweeps_sweep AS sweep LEFT JOIN sweeps_watchedblock AS block ON block.id = sweep.watched_block_id"
_OF_PARTNER = f"{_SWEEPS} WHERE sweep.id = %(sweep_id)s AND sweep.partner_id = %(partner_id)s"
_STATEMENT = f"SELECT {_SNAPSHOT} {_OF_PARTNER}"
_STATEMENT_IN_FULL = f"SELECT {_SNAPSHOT_IN_FULL} {_OF_PARTNER}"
_REPORTED_STATEMENT = f"""
SELECT CASE
    WHEN sweep.status = 'completed' AND EXISTS (
        SELECT FROM sweeps_sweeptransaction AS tx
        WHERE tx.sweep_id = sweep.id AND tx.status = 'accepted' AND tx.tx_hash = ANY(%(tx_hashes)s)
    ) THEN {_SNAPSHOT}
    ELSE json_build_object('network', sweep.network, 'rail', sweep.rail)
END
{_OF_PARTNER}
"""
_MANY_STATEMENT = f"SELECT COALESCE(json_agg({_SNAPSHOT_IN_FULL}), '[]') {_SWEEPS} WHERE sweep.id = ANY(%(sweep_ids)s)"
_SUMMARIES_STATEMENT = f"""
SELECT COALESCE(json_agg({_SUMMARY} ORDER BY listed.position), '[]')
FROM unnest(%(sweep_ids)s::uuid[]) WITH ORDINALITY AS listed(id, position)
JOIN sweeps_sweep AS sweep ON sweep.id = listed.id
"""


def read_snapshot(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> Snapshot:
    """Return a sweep on one of these rails; raises ``SweepNotFound``, for any that the key does not reach too."""
    return _reached(fetch_json(_STATEMENT, _parameters(requester, sweep_id)), requester, rails)


def read_snapshot_in_full(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> Snapshot:
    """Do what ``read_snapshot`` does, with the tokens and the transaction of each execution, which ``/v1`` shows."""
    return _reached(fetch_json(_STATEMENT_IN_FULL, _parameters(requester, sweep_id)), requester, rails)


def read_reported(
    requester: Requester, sweep_id: UUID, *, rails: Collection[str], tx_hashes: Sequence[str]
) -> Snapshot:
    """Return what ``read_snapshot`` does if one of these transactions completed the sweep.

    Otherwise return its ``network`` and ``rail``.
    """
    parameters = _parameters(requester, sweep_id) | {"tx_hashes": list(tx_hashes)}
    return _reached(fetch_json(_REPORTED_STATEMENT, parameters), requester, rails)


def read_snapshots(sweep_ids: Collection[UUID]) -> list[Snapshot]:
    """Return those of these sweeps that exist, in full, of any partner, in any order."""
    found: list[Snapshot] = fetch_json(_MANY_STATEMENT, {"sweep_ids": list(sweep_ids)})
    return found


def read_summaries(sweep_ids: Sequence[UUID]) -> list[Snapshot]:
    """Return what a listing shows of these sweeps, in this order; of tokens and transactions only what happened."""
    found: list[Snapshot] = fetch_json(_SUMMARIES_STATEMENT, {"sweep_ids": list(sweep_ids)})
    return found


def _parameters(requester: Requester, sweep_id: UUID) -> dict[str, Any]:
    return {"sweep_id": sweep_id, "partner_id": requester.partner_id}


def _reached(found: Snapshot | None, requester: Requester, rails: Collection[str]) -> Snapshot:
    if found is None or found["rail"] not in rails or mode_of(found["network"]) != requester.mode:
        raise SweepNotFound
    return found
