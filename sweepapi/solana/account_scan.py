"""Lists every transaction that names an account, up to the final slot.

What is missing here would be missed for good. So a list counts only if every provider that answers shows the same, and
at least two of them do where two are configured. A provider that has not all of these slots has not answered.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sweepapi.rpc import Provider, ProviderPool
from sweepapi.rpc.errors import ChainUnavailableError
from sweepapi.solana.history import Head, Listed, Listing, head_calls, take_head
from sweepapi.solana.opinions import Found, ask_one, needed, read_from

MAX_PAGES = 200  # of a thousand: more than a fee account is named in days


@dataclass(frozen=True)
class AccountScan:
    """The final transactions that name an account, oldest first, up to a slot, itself included."""

    head: Head
    last_slot: int
    listed: Sequence[Listed]


def scan(pool: ProviderPool, account: str, *, first_slot: int) -> AccountScan:
    """Return what names the account from a slot on.

    Raises ``ChainUnavailableError`` if fewer providers answer than are needed, if they don't agree, or if that is too
    much for one scan.
    """
    answers = {provider: ask_one(pool, provider, head_calls()) for provider in pool.providers}
    heads = {provider: take_head(values)[0] for provider, values in answers.items() if values is not None}
    usable = {provider: head for provider, head in heads.items() if head.first_slot <= first_slot}
    if len(usable) < needed(pool):
        raise ChainUnavailableError("too few providers answer, or have the history")
    # Of two providers or more, one that lies can't raise it either.
    last_slot = sorted(head.final_slot for head in usable.values())[-needed(pool)]
    lists = [
        [one for one in listed if first_slot <= one.slot <= last_slot]
        for provider, head in usable.items()
        if head.final_slot >= last_slot and (listed := _list(pool, provider, account, first_slot)) is not None
    ]
    if len(lists) < needed(pool) or any(one != lists[0] for one in lists):
        raise ChainUnavailableError("the providers disagree about the transactions of an account")
    return AccountScan(next(iter(usable.values())), last_slot, lists[0][::-1])


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
    shown = [read_from(pool, provider, listed, commitment="finalized") for provider in pool.providers]
    agreed = {}
    for one in listed:
        found = [each[one.signature] for each in shown if one.signature in each]
        if len(found) >= needed(pool) and all(each == found[0] for each in found):
            agreed[one.signature] = found[0]
    return agreed
