"""Reads a payment on a Solana cluster: from what the balances of wallets in the token changed by.

Wrapped SOL is a token like any other; SOL itself, and SOL that is wrapped in the same transaction, are not payments.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from solders.transaction import VersionedTransaction

from sweepapi.payments import Expected, Movement, Opinion, Payment, find_payment
from sweepapi.rpc import Call, Provider, ProviderPool
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana import responses

_AMOUNT = re.compile(r"[0-9]{1,20}", re.ASCII)  # fits 64 bits
_OPTIONS = {"encoding": "base64", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}


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


def _final_slot(result: object) -> int | None:
    """Return the slot of the transaction if it is finalized."""
    match responses.in_context(result):
        case [{"confirmationStatus": "finalized", "slot": slot}]:
            return responses.counter(slot)
        case [None] | [{"confirmationStatus": str() | None, "slot": int()}]:
            return None
    raise BadResponseError("getSignatureStatuses: malformed")


def _landed_of(signature: str, senders: Collection[str]) -> Callable[[object], _Landed | None]:
    """Return the decoder of a transaction, which has to have this signature."""

    def decode(result: object) -> _Landed | None:
        match result:
            case None:
                return None
            case {"transaction": [content, "base64"], "slot": slot, "meta": {"err": error} as meta}:
                if _signature_of(responses.encoded(content)) == signature:
                    changes = tuple(_changes(responses.mapping(meta)))
                    return _Landed(responses.counter(slot), error is None, changes, senders)
        raise BadResponseError("getTransaction: malformed, or another transaction")

    return decode


def _signature_of(transaction: bytes) -> str:
    try:
        return str(VersionedTransaction.from_bytes(transaction).signatures[0])
    except (IndexError, ValueError) as error:
        raise BadResponseError("getTransaction: not a transaction") from error


def _changes(meta: Mapping[str, object]) -> Iterator[tuple[str, str, int]]:
    """Yield the changes of balances; a wallet may have several accounts of a token."""
    changes: Counter[tuple[str, str]] = Counter()
    for name, sign in (("preTokenBalances", -1), ("postTokenBalances", 1)):
        for balance in map(responses.mapping, responses.sequence(meta.get(name))):
            holding = str(responses.key(balance.get("mint"))), str(responses.key(balance.get("owner")))
            changes[holding] += sign * _amount(responses.mapping(balance.get("uiTokenAmount")).get("amount"))
    for (mint, owner), change in sorted(changes.items()):
        if change:
            yield mint, owner, change


def _amount(value: object) -> int:
    text = responses.text(value)
    if not _AMOUNT.fullmatch(text):
        raise BadResponseError("expected an amount")
    return int(text)
