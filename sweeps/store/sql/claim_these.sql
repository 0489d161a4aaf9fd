UPDATE sweeps_sweep SET lease_token = %(lease)s, lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_sweep
    WHERE id = ANY(%(ids)s) AND is_open AND due_at <= statement_timestamp()
    FOR UPDATE SKIP LOCKED
)) RETURNING id
