-- What was checked meanwhile, or taken over, is due at another time.
UPDATE sweeps_watchedblock SET due_at = statement_timestamp() + %(lease)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_watchedblock WHERE id = ANY(%(blocks)s) AND due_at = ANY(%(held_until)s)
    FOR UPDATE SKIP LOCKED
)) RETURNING due_at
