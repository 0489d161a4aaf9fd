UPDATE sweeps_watchedblock SET due_at = statement_timestamp() + %(lease)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_watchedblock
    WHERE due_at <= statement_timestamp() AND network = ANY(%(networks)s)
    ORDER BY due_at LIMIT %(blocks)s FOR UPDATE SKIP LOCKED
)) RETURNING *
