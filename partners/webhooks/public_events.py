"""The public events: what partners are notified of, when, and in which words; each row is a type of messages.

The writer of sweeps makes a message of each change of a sweep that a row describes, in the statement that stores the
change. OpenAPI's ``webhooks`` and the types that an endpoint can choose are generated from the same rows.
"""

from collections.abc import Callable
from typing import NamedTuple

PING = "webhook.ping"
DISABLED = "webhook.disabled"  # another endpoint of the partner was


class SweepChange(NamedTuple):
    """What became of a sweep: its status changed, or it was closed."""

    before: str  # its status; blank if it was just stored
    after: str
    closes: bool  # nothing can change it any more


class PublicEvent(NamedTuple):
    """A type of messages about sweeps."""

    type: str
    when: Callable[[SweepChange], bool]
    final: bool  # always; the others are if the sweep is closed by then
    sentence: str  # for the partner
    status: str  # of the example
    number: int  # its place among the messages of the example's sweep
    state: str | None = None  # the example of a status object, by its file


# At most one row holds.
PUBLIC_EVENTS = (
    PublicEvent(
        "sweep.completed",
        lambda change: change.after == "completed" and not change.closes,
        final=False,
        sentence="The sweep was executed; a reorganisation may still reverse it.",
        status="completed",
        number=1,
        state="completed",
    ),
    PublicEvent(
        "sweep.failed",
        lambda change: change.after == "failed" and change.before != "completed",
        final=False,
        sentence="The transaction was reverted; unless `final`, the user can still execute the sweep.",
        status="failed",
        number=1,
    ),
    PublicEvent(
        "sweep.expired",
        lambda change: change.after == "expired" and change.closes,
        final=True,
        sentence="The sweep was not executed in time, and can't be any more, except on Solana with a newer blockhash.",
        status="expired",
        number=1,
    ),
    PublicEvent(
        "sweep.voided",
        lambda change: change.after == "void" and change.before != "completed",
        final=False,
        sentence="The sweep was withdrawn; unless `final`, a user who signed it can still execute it.",
        status="void",
        number=1,
        state="cancelled",
    ),
    PublicEvent(
        "sweep.reversed",
        lambda change: change.before == "completed" and change.after != "completed",
        final=False,
        sentence="The sweep had been completed, and its block left the chain.",
        status="pending",
        number=2,
        state="pending",
    ),
    PublicEvent(
        "sweep.finalized",
        lambda change: change.after == "completed" and change.closes,
        final=True,
        sentence="The sweep is completed, and that can't be reversed any more.",
        status="completed",
        number=2,
        state="completed",
    ),
)
SWEEP_TYPES = [event.type for event in PUBLIC_EVENTS]
MESSAGE_TYPES = [*SWEEP_TYPES, PING, DISABLED]


def type_of(change: SweepChange) -> str | None:
    """Return the type of the message about a change; None if partners are not notified of it."""
    return next((event.type for event in PUBLIC_EVENTS if event.when(change)), None)
