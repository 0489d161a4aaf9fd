DELETE FROM sweeps_watchedblock AS block
WHERE id = ANY(%(blocks)s) AND NOT EXISTS (SELECT FROM sweeps_sweep AS sweep WHERE sweep.watched_block_id = block.id)
