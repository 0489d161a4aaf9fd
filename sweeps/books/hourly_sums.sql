-- The sums of some hours.
INSERT INTO sweeps_hourlysum (
    hour, network, partner_id, asset, executions, volume, partner_fees, protocol_fees,
    volume_micros, partner_micros, protocol_micros, accepted, seconds
)
SELECT
    date_trunc('hour', entry.posted_at, 'UTC'),
    entry.network,
    entry.partner_id,
    entry.asset,
    sum(booked.sign),
    sum(booked.sign * coalesce(execution.gross_output, 0)),
    sum(booked.partner_fee),
    sum(booked.protocol_fee),
    sum(trunc(booked.sign * coalesce(execution.gross_output, 0) * price.micros)),
    sum(trunc(booked.partner_fee * price.micros)),
    sum(trunc(booked.protocol_fee * price.micros)),
    count(*) FILTER (WHERE booked.sign > 0 AND reported.seconds IS NOT NULL),
    coalesce(sum(reported.seconds) FILTER (WHERE booked.sign > 0), 0)
FROM ledger_journalentry AS entry
JOIN LATERAL (
    SELECT
        CASE entry.kind WHEN 'sweep_fee' THEN 1 ELSE -1 END AS sign,
        coalesce(-sum(posting.amount) FILTER (WHERE account.name IN ('partner_settled', 'partner_payable')), 0) AS partner_fee,
        coalesce(-sum(posting.amount) FILTER (WHERE account.name = 'protocol_revenue'), 0) AS protocol_fee
    FROM ledger_posting AS posting JOIN ledger_account AS account ON account.id = posting.account_id
    WHERE posting.entry_id = entry.id
) AS booked ON true
LEFT JOIN sweeps_execution AS execution ON execution.id = entry.execution_ref
LEFT JOIN LATERAL (
    SELECT extract(epoch FROM tx.confirmed_at - tx.submitted_at) AS seconds FROM sweeps_sweeptransaction AS tx
    WHERE tx.execution_id = execution.id AND tx.status = 'accepted' AND tx.source = 'partner'
) AS reported ON true
LEFT JOIN LATERAL (
    SELECT coalesce(max(newest.expected_micros / nullif(newest.expected_gross, 0)), 0) AS micros FROM (
        SELECT offer.expected_micros, offer.expected_gross FROM sweeps_offer AS offer
        WHERE offer.sweep_id = entry.sweep_ref ORDER BY offer.sequence DESC LIMIT 1
    ) AS newest
) AS price ON true
WHERE entry.kind IN ('sweep_fee', 'reversal') AND entry.posted_at >= %(begin)s AND entry.posted_at < %(end)s
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4 -- so that two sessions lock the rows in one order
ON CONFLICT (hour, network, partner_id, asset) DO UPDATE SET
    executions = excluded.executions,
    volume = excluded.volume,
    partner_fees = excluded.partner_fees,
    protocol_fees = excluded.protocol_fees,
    volume_micros = excluded.volume_micros,
    partner_micros = excluded.partner_micros,
    protocol_micros = excluded.protocol_micros,
    accepted = excluded.accepted,
    seconds = excluded.seconds
