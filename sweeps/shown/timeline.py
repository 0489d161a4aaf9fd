"""The history of a sweep in sentences, which partners read too, and what it waits for."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from sweeps.models import Cause, EventKind, Flag, Sweep, SweepEvent, SweepStatus, SweepTransaction

_STATUS_SENTENCES: Mapping[str, str] = {
    Cause.BUILT: "The sweep was built.",
    Cause.REPORTED: "Another transaction was reported, so the sweep is pending again.",
    Cause.EXECUTED: "The sweep was executed.",
    Cause.REVERTED: "The sweep failed, because its transaction reverted.",
    Cause.RAN_OUT: "The deadline passed on chain, so what was signed can no longer be executed.",
    Cause.TAKEN: "The user executed the sweep's reference on other terms, so the sweep can't be executed.",
    Cause.VOIDED: "The sweep was voided.",
    Cause.CANCELLED: "The sweep was cancelled on chain.",
    Cause.ADOPTED: "The sweep was executed. Its build was lost, so it was stored from its transaction.",
    Cause.REORGANISED: "The block of its transaction left the chain, so the sweep is as it was before that.",
}
_SENTENCES: Mapping[str, str] = {
    EventKind.REPORTED: "A transaction was reported.",
    EventKind.DISPLACED: "The transaction was never seen, and a newer one took its place.",
    EventKind.DISCOVERED: "The worker found the transaction on chain.",
    EventKind.ACCEPTED: "The transaction executed the sweep in block {block}.",
    EventKind.SKIPPED: "The token {token} was left out, because {reason}.",
    EventKind.REVERTED: "The transaction reverted.",
    EventKind.REJECTED: "The transaction does not match what was signed: {reason}",
    EventKind.REORGANISED: "Block {block} of the transaction left the chain.",
    EventKind.FINALITY: "The transaction's block is {finality}.",
    EventKind.FLAG_RAISED: "Flag raised: {flag}.",
    EventKind.FLAG_CLEARED: "Flag cleared: {flag}.",
    EventKind.POSTED: "The fee was booked.",
    EventKind.REVERSED: "The booking of the fee was reversed.",
    EventKind.CANCELLATION_REQUESTED: "Cancellation on chain was requested.",
    EventKind.CANCELLED: "The transaction cancelled the sweep on chain.",
    EventKind.CLOSED: "The sweep is closed, and no longer checked.",
    EventKind.REOPENED: "The sweep was opened again, to check it against the chain.",
}


def sentence(event: SweepEvent) -> str:
    """Return the event as a sentence that a partner may read: not who in operations asked for it, nor why."""
    return sentence_of(event.kind, event.cause, event.facts)


def sentence_of(kind: str, cause: str, facts: Mapping[str, Any]) -> str:
    """Return the sentence about an event of this kind, whose cause is blank unless it changed the status."""
    return _template(kind, cause).format_map(defaultdict(lambda: "unknown", facts))


def further_facts(event: SweepEvent) -> dict[str, Any]:
    """Return the facts that the sentence leaves out, by name; for operations."""
    shown = sentence(event)
    return {
        name: value
        for name, value in event.facts.items()
        if f"{{{name}}}" not in _template(event.kind, event.cause) and value not in ("", shown)
    }


def _template(kind: str, cause: str) -> str:
    return _STATUS_SENTENCES[cause] if kind == EventKind.STATUS else _SENTENCES[kind]


def why_it_waits(sweep: Sweep) -> str:
    """Return what an open sweep waits for, as a sentence; blank for a closed one."""
    if not sweep.is_open:
        return ""
    if sweep.status == SweepStatus.COMPLETED:
        final = SweepTransaction.Finality.FINAL
        was_final = sweep.transactions.filter(status=SweepTransaction.Status.ACCEPTED, finality=final).exists()
        reason = "Its block, which was final, is checked once more." if was_final else "Its block is not final yet."
    elif sweep.cancellation_requested_at is not None:
        reason = "Its cancellation on chain was requested, and no safe block shows it yet."
    elif Flag.REORGANISED in sweep.flags:
        reason = "Its block left the chain; the transaction may be mined again."
    else:
        reason = _missing_execution(sweep)
    return f"{reason} {sweep.last_error}".strip()


def _missing_execution(sweep: Sweep) -> str:
    statuses = list(sweep.transactions.values_list("status", flat=True))
    live = statuses.count(SweepTransaction.Status.SUBMITTED)
    if live:
        return f"No receipt yet for {live} reported transaction{'s' if live > 1 else ''}."
    if sweep.status == SweepStatus.VOID and sweep.deadline > timezone.now():
        return f"It was voided, but what was signed can be executed until {sweep.deadline:%H:%M:%S} UTC."
    if sweep.deadline <= timezone.now():
        return "Its deadline has passed; the chain has yet to prove that it was not executed."
    tried = "No known transaction executed it" if statuses else "No transaction is known"
    return f"{tried}; it can be executed until {sweep.deadline:%H:%M:%S} UTC."
