"""The JSON-RPC calls that read what a cluster remembers: signatures by account, their statuses, and blocks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from solders.signature import Signature

from sweepapi.rpc import Call, ErrorPolicy
from sweepapi.rpc.errors import BadResponseError
from sweepapi.solana.encoding import responses

PAGE = 1_000  # the most signatures that one call returns
# Of transactions that are read. Version 1 (SIMD-0385) has up to 4,096 bytes, no lookup tables, and its compute budget
# beside the instructions. We build version 0; a wallet may rewrite that, and payments may have any version.
NEWEST_VERSION = 1


@dataclass(frozen=True)
class ClusterHead:
    """How far a provider is, and how far back its history goes."""

    first_slot: int
    final_slot: int
    final_height: int  # of the block at that slot
    slot: int  # confirmed


@dataclass(frozen=True)
class Listing:
    """Which transactions that name an account to list, the newest first."""

    account: str
    limit: int = PAGE
    commitment: str = "confirmed"
    before: str = ""  # a signature, left out itself; blank to begin with the newest
    until: str = ""  # as above; blank to go on to the oldest
    min_context_slot: int = 0  # a node that has not reached it refuses

    @property
    def call(self) -> Call:
        """The call, whose answer may be a node's refusal."""
        options: dict[str, object] = {"limit": self.limit, "commitment": self.commitment}
        options |= {name: value for name, value in (("before", self.before), ("until", self.until)) if value}
        if self.min_context_slot:
            options["minContextSlot"] = self.min_context_slot
        return Call("getSignaturesForAddress", (self.account, options), _listed_within(self.limit), ErrorPolicy.ANY)


@dataclass(frozen=True)
class Listed:
    """A transaction that names an account."""

    signature: str
    slot: int
    is_final: bool


@dataclass(frozen=True)
class SignatureStatus:
    """Where a transaction is."""

    slot: int
    is_final: bool


def head_calls() -> list[Call]:
    """Return the calls of a ``ClusterHead``; ``take_head`` reads their results."""
    return [
        Call("getFirstAvailableBlock", (), responses.counter),
        Call("getEpochInfo", ({"commitment": "finalized"},), responses.epoch_info),
        Call("getSlot", ({"commitment": "confirmed"},), responses.counter),
    ]


def take_head(values: Sequence[Any]) -> tuple[ClusterHead, Sequence[Any]]:
    """Return the head and the results of the other calls."""
    first_slot, final, slot, *rest = values
    return ClusterHead(first_slot, final.slot, final.block_height, slot), rest


def statuses_call(signatures: Sequence[str]) -> Call:
    """Return the call for the statuses of these transactions, each None while the node does not have it."""
    options = {"searchTransactionHistory": True}
    return Call("getSignatureStatuses", (list(signatures), options), _statuses_of(len(signatures)), ErrorPolicy.ANY)


def block_hash_call(slot: int, *, commitment: str) -> Call:
    """Return the call for the hash of the block at a slot."""
    return Call("getBlock", (slot, _block_options(commitment)), _block_hash, ErrorPolicy.ANY)


def block_time_call(slot: int) -> Call:
    """Return the call for the time of the final block at a slot, in seconds since 1970."""
    return Call("getBlock", (slot, _block_options("finalized")), _block_time)


def _block_options(commitment: str) -> dict[str, object]:
    return {
        "commitment": commitment,
        "transactionDetails": "none",
        "rewards": False,
        "maxSupportedTransactionVersion": NEWEST_VERSION,
    }


def _listed_within(limit: int) -> Callable[[object], tuple[Listed, ...]]:
    def decode(value: object) -> tuple[Listed, ...]:
        listed = tuple(_listed(responses.mapping(one)) for one in responses.sequence(value))
        slots = [one.slot for one in listed]
        if len(listed) > limit or slots != sorted(slots, reverse=True):
            raise BadResponseError("expected signatures from the newest on")
        if len({one.signature for one in listed}) < len(listed):
            raise BadResponseError("a signature is listed twice")
        return listed

    return decode


def _listed(fields: Mapping[str, Any]) -> Listed:
    return Listed(
        signature=_signature(fields.get("signature")),
        slot=responses.counter(fields.get("slot")),
        is_final=fields.get("confirmationStatus") == "finalized",
    )


def _statuses_of(count: int) -> Callable[[object], tuple[SignatureStatus | None, ...]]:
    def decode(value: object) -> tuple[SignatureStatus | None, ...]:
        statuses = responses.sequence(responses.in_context(value))
        if len(statuses) != count:
            raise BadResponseError("expected as many statuses as signatures")
        return tuple(None if one is None else _status(responses.mapping(one)) for one in statuses)

    return decode


def _status(fields: Mapping[str, Any]) -> SignatureStatus | None:
    if fields.get("confirmationStatus") == "processed":  # in a block that the cluster may never confirm
        return None
    return SignatureStatus(
        responses.counter(fields.get("slot")), is_final=fields.get("confirmationStatus") == "finalized"
    )


def _signature(value: object) -> str:
    try:
        return str(Signature.from_string(responses.text(value)))
    except ValueError as error:
        raise BadResponseError("expected a signature") from error


def _block_hash(value: object) -> str | None:
    return None if value is None else str(responses.key(responses.mapping(value).get("blockhash")))


def _block_time(value: object) -> int:
    return responses.counter(responses.mapping(value).get("blockTime"))
