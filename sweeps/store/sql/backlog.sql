SELECT count(*), max(waiting) FROM (
    SELECT statement_timestamp() - due_at AS waiting FROM sweeps_sweep
    WHERE is_open AND urgency IN (0, 1, 2) AND due_at <= statement_timestamp()
    LIMIT %(rows)s
) AS due
