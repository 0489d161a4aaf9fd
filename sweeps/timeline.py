"""The history of a sweep in sentences, and what it waits for; for partners and operators."""

from django.utils import timezone

from sweeps.models import Cause, EventKind, Flag, Sweep, SweepEvent, SweepStatus, SweepTransaction

_STATUS_SENTENCES = {
    Cause.BUILT: "The sweep was built.",
    Cause.REPORTED: "Another transaction was reported, so the sweep is pending again.",
    Cause.EXECUTED: "The sweep was executed.",
    Cause.REVERTED: "The transaction reverted.",
    Cause.RAN_OUT: "The deadline passed on chain, and the sweep can no longer be executed.",
    Cause.VOIDED: "The sweep was voided.",
    Cause.CANCELLED: "The sweep was cancelled on chain.",
    Cause.REORGANISED: "The block of its transaction left the chain, so the sweep is pending again.",
}
_SENTENCES = {
    EventKind.REPORTED: "A transaction was reported.",
    EventKind.DISPLACED: "The transaction was never seen, and a newer one took its place.",
    EventKind.DISCOVERED: "A transaction that was not reported was found on chain.",
    EventKind.ACCEPTED: "The transaction executed the sweep in block {block}.",
    EventKind.REVERTED: "The transaction reverted.",
    EventKind.REJECTED: "The transaction does not match what was signed: {reason}",
    EventKind.REORGANISED: "Block {block} of the transaction left the chain.",
    EventKind.FINALITY: "The transaction's block is {finality}.",
    EventKind.FLAG_RAISED: "Flag raised: {flag}.",
    EventKind.FLAG_CLEARED: "Flag cleared: {flag}.",
    EventKind.POSTED: "The fee was booked.",
    EventKind.REVERSED: "The booking of the fee was reversed.",
    EventKind.CANCELLATION_REQUESTED: "Cancellation on chain was requested.",
    EventKind.CLOSED: "The sweep is closed: nothing can change any more.",
}


def sentence(event: SweepEvent) -> str:
    """Return the event as a sentence that a partner may read."""
    if event.kind == EventKind.STATUS:
        return _STATUS_SENTENCES[Cause(event.cause)]
    return _SENTENCES[EventKind(event.kind)].format_map(event.facts)


def why_it_waits(sweep: Sweep) -> str:
    """Return what an open sweep waits for, as a sentence; blank for a closed one."""
    if not sweep.is_open:
        return ""
    live = sweep.transactions.filter(status=SweepTransaction.Status.SUBMITTED).count()
    if sweep.status == SweepStatus.COMPLETED:
        reason = "Its block is not final yet."
    elif sweep.cancellation_requested_at is not None:
        reason = "Its cancellation on chain is not safe yet."
    elif Flag.REORGANISED in sweep.flags:
        reason = "Its block left the chain; the transaction may be mined again."
    elif live:
        reason = f"No receipt yet for {live} reported transaction{'s' if live > 1 else ''}."
    elif sweep.deadline > timezone.now():
        reason = f"No transaction was reported; it can be executed until {sweep.deadline:%H:%M:%S} UTC."
    else:
        reason = "Its deadline has passed; the chain has yet to prove that it was not executed."
    return f"{reason} {sweep.last_error}".strip()
