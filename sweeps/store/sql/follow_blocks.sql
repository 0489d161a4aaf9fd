-- A block that is followed already is locked until the sweeps are written, so that it can't be given up meanwhile.
INSERT INTO sweeps_watchedblock (network, number, hash, head_number, is_safe, due_at)
SELECT network, number, hash, head_number, false, due_at
FROM json_populate_recordset(NULL::sweeps_watchedblock, %s)
ON CONFLICT (network, number, hash) DO UPDATE
    SET is_safe = false, head_number = GREATEST(sweeps_watchedblock.head_number, EXCLUDED.head_number)
RETURNING id, network, number, hash
