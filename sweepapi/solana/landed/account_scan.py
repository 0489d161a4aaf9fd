"""Lists every transaction that names an account, up to the final slot.

What is missing here would be missed for good. So a list counts only if two providers show the same where two are
configured, and no two another one. A provider that has not all of these slots has not answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sweepapi.rpc import Provider, ProviderPool
from sweepapi.rpc.agreement import Opinion, decide, report
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.landed.history import ClusterHead, Listed, Listing, head_calls, take_head
from sweepapi.solana.landed.opinions import Found, ask_each, ask_one, read_from

MAX_PAGES = 200  # of a thousand: more than a fee account is named in days


@dataclass(frozen=True)
class AccountScan:
    """The final transactions that name an account, oldest first, up to a slot, itself included."""

    head: ClusterHead
    last_slot: int
    listed: Sequence[Listed]


def scan(pool: ProviderPool, account: str, *, first_slot: int) -> AccountScan:
    """Return what names the account from a slot on.

    Raises ``ChainUnavailableError`` if fewer providers answer than are needed, if they don't agree, or if that is too
    much for one scan.
    """
    heads = {provider: take_head(values)[0] for provider, values in ask_each(pool, head_calls()).items()}
    usable = {provider: head for provider, head in heads.items() if head.first_slot <= first_slot}
    if len(usable) < pool.needed:
        raise ChainUnavailableError("too few providers answer, or have the history")
    # Of two providers or more, one that lies can't raise it either.
    last_slot = sorted(head.final_slot for head in usable.values())[-pool.needed]
    lists = [
        Opinion(provider, [one for one in listed if first_slot <= one.slot <= last_slot])
        for provider, head in usable.items()
        if head.final_slot >= last_slot and (listed := _list(pool, provider, account, first_slot)) is not None
    ]
    decision = decide(lists, needed=pool.needed)
    report(pool, decision, subject=account)
    if decision.conclusion is None:
        raise ChainUnavailableError("the providers disagree about the transactions of an account")
    return AccountScan(usable[decision.supporters[0]], last_slot, decision.conclusion[::-1])


def _list(pool: ProviderPool, provider: Provider, account: str, first_slot: int) -> list[Listed] | None:
    """Return what a provider lists, newest first, from a slot on; None if it refuses."""
    listed: list[Listed] = []
    listing = Listing(account, commitment="finalized")
    for _ in range(MAX_PAGES):
        values = ask_one(pool, provider, [listing.call])
        if values is None or not isinstance(values[0], tuple):
            return None
        listed += values[0]
        if len(values[0]) < listing.limit or listed[-1].slot < first_slot:
            return listed
        listing = replace(listing, before=listed[-1].signature)
    raise ChainUnavailableError("too many transactions name the account for one scan")


def read_agreed(pool: ProviderPool, listed: Sequence[Listed]) -> dict[str, Found]:
    """Return those of these transactions that as many providers as needed show alike, by signature."""
    shown = {one: read_from(pool, one, listed, commitment="finalized") for one in pool.providers}
    agreed = {}
    for one in listed:
        opinions = [Opinion(provider, found.get(one.signature)) for provider, found in shown.items()]
        decision = decide(opinions, needed=pool.needed)
        report(pool, decision, subject=one.signature)
        if decision.conclusion is not None:
            agreed[one.signature] = decision.conclusion
    return agreed
