"""The messages to a partner's webhooks that a sweep's new events lead to, as rows; ``public_events`` says which."""

from collections.abc import Iterator

from uuid_utils.compat import uuid7

from partners.webhooks.public_events import SweepChange, type_of
from sweepapi.postgres.sets import Row
from sweeps.models import EventKind, SweepStatus, SweepTransaction
from sweeps.store.stored import StoredSweep


def messages_of(stored: StoredSweep) -> Iterator[Row]:
    """Yield the messages, counted on the sweep, whose row is to be written afterwards.

    A change that comes with the close is reported by the close, but for a completion, which is reported as well.
    """
    sweep, last_close = stored.sweep, _last_close(stored)
    for position, event in enumerate(stored.events):
        closes = event["kind"] == EventKind.CLOSED
        if not closes and event["kind"] != EventKind.STATUS:
            continue
        if closes:
            change = SweepChange(sweep.status, sweep.status, closes=True)
        else:
            change = SweepChange(event["from_status"], event["to_status"], closes=False)
        is_of_completion = SweepStatus.COMPLETED in (change.before, change.after)
        kind = type_of(change)
        if kind is None or (position < last_close and not is_of_completion):
            continue
        sweep.last_message += 1
        yield {
            "id": uuid7(),
            "partner_id": sweep.partner_id,
            "type": kind,
            "network": sweep.network,
            "sweep_ref": sweep.id,
            "sequence": sweep.last_message,
            "is_final": closes,
            "occurred_at": event["at"],
            "facts": {
                "status": change.after,
                "clientReference": sweep.client_reference,
                "txHash": event["tx_hash"] or _deciding_hash(stored),
            },
        }


def _last_close(stored: StoredSweep) -> int:
    closes = [number for number, event in enumerate(stored.events) if event["kind"] == EventKind.CLOSED]
    return max(closes, default=-1)


def _deciding_hash(stored: StoredSweep) -> str | None:
    """Return the transaction that was accepted, or that cancelled the sweep; None without one."""
    accepted = [tx.tx_hash for tx in stored.candidates if tx.status == SweepTransaction.Status.ACCEPTED]
    cancelled = [one.cancellation_tx_hash for one in stored.executions if one.cancellation_tx_hash is not None]
    return next(iter(accepted + cancelled), None)
