"""Reads everything that is shown of a sweep by one statement, which PostgreSQL returns as one JSON object.

The statements fetch rows; what they mean for a partner is said by ``parts``.
"""

from collections.abc import Collection, Sequence
from dataclasses import fields
from uuid import UUID

from ledger.entries.reading import POSTINGS_OF_SWEEP
from partners.authentication import Requester
from sweepapi.errors import SweepNotFound
from sweepapi.fees import FeeRates
from sweepapi.modes import mode_of
from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sql import utc
from sweeps.protocol.presentation import Snapshot

_TOKENS_OF_SWEEP = """
FROM sweeps_sweeptoken AS token
JOIN sweeps_execution AS execution ON execution.id = token.execution_id
LEFT JOIN sweeps_skippedtoken AS left_out ON left_out.execution_id = execution.id
    AND left_out.booking_epoch = execution.booking_epoch AND left_out.token_id = token.id
WHERE token.sweep_id = sweep.id
ORDER BY token.position
"""
_WHAT_BECAME = "token.execution_id, execution.status AS execution_status, left_out.reason AS left_out"
_TOKENS = f"""
SELECT token.asset, token.symbol, token.decimals, token.amount::text AS amount, {_WHAT_BECAME}
{_TOKENS_OF_SWEEP}
"""
_TRANSACTIONS = f"""
SELECT tx.execution_id, tx.tx_hash, tx.status, tx.source, tx.block_number, tx.block_hash, tx.confirmations,
    tx.finality, tx.awaits, tx.gas_used::text AS gas_used, {utc("tx.submitted_at")} AS submitted_at,
    {utc("tx.confirmed_at")} AS confirmed_at, tx.reason
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
_EXECUTIONS = """
SELECT execution.id AS key, execution.execution_id AS id, execution.venue, execution.status,
    execution.cancellation_tx_hash, execution.gross_output, execution.total_fee, execution.partner_fee,
    execution.protocol_fee, execution.user_amount
FROM sweeps_execution AS execution
WHERE execution.sweep_id = sweep.id
ORDER BY execution.position
"""


def _array(rows: str) -> str:
    return f"(SELECT COALESCE(json_agg(one), '[]') FROM ({rows}) AS one)"


# The chain's clock is that of its newest block that was read, and has gone on since then.
_EXPIRES_IN_SECONDS = """CASE WHEN sweep.is_open AND sweep.status <> 'completed' THEN (
    SELECT GREATEST(floor(
        EXTRACT(EPOCH FROM sweep.deadline) - head.timestamp - EXTRACT(EPOCH FROM statement_timestamp() - head.seen_at)
    ), 0)::bigint
    FROM sweeps_chainhead AS head WHERE head.network = sweep.network
) END"""
_FEES = ", ".join(f"'{rate.name}', sweep.{rate.name}" for rate in fields(FeeRates))
_FACTS = f"""
    'id', sweep.id, 'client_reference', sweep.client_reference, 'network', sweep.network, 'rail', sweep.rail,
    'status', sweep.status, 'is_open', sweep.is_open, 'wallet', sweep.wallet, 'output_asset', sweep.output_asset,
    'output_symbol', sweep.output_symbol, 'output_decimals', sweep.output_decimals,
    'created_at', {utc("sweep.created_at")}, 'deadline', {utc("sweep.deadline")},
    'expires_in_seconds', {_EXPIRES_IN_SECONDS},
    'completed_at', {utc("sweep.completed_at")},
    'cancellation_requested_at', {utc("sweep.cancellation_requested_at")}, 'settlement', sweep.settlement,
    'flags', sweep.flags, 'fees', json_build_object({_FEES}),
    'expected_gross', (
        SELECT offer.expected_gross FROM sweeps_offer AS offer
        WHERE offer.sweep_id = sweep.id ORDER BY offer.sequence DESC LIMIT 1
    )
"""


_SNAPSHOT = f"""json_build_object(
    {_FACTS},
    'check_attempts', sweep.check_attempts, 'last_checked_at', {utc("sweep.last_checked_at")},
    'slippage_bps', sweep.slippage_bps, 'accepted_impact_bps', sweep.accepted_impact_bps,
    'accepts_uneconomic', sweep.accepts_uneconomic, 'leaves_out', sweep.leaves_out,
    'closes_accounts', sweep.closes_accounts, 'unwraps_coin', sweep.unwraps_coin,
    'price_percentile', sweep.price_percentile,
    'planned_check_at', {utc("COALESCE(sweep.next_check_at, block.due_at)")}, 'last_error', sweep.last_error,
    'watched_head', block.head_number,
    'tokens', {_array(_TOKENS)}, 'transactions', {_array(_TRANSACTIONS)}, 'events', {_array(_EVENTS)},
    'executions', {_array(_EXECUTIONS)}, 'entries', {_array(POSTINGS_OF_SWEEP)}
)"""
_HASHES = "SELECT tx.tx_hash, tx.status FROM sweeps_sweeptransaction AS tx WHERE tx.sweep_id = sweep.id ORDER BY tx.id"
_SUMMARY = f"""json_build_object(
    {_FACTS}, 'executions', {_array(_EXECUTIONS)},
    'tokens', {_array(f"SELECT {_WHAT_BECAME} {_TOKENS_OF_SWEEP}")}, 'transactions', {_array(_HASHES)}
)"""
_SWEEPS = "FROM sweeps_sweep AS sweep LEFT JOIN sweeps_watchedblock AS block ON block.id = sweep.watched_block_id"
SNAPSHOT_OF_PARTNER = (
    f"SELECT {_SNAPSHOT} {_SWEEPS} WHERE sweep.id = %(sweep_id)s AND sweep.partner_id = %(partner_id)s"
)
SNAPSHOTS = f"SELECT COALESCE(json_agg({_SNAPSHOT}), '[]') {_SWEEPS} WHERE sweep.id = ANY(%(sweep_ids)s)"
SUMMARIES = f"""
SELECT COALESCE(json_agg({_SUMMARY} ORDER BY listed.position), '[]')
FROM unnest(%(sweep_ids)s::uuid[]) WITH ORDINALITY AS listed(id, position)
JOIN sweeps_sweep AS sweep ON sweep.id = listed.id
"""


def read_snapshot(requester: Requester, sweep_id: UUID, *, rails: Collection[str]) -> Snapshot:
    """Return a sweep on one of these rails; raises ``SweepNotFound``, for any that the key does not reach too."""
    parameters = {"sweep_id": sweep_id, "partner_id": requester.partner_id}
    found: Snapshot | None = fetch_json(SNAPSHOT_OF_PARTNER, parameters)
    if found is None or found["rail"] not in rails or mode_of(found["network"]) != requester.mode:
        raise SweepNotFound
    return found


def read_snapshots(sweep_ids: Collection[UUID]) -> list[Snapshot]:
    """Return those of these sweeps that exist, of any partner, in any order."""
    found: list[Snapshot] = fetch_json(SNAPSHOTS, {"sweep_ids": list(sweep_ids)})
    return found


def read_summaries(sweep_ids: Sequence[UUID]) -> list[Snapshot]:
    """Return what a listing shows of these sweeps, in this order; of tokens and transactions only what happened."""
    found: list[Snapshot] = fetch_json(SUMMARIES, {"sweep_ids": list(sweep_ids)})
    return found
