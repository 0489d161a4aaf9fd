"""What the journal says about each sweep: its terms, and what the partner was promised or may not know."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

Entry = dict[str, Any]

STORED = (200, 202, 422)  # statuses of a confirm after which its hash is stored
OK = 200


@dataclass(frozen=True)
class Terms:
    """A build that was answered."""

    sweep: str
    mode: str  # v5, v4 or v1
    story: int
    identities: tuple[str, ...]  # nonce, reference, or on Solana one reference key per transaction
    contract: str  # in lower case; blank on Solana
    wallet: str
    output: str
    fee_bps: int
    share_bps: int
    partner: int
    deadline: int


@dataclass
class Promise:
    """What is known about one sweep, apart from the chain; what ``may`` be is uncertain, since answers get lost."""

    terms: Terms
    may_be_forgotten: bool = False  # the database went back to a copy that was taken before
    sent: list[str] = field(default_factory=list)
    is_reported: bool = False
    may_be_reported: bool = False
    is_withdrawn: bool = False
    may_be_withdrawn: bool = False


class Window:
    """The entries of the journal whose effects were lost with the commits after a copy of the database."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._spans = list(_spans(entries))

    def __contains__(self, number: int) -> bool:
        return any(first <= number <= last for first, last in self._spans)


def _spans(entries: Sequence[Entry]) -> Iterator[tuple[int, int]]:
    """Yield from the begin of each copy to the end of the fail-over to it."""
    began: int | None = None
    for entry in entries:
        if entry["kind"] == "copying":
            began = entry["n"]
        elif entry["kind"] == "failed_over" and began is not None:
            yield began, entry["n"]
            began = None


def read_promises(entries: Sequence[Entry]) -> dict[str, Promise]:
    """Return what is known about each sweep that a build returned."""
    window = Window(entries)
    promises: dict[str, Promise] = {}
    sent = defaultdict(list)
    for entry in entries:
        if entry["kind"] == "built":
            promises[entry["sweep"]] = Promise(_terms(entry), may_be_forgotten=entry["n"] in window)
        elif entry["kind"] == "sent":
            for sweep in entry["sweeps"]:
                sent[sweep].append(entry["hash"])
        elif entry["kind"] in ("asked", "got") and entry.get("sweep") in promises:
            _note(promises[entry["sweep"]], entry, is_lost=entry["n"] in window)
    for sweep, hashes in sent.items():
        promises[sweep].sent = hashes
    return promises


def _note(promise: Promise, entry: Entry, *, is_lost: bool) -> None:
    if entry["op"] == "confirm":
        promise.may_be_reported = True
        promise.is_reported |= entry.get("http") in STORED and not is_lost
    elif entry["op"] == "cancel":
        promise.may_be_withdrawn = True
        promise.is_withdrawn |= entry.get("http") == OK and not is_lost


def _terms(entry: Entry) -> Terms:
    identities = tuple(entry["references"]) if entry["mode"] == "v1" else (entry["identity"],)
    return Terms(
        sweep=entry["sweep"],
        mode=entry["mode"],
        story=entry["story"],
        identities=identities,
        contract=entry.get("contract", "").lower(),
        wallet=entry["wallet"],
        output=entry["output"],
        fee_bps=entry["fee_bps"],
        share_bps=entry["share_bps"],
        partner=entry["partner"],
        deadline=entry["deadline"],
    )
