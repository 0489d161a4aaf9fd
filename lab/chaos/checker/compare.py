"""Compares every sweep and every entry with what the chain and the journal say they must be."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from lab.chaos.checker.books import Books, Entry, Execution, StoredSweep
from lab.chaos.checker.findings import Finding, Kind
from lab.chaos.checker.promises import Promise
from lab.chaos.checker.truth import BPS, Executed, Truth

NOT_EXECUTED = Execution("", "expired", None, None, None, None, None)
ADOPTED = "adopted"  # the flag of a sweep that was found on chain after its build was lost


def compare(promises: dict[str, Promise], truth: Truth, books: Books) -> Iterator[Finding]:
    """Yield everything that is wrong."""
    known = {identity: promise for promise in promises.values() for identity in promise.terms.identities}
    for identity in truth.repeated:
        yield Finding(Kind.DOUBLED, "", None, f"the chain executed {identity} twice")
    for identity in truth.executed.keys() - known.keys():
        yield Finding(Kind.LOST, "", None, f"the chain executed {identity}, which no build returned")
    yield from _repeated_identities(promises)
    for promise in promises.values():
        stored = books.sweeps.get(promise.terms.sweep) or _adopted(promise, truth, books)
        if stored is None:
            yield from _absent(promise, truth)
        else:
            yield from _sweep(promise, stored, truth)
            yield from _entries(promise, stored, truth, books)
    for stored in books.sweeps.values():
        yield from _at_rest(stored, promises.get(stored.sweep))
        if stored.sweep not in promises and ADOPTED not in stored.flags:
            yield from _unanswered(stored)
    yield from _foreign_entries(books, truth)


def _repeated_identities(promises: dict[str, Promise]) -> Iterator[Finding]:
    sweeps = defaultdict(list)
    for promise in promises.values():
        for identity in promise.terms.identities:
            sweeps[promise.terms.contract, identity].append(promise)
    for (_, identity), several in sweeps.items():
        for promise in several[1:]:
            sentence = f"identity {identity} was given out before, to sweep {several[0].terms.sweep}"
            yield _finding(Kind.DOUBLED, promise, sentence)


def _adopted(promise: Promise, truth: Truth, books: Books) -> StoredSweep | None:
    """Return the sweeps that took the place of a forgotten one, each with one of its executions, as one sweep."""
    adopted = {
        execution.tx_hash: (stored, execution)
        for stored in books.sweeps.values()
        if ADOPTED in stored.flags
        for execution in stored.executions
    }
    executed = [truth.executed.get(identity) for identity in promise.terms.identities]
    found = [None if one is None else adopted.get(one.tx_hash) for one in executed]
    first = next((one for one in found if one is not None), None)
    if first is None:
        return None
    return replace(first[0], executions=[NOT_EXECUTED if one is None else one[1] for one in found])


def _absent(promise: Promise, truth: Truth) -> Iterator[Finding]:
    executed = [one for one in promise.terms.identities if one in truth.executed]
    if executed:
        yield _finding(
            Kind.LOST, promise, f"it was executed in {truth.executed[executed[0]].tx_hash} and is not stored"
        )
    elif not promise.may_be_forgotten:
        yield _finding(Kind.LOST, promise, "it was returned by a build and is not stored")


def _sweep(promise: Promise, stored: StoredSweep, truth: Truth) -> Iterator[Finding]:
    allowed = expected_statuses(promise, truth)
    if stored.status not in allowed:
        executed = any(one in truth.executed for one in promise.terms.identities)
        kind = Kind.LOST if executed else Kind.BOOKS
        yield _finding(kind, promise, f"its status is {stored.status}, and must be {' or '.join(sorted(allowed))}")
    by_position = zip(promise.terms.identities, stored.executions, strict=False)
    for identity, execution in by_position:
        if identity in truth.executed:
            yield from _amounts(promise, execution, truth.executed[identity])
        elif execution.status == "executed":
            yield _finding(Kind.BOOKS, promise, f"execution {identity} is recorded as executed, and is not on chain")


def expected_statuses(promise: Promise, truth: Truth) -> set[str]:
    """Return the statuses that the sweep may end in; more than one where an answer was lost."""
    identities = promise.terms.identities
    if any(one in truth.executed for one in identities):
        return {"completed"}
    if any(one in truth.cancelled for one in identities) or promise.is_withdrawn:
        return {"void"}
    allowed = {"void"} if promise.may_be_withdrawn else set()
    if any(one in truth.landed for one in identities):
        return {"failed"}
    if promise.terms.mode == "v1":
        return {"expired", "failed"} if promise.sent else {"expired"}
    if promise.is_reported:
        return allowed | {"failed"}
    # A transaction that was sent may have been found before a reorg dropped it.
    return allowed | ({"expired", "failed"} if promise.may_be_reported or promise.sent else {"expired"})


def _amounts(promise: Promise, recorded: Execution, chain: Executed) -> Iterator[Finding]:
    terms = promise.terms
    fee = chain.gross * terms.fee_bps // BPS
    is_fee_exact = chain.total_fee == fee or terms.mode == "v1"  # which rounds the fee of each token
    if not is_fee_exact or chain.wallet.lower() != terms.wallet.lower():
        yield _finding(Kind.BOOKS, promise, f"{chain.tx_hash} took {chain.total_fee} from {chain.wallet}, not {fee}")
    expected = (chain.gross, chain.total_fee, chain.partner_part(promise.terms.share_bps), chain.user_amount)
    found = (recorded.gross, recorded.total_fee, recorded.partner_fee, recorded.user_amount)
    if recorded.status == "executed" and found != expected:
        yield _finding(Kind.BOOKS, promise, f"its amounts are {found}, on chain {expected}")
    if recorded.status == "executed" and recorded.tx_hash != chain.tx_hash:
        yield _finding(Kind.BOOKS, promise, f"{recorded.tx_hash} is accepted, and {chain.tx_hash} executed it")


def _entries(promise: Promise, stored: StoredSweep, truth: Truth, books: Books) -> Iterator[Finding]:
    for identity, execution in zip(promise.terms.identities, stored.executions, strict=False):
        entries = books.standing(execution.execution)
        chain = truth.executed.get(identity)
        if len(entries) > 1:
            yield _finding(Kind.DOUBLED, promise, f"its fee is booked {len(entries)} times")
        elif chain is None and entries:
            yield _finding(Kind.DOUBLED, promise, f"entry {entries[0].entry} books a fee that is not on chain")
        elif chain is not None and chain.total_fee and not entries:
            yield _finding(Kind.LOST, promise, f"the fee of {chain.tx_hash} is not booked")
        elif chain is not None and entries:
            yield from _postings(promise, entries[0], chain)


def _postings(promise: Promise, entry: Entry, chain: Executed) -> Iterator[Finding]:
    partner_fee = chain.partner_part(promise.terms.share_bps)
    account = "partner_settled" if promise.terms.mode == "v5" else "partner_payable"
    expected = {
        ("fees_charged", chain.total_fee),
        (account, -partner_fee),
        ("protocol_revenue", partner_fee - chain.total_fee),
    }
    found = {(name, amount) for name, amount, _ in entry.postings}
    if found != {(name, amount) for name, amount in expected if amount} or len(found) != len(entry.postings):
        yield _finding(
            Kind.BOOKS, promise, f"entry {entry.entry} has {sorted(found)}, and must have {sorted(expected)}"
        )
    if (entry.tx_hash, entry.asset) != (chain.tx_hash, chain.output):
        yield _finding(Kind.BOOKS, promise, f"entry {entry.entry} is about {entry.tx_hash}, and not {chain.tx_hash}")


def _at_rest(stored: StoredSweep, promise: Promise | None) -> Iterator[Finding]:
    story = promise.terms.story if promise else None
    if stored.is_open:
        sentence = f"it is open and {stored.status}, with the flags {stored.flags}: {stored.last_error!r}"
        yield Finding(Kind.STUCK, stored.sweep, story, sentence)
    elif stored.is_waiting:
        yield Finding(Kind.STUCK, stored.sweep, story, "it is closed, and a candidate is still submitted")


def _unanswered(stored: StoredSweep) -> Iterator[Finding]:
    """Check a sweep whose build was not answered: the partner does not know it, so it can only expire."""
    if not stored.is_open and stored.status != "expired":
        yield Finding(Kind.BOOKS, stored.sweep, None, f"no build returned it, and it is {stored.status}")


def _foreign_entries(books: Books, truth: Truth) -> Iterator[Finding]:
    hashes = {one.tx_hash for one in truth.executed.values()}
    for entry in books.all_standing():
        if entry.tx_hash not in hashes:
            yield Finding(
                Kind.DOUBLED, entry.sweep or "", None, f"entry {entry.entry} books {entry.tx_hash}, not on chain"
            )
    for entry in books.entries:
        if sum(amount for _, amount, _ in entry.postings) != 0:
            yield Finding(Kind.BOOKS, entry.sweep or "", None, f"entry {entry.entry} does not balance")


def _finding(kind: Kind, promise: Promise, sentence: str) -> Finding:
    return Finding(kind, promise.terms.sweep, promise.terms.story, f"{promise.terms.mode}: {sentence}")
