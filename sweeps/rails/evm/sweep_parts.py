"""Reads what belongs to sweeps and what looking at them and settling them needs, by one statement for all of them."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.db.models import prefetch_related_objects

from sweepapi.postgres.prepared import fetch_json
from sweepapi.postgres.sets import instance_of
from sweeps.models import Execution, InputToken, SkippedToken, Sweep, SweepTransaction
from sweeps.rails.evm.models import Permit

_PARTS = """
SELECT json_build_object(
    'executions', (
        SELECT COALESCE(json_agg(one ORDER BY one.position), '[]')
        FROM sweeps_execution AS one WHERE one.sweep_id = ANY(%(sweeps)s)
    ),
    'candidates', (
        SELECT COALESCE(json_agg(one ORDER BY one.id), '[]')
        FROM sweeps_sweeptransaction AS one WHERE one.sweep_id = ANY(%(sweeps)s)
    ),
    'skipped', (
        SELECT COALESCE(json_agg(one ORDER BY one.booking_epoch, token.position), '[]')
        FROM sweeps_execution AS execution
        JOIN sweeps_skippedtoken AS one ON one.execution_id = execution.id
        JOIN sweeps_sweeptoken AS token ON token.id = one.token_id
        WHERE execution.sweep_id = ANY(%(sweeps)s)
    ),
    'permits', (
        SELECT COALESCE(json_agg(one), '[]') FROM evm_permit AS one WHERE one.sweep_id = ANY(%(sweeps)s)
    ),
    'tokens', (
        SELECT COALESCE(
            json_agg(json_build_array(one.sweep_id, one.id, one.position, one.asset) ORDER BY one.position), '[]'
        )
        FROM sweeps_sweeptoken AS one WHERE one.sweep_id = ANY(%(sweeps)s)
    )
)
"""


def read_parts(sweeps: Sequence[Sweep]) -> None:
    """Read partners, executions, candidates, tokens and permits, and which tokens were left out, unless read before."""
    prefetch_related_objects(list(sweeps), "partner")
    unread = {sweep.id: sweep for sweep in sweeps if "execution_list" not in vars(sweep)}
    if not unread:
        return
    parts = fetch_json(_PARTS, {"sweeps": list(unread)})
    _set_tokens(unread, parts["tokens"])
    for row in parts["permits"]:
        permit = instance_of(Permit, row)
        permit.sweep = unread[permit.sweep_id]  # which sets it on the sweep, too
    for sweep in unread.values():
        sweep.execution_list = []
    executions: dict[UUID, Execution] = {}
    for row in parts["executions"]:
        execution = executions[UUID(row["id"])] = instance_of(Execution, row)
        execution.sweep, execution.candidates, execution.skipped_list = unread[execution.sweep_id], [], []
        execution.sweep.execution_list.append(execution)
    for row in parts["candidates"]:
        candidate = instance_of(SweepTransaction, row)
        candidate.sweep, candidate.execution = unread[candidate.sweep_id], executions[candidate.execution_id]
        candidate.execution.candidates.append(candidate)
    for row in parts["skipped"]:
        left_out = instance_of(SkippedToken, row)
        executions[left_out.execution_id].skipped_list.append(left_out)


def _set_tokens(sweeps: dict[UUID, Sweep], rows: Sequence[Sequence[Any]]) -> None:
    tokens: dict[str, list[InputToken]] = defaultdict(list)
    for sweep_id, *token in rows:
        tokens[sweep_id].append(InputToken(*token))
    for sweep_id, sweep in sweeps.items():
        sweep.input_tokens = tokens[str(sweep_id)]
