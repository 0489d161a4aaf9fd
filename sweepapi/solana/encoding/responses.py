"""Decoders that check what providers return before anything uses it: accounts, blockhashes, slots and amounts.

Field names and encodings are those of Solana's JSON-RPC methods; accounts are asked for in base64.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from struct import Struct
from typing import Any

from solders.hash import Hash
from solders.pubkey import Pubkey

from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.encoding.accounts import ClusterAccount, Holding, token_account
from sweepapi.solana.encoding.addresses import SYSVAR, public_key

PLANNED_SLOT_SECONDS = 0.2  # SIMD-0525 reduces the slot time from 0.4 s to this, in steps
_MIN_SAMPLE_SECONDS = 30  # samples have 60, in whole seconds
_SLOT_SECONDS_RANGE = (0.02, 2.0)  # so that no provider can have a sweep expire at once, or after hours

_U64_END = 2**64
_COUNTER_END = 2**40
_CLOCK = Struct("<QqQQq")  # slot, start of the epoch, epoch, epoch with a known leader schedule, time


@dataclass(frozen=True)
class LatestBlockhash:
    """A blockhash that transactions can be built on, and the last block height at which they can land."""

    blockhash: Hash
    last_valid_block_height: int


@dataclass(frozen=True)
class Clock:
    """The time that the cluster's validators agreed on for a slot."""

    slot: int
    unix_timestamp: int


@dataclass(frozen=True)
class EpochInfo:
    """Where the cluster is."""

    epoch: int
    slot: int
    block_height: int


def amount(value: object) -> int:
    """Return a number of lamports, or anything else that is a u64."""
    return _integer(value, _U64_END)


def counter(value: object) -> int:
    """Return a slot, a block height, an epoch or seconds, none of which reaches 2^40."""
    return _integer(value, _COUNTER_END)


def key(value: object) -> Pubkey:
    """Return a key given in base58."""
    try:
        return public_key(text(value))
    except ValueError as error:
        raise BadResponseError("expected a key") from error


def text(value: object) -> str:
    if isinstance(value, str):
        return value
    raise BadResponseError("expected text")


def account(value: object) -> ClusterAccount | None:
    """Return an account, or None if the cluster has none."""
    return None if value is None else _account(value)


def accounts(keys: int) -> Callable[[object], list[ClusterAccount | None]]:
    """Return the decoder of ``getMultipleAccounts`` for this number of keys."""

    def decode(value: object) -> list[ClusterAccount | None]:
        found = sequence(in_context(value))
        if len(found) != keys:
            raise BadResponseError("expected as many accounts as keys")
        return [account(one) for one in found]

    return decode


def holdings(wallet: Pubkey, program: Pubkey) -> Callable[[object], list[Holding]]:
    """Return the decoder of ``getTokenAccountsByOwner`` for a wallet and a token program."""

    def decode(value: object) -> list[Holding]:
        found = []
        for row in sequence(in_context(value)):
            fields = mapping(row)
            account = _account(fields.get("account"))
            token = token_account(account)
            if token is None or token.owner != wallet or token.program != program:
                raise BadResponseError("expected token accounts of this wallet")
            found.append(Holding(key(fields.get("pubkey")), account.lamports, len(account.data), token))
        return found

    return decode


def latest_blockhash(value: object) -> LatestBlockhash:
    """Return what ``getLatestBlockhash`` found."""
    fields = mapping(in_context(value))
    blockhash = Hash.from_bytes(bytes(key(fields.get("blockhash"))))
    return LatestBlockhash(blockhash, counter(fields.get("lastValidBlockHeight")))


def epoch_info(value: object) -> EpochInfo:
    """Return what ``getEpochInfo`` found."""
    fields = mapping(value)
    return EpochInfo(
        epoch=counter(fields.get("epoch")),
        slot=counter(fields.get("absoluteSlot")),
        block_height=counter(fields.get("blockHeight")),
    )


def slot_seconds(value: object) -> float:
    """Return how long a slot took in the newest of the minutes that ``getRecentPerformanceSamples`` lists.

    A node that has just started lists none, and local nodes only single seconds. Then it is the planned time, the
    shortest, so that no offer seems to last longer than it does.
    """
    newest = [mapping(sample) for sample in sequence(value)[:1]]
    seconds = sum(counter(sample.get("samplePeriodSecs")) for sample in newest)
    slots = sum(counter(sample.get("numSlots")) for sample in newest)
    if seconds < _MIN_SAMPLE_SECONDS:
        return PLANNED_SLOT_SECONDS
    shortest, longest = _SLOT_SECONDS_RANGE
    return min(max(seconds / max(slots, 1), shortest), longest)


def clock(value: object) -> Clock:
    """Return what ``getAccountInfo`` found under the clock's key."""
    found = account(in_context(value))
    if found is None or found.owner != SYSVAR or len(found.data) != _CLOCK.size:
        raise BadResponseError("expected the clock")
    slot, _, _, _, unix_timestamp = _CLOCK.unpack(found.data)
    return Clock(counter(slot), counter(unix_timestamp))


def in_context(value: object) -> object:
    """Return the value of an answer that also names its slot."""
    fields = mapping(value)
    counter(mapping(fields.get("context")).get("slot"))
    return fields.get("value")


def mapping(value: object) -> Mapping[str, Any]:
    if isinstance(value, dict):
        return value
    raise BadResponseError("expected an object")


def sequence(value: object) -> list[Any]:
    if isinstance(value, list):
        return value
    raise BadResponseError("expected a list")


def encoded(value: object) -> bytes:
    """Return bytes given in base64."""
    try:
        return base64.b64decode(text(value), validate=True)
    except (binascii.Error, ValueError) as error:
        raise BadResponseError("expected base64") from error


def _account(value: object) -> ClusterAccount:
    fields = mapping(value)
    match fields:
        case {"data": [content, "base64"], "executable": bool(executable)}:
            pass
        case _:
            raise BadResponseError("expected an account in base64")
    return ClusterAccount(
        lamports=amount(fields.get("lamports")),
        owner=key(fields.get("owner")),
        data=encoded(content),
        executable=executable,
    )


def _integer(value: object, end: int) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < end:
        return value
    raise BadResponseError("expected an integer in its range")
