-- VALUES lists the urgencies in their order, each with the grace of its rows; LIMIT stops where enough rows are found.
UPDATE sweeps_sweep SET lease_token = %(lease)s, lease_until = statement_timestamp() + %(lease_for)s
WHERE id = ANY(ARRAY(
    SELECT due.id
    FROM (VALUES (0, %(grace)s), (1, interval '0'), (2, interval '0')) AS class (urgency, grace),
    LATERAL (
        SELECT id FROM sweeps_sweep
        WHERE is_open AND urgency = class.urgency AND due_at <= statement_timestamp()
          AND (lease_token IS NOT NULL OR next_check_at <= statement_timestamp() - class.grace)
        ORDER BY due_at
        LIMIT %(rows)s
        FOR UPDATE SKIP LOCKED
    ) AS due
    LIMIT %(rows)s
)) RETURNING id
