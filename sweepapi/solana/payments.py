"""Reads a payment on a Solana cluster: from what the balances of wallets in the token changed by.

Wrapped SOL is a token like any other; SOL itself, and SOL that is wrapped in the same transaction, are not payments.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sweepapi.payments import Expected, Movement, Opinion, Payment, find_payment
from sweepapi.rpc import Call, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.addresses import public_key

_SLOT_END = 2**40
_AMOUNT = re.compile(r"[0-9]{1,20}", re.ASCII)  # fits 64 bits
_OPTIONS = {"encoding": "json", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}


@dataclass(frozen=True)
class _Landed:
    slot: int
    has_succeeded: bool
    changes: tuple[tuple[str, str, int], ...]  # mint, owner and the change of the owner's balance; sorted, none is zero
    senders: Collection[str]

    @property
    def block_number(self) -> int:
        return self.slot

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


def _ask(senders: Collection[str], pool: ProviderPool, signature: str, exclude: Provider | None) -> Opinion:
    calls = [
        Call("getTransaction", (signature, _OPTIONS), _landed_of(signature, senders)),
        Call("getSignatureStatuses", ([signature], {"searchTransactionHistory": True}), _final_slot),
    ]
    provider, (landed, final_slot) = pool.ask(calls, exclude=exclude)
    return Opinion(provider, landed, is_final=landed is not None and final_slot == landed.slot)


def _final_slot(result: Any) -> int | None:  # noqa: ANN401 - JSON of any shape
    """Return the slot of a finalized transaction."""
    try:
        (status,) = result["value"]
        return _slot(status["slot"]) if status and status["confirmationStatus"] == "finalized" else None
    except (KeyError, TypeError, ValueError) as error:
        raise BadResponseError("getSignatureStatuses: malformed") from error


def _landed_of(signature: str, senders: Collection[str]) -> Callable[[Any], _Landed | None]:
    """Return the decoder of a transaction, which has to have this signature."""

    def decode(result: Any) -> _Landed | None:  # noqa: ANN401 - as above
        try:
            return None if result is None else _landed(result, signature, senders)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise BadResponseError("getTransaction: malformed, or another transaction") from error

    return decode


def _landed(result: Any, signature: str, senders: Collection[str]) -> _Landed:  # noqa: ANN401 - as above
    if result["transaction"]["signatures"][0] != signature:
        raise ValueError("another transaction")
    meta = result["meta"]
    return _Landed(_slot(result["slot"]), meta["err"] is None, tuple(_changes(meta)), senders)


def _slot(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < _SLOT_END:
        raise ValueError("not a slot")
    return value


def _changes(meta: Any) -> Iterator[tuple[str, str, int]]:  # noqa: ANN401 - as above
    """Yield the changes of balances; a wallet may have several accounts of a token."""
    changes: Counter[tuple[str, str]] = Counter()
    for name, sign in (("preTokenBalances", -1), ("postTokenBalances", 1)):
        for balance in meta[name]:
            mint, owner = (str(public_key(balance[key])) for key in ("mint", "owner"))
            changes[mint, owner] += sign * _amount(balance["uiTokenAmount"]["amount"])
    for (mint, owner), change in sorted(changes.items()):
        if change:
            yield mint, owner, change


def _amount(text: str) -> int:
    if not _AMOUNT.fullmatch(text):
        raise ValueError("not an amount")
    return int(text)
