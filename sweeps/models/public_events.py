"""Writes a webhook message for each event of a sweep that partners are notified of, in the event's own transaction.

A trigger does it, once for each statement that inserts events: no writer of events can leave it out, and a thousand
events take one statement. Each change of status is reported, except that a sweep was built or has another candidate,
which its partner did itself. So is the close, after which the outcome can't be reversed. If both happen at once, the
close of a completed sweep is reported separately, and that of any other instead of the change.
"""

import pgtrigger

# A UUID of version 7, as ``uuid_utils`` makes them.
_UUID7 = """encode(
    set_bit(set_bit(overlay(
        uuid_send(gen_random_uuid())
        placing substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3) FROM 1 FOR 6
    ), 52, 1), 53, 1), 'hex')::uuid"""
# Whether an event is one of those, but not what it is: the same whenever it is asked, because events are never changed.
_IS_PUBLIC = """(
    {event}.kind = 'closed'
    OR {event}.kind = 'status' AND 'completed' IN ({event}.from_status, {event}.to_status)
    OR {event}.kind = 'status' AND {event}.to_status IN ('failed', 'void') AND NOT EXISTS (
        SELECT FROM sweeps_sweepevent AS closing
        WHERE closing.sweep_id = {event}.sweep_id AND closing.sequence > {event}.sequence
          AND closing.kind = 'closed' AND closing.at = {event}.at
    )
)"""
# Old messages are deleted, events are not: so the events are counted. Never less than one more than the last message.
_SEQUENCE = f"""GREATEST(
    (
        SELECT count(*) FROM sweeps_sweepevent AS counted
        WHERE counted.sweep_id = event.sweep_id AND counted.sequence <= event.sequence
          AND {_IS_PUBLIC.format(event="counted")}
    ),
    row_number() OVER (PARTITION BY sweep.id ORDER BY event.sequence) + COALESCE(
        (SELECT max(earlier.sequence) FROM partners_webhookmessage AS earlier WHERE earlier.sweep_ref = sweep.id), 0
    )
)"""  # noqa: S608 - of constants
# The transaction that executed a sweep is known by its candidates when it closes. OFFSET 0 has PostgreSQL look up each
# sweep: a session plans this once, perhaps for thousands of events by a scan of all sweeps, and keeps the plan for one.
_MESSAGES = f"""
INSERT INTO partners_webhookmessage (
    id, partner_id, type, network, sweep_ref, sequence, is_final, occurred_at, facts
)
SELECT {_UUID7}, sweep.partner_id, public.type, sweep.network, sweep.id, {_SEQUENCE},
    event.kind = 'closed', event.at,
    jsonb_build_object(
        'status', CASE WHEN event.kind = 'closed' THEN sweep.status ELSE event.to_status END,
        'clientReference', sweep.client_reference,
        'txHash', COALESCE(event.tx_hash, (
            SELECT tx.tx_hash FROM sweeps_sweeptransaction AS tx
            WHERE tx.sweep_id = sweep.id AND tx.status = 'accepted' ORDER BY tx.id LIMIT 1
        ))
    )
FROM new_events AS event
CROSS JOIN LATERAL (
    SELECT id, partner_id, network, status, client_reference FROM sweeps_sweep WHERE id = event.sweep_id OFFSET 0
) AS sweep
CROSS JOIN LATERAL (SELECT CASE
    WHEN NOT {_IS_PUBLIC.format(event="event")} THEN NULL
    WHEN event.kind = 'closed' THEN CASE sweep.status
        WHEN 'completed' THEN 'sweep.finalized'
        WHEN 'failed' THEN 'sweep.failed'
        WHEN 'expired' THEN 'sweep.expired'
        WHEN 'void' THEN 'sweep.voided'
    END
    WHEN event.to_status = 'completed' THEN 'sweep.completed'
    WHEN event.from_status = 'completed' THEN 'sweep.reversed'
    WHEN event.to_status = 'failed' THEN 'sweep.failed'
    WHEN event.to_status = 'void' THEN 'sweep.voided'
END AS type) AS public
WHERE public.type IS NOT NULL
ORDER BY sweep.id, event.sequence;
"""  # noqa: S608 - of constants

notifies_partner = pgtrigger.Trigger(
    name="notifies_partner",
    level=pgtrigger.Statement,
    when=pgtrigger.After,
    operation=pgtrigger.Insert,
    referencing=pgtrigger.Referencing(new="new_events"),  # type: ignore[no-untyped-call]
    func=f"{_MESSAGES} RETURN NULL;",
)
