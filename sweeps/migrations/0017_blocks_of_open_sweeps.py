"""Lets the completed sweeps on EVM chains that are not final yet rest on their blocks, as they do from now on.

The digests of their logs were not stored, so each is looked at once its block is final.
"""

from django.db import migrations

FIND = """
    CREATE TEMPORARY TABLE resting ON COMMIT DROP AS
    SELECT sweep.id, execution.network, tx.block_number AS number, tx.block_hash AS hash, tx.confirmations
    FROM sweeps_sweep AS sweep
    JOIN sweeps_execution AS execution ON execution.sweep_id = sweep.id
    JOIN sweeps_sweeptransaction AS tx ON tx.execution_id = execution.id AND tx.status = 'accepted'
    WHERE sweep.is_open AND sweep.status = 'completed' AND sweep.flags = '{}' AND sweep.last_error = ''
        AND sweep.cancellation_requested_at IS NULL AND starts_with(sweep.network, 'eip155:')
        AND NOT EXISTS (
            SELECT FROM sweeps_sweeptransaction AS other WHERE other.sweep_id = sweep.id AND other.status = 'submitted'
        )
"""
WATCH = """
    INSERT INTO sweeps_watchedblock (network, number, hash, head_number, is_safe, due_at)
    SELECT network, number, hash, max(number + GREATEST(confirmations, 1) - 1), false, now()
    FROM resting GROUP BY network, number, hash
"""
REST = """
    UPDATE sweeps_sweep AS sweep
    SET watched_block_id = block.id, next_check_at = NULL, lease_token = NULL, lease_until = NULL
    FROM resting JOIN sweeps_watchedblock AS block USING (network, number, hash)
    WHERE sweep.id = resting.id
"""
WAKE = """
    UPDATE sweeps_sweep SET watched_block_id = NULL, next_check_at = COALESCE(next_check_at, now())
    WHERE watched_block_id IS NOT NULL
"""


class Migration(migrations.Migration):
    dependencies = [
        ("sweeps", "0016_watched_blocks"),
    ]

    operations = [migrations.RunSQL([FIND, WATCH, REST], WAKE)]
