"""Reads a payment on a Solana cluster: from what the balances of wallets in the token changed by.

Wrapped SOL is a token like any other; SOL itself, and SOL that is wrapped in the same transaction, are not payments.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from sweepapi.payments import Expected, Movement, Payment, PaymentOpinion, find_payment
from sweepapi.rpc import ErrorPolicy, Provider, ProviderPool
from sweepapi.solana.landed.history import statuses_call
from sweepapi.solana.landed.reading import transaction_call
from sweepapi.solana.landed.transactions import Landed


@dataclass(frozen=True)
class _Included:
    block_number: int  # the slot
    has_succeeded: bool
    changes: tuple[tuple[str, str, int], ...]  # mint, owner and the change of the owner's balance; sorted, none is zero
    senders: Collection[str]

    def movements(self, asset: str) -> Sequence[Movement]:
        """Return what each wallet gained, from the wallet that lost it.

        If other wallets lost it as well, a gain is not known to be ours. What came from no wallet comes from its mint.
        """
        changes = [(owner, change) for mint, owner, change in self.changes if mint == asset]
        losers = [owner for owner, change in changes if change < 0]
        sources = [owner for owner in losers if owner not in self.senders]
        if sum(change for _, change in changes) > 0:
            sources.append(asset)  # some of it was minted, or wrapped
        return [Movement((sources or losers)[0], owner, change) for owner, change in changes if change > 0]


def check_payment(expected: Expected, *, senders: Collection[str], pool: ProviderPool) -> Payment:
    """Return the payment by the senders; raises as ``find_payment`` does."""
    return find_payment(
        expected, senders=senders, pool=pool, ask=lambda exclude: _ask(senders, pool, expected.tx_hash, exclude)
    )


def _ask(senders: Collection[str], pool: ProviderPool, signature: str, exclude: Sequence[Provider]) -> PaymentOpinion:
    calls = [transaction_call(signature, commitment="confirmed"), statuses_call([signature])]
    # A provider that refuses, because it keeps no history, has no opinion.
    required = [replace(call, error_policy=ErrorPolicy.NONE, read_error=None) for call in calls]
    provider, (landed, (status,)) = pool.ask(required, exclude=exclude)
    if landed is None:
        return PaymentOpinion(provider, None, is_final=False)
    included = _Included(landed.slot, landed.is_successful, tuple(_changes(landed)), senders)
    is_final = status is not None and status.is_final and status.slot == landed.slot
    return PaymentOpinion(provider, included, is_final=is_final)


def _changes(landed: Landed) -> Iterator[tuple[str, str, int]]:
    """Yield the changes of balances; a wallet may have several accounts of a token."""
    changes: Counter[tuple[str, str]] = Counter()
    for sign, balances in ((-1, landed.before), (1, landed.after)):
        for balance in balances.values():
            changes[balance.mint, balance.owner] += sign * balance.amount
    for (mint, owner), change in sorted(changes.items()):
        if change:
            yield mint, owner, change
