-- A row that another transaction has locked is being written, by the holder itself or soon enough for the next renewal.
UPDATE sweeps_sweep SET lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT id FROM sweeps_sweep WHERE id = ANY(%(ids)s) AND lease_token = %(lease)s FOR UPDATE SKIP LOCKED
)) RETURNING id
