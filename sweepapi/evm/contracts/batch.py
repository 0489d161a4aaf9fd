"""What both batch contracts inherit from ``SweepBatch``: routes, limits, and the user's permission at Permit2."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from eth_abi.abi import decode
from eth_abi.exceptions import DecodingError
from eth_abi.grammar import parse

from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.encoding.abi_encoding import encoder_of, encoder_of_all
from sweepapi.evm.encoding.addresses import eip55, keccak_hex
from sweepapi.evm.encoding.responses import Log

HARD_CAP_BPS = 300
MAX_LEGS = 30
SIGNATURE_BYTES = 65
WORD = 32

ROUTE_TYPE = "((address,uint256,uint256,uint256)[],uint256,uint256,(uint256,address,bytes)[])"
PERMITS_TYPE = "(uint256,bool,uint256,uint256,uint8,bytes32,bytes32)[]"
PERMISSION_TYPES = "uint256,uint256,bytes"
_ROUTE = encoder_of_all([encoder_of(parse(ROUTE_TYPE))])
PAUSED = Function("paused()", "(bool)")
_TOKEN_PERMIT_WORDS = 7
_PERMISSION_ARGUMENTS = 3  # nonce, deadline and signature are the last ones

SKIPPED_TOPIC = keccak_hex(b"LegSkipped(uint256,uint256,address,uint8)")
_SKIPPED_TOPICS = 2

_FEE_BITS, _VENUE_BITS, _LEAST_BITS = 24, 16, 128
_VENUE_SHIFT, _JOINED_SHIFT, _SKIPPABLE_SHIFT, _DROPPED_SHIFT, _LEAST_SHIFT = 24, 40, 41, 42, 128
_LIMIT_NUMBER_SHIFT, _LIMIT_EXPONENT_SHIFT = 43, 65
PRICE_LIMIT_BITS = 22  # of its number, which is shifted to the left


@dataclass(frozen=True)
class BatchHop:
    """How a leg is swapped; ``BatchHop()`` is that of a router leg, and of a wrapped coin that is unwrapped."""

    fee: int = 0  # as in the address of the pool; zero for venues that have none in it
    venue: int = 0  # the id; zero if the leg is not swapped in a pool
    joined: bool = False  # swapped to the wrapped coin, and with the other joined legs through the last hop
    skippable: bool = False
    dropped: bool = False
    price_limit: int = 0  # at which a V3 pool stops, as sqrtPriceX96 of at most 22 significant bits; zero for none
    least: int = 0  # of a joined pool leg: its least output, in the wrapped coin

    def __post_init__(self) -> None:
        for value, bits in ((self.fee, _FEE_BITS), (self.venue, _VENUE_BITS), (self.least, _LEAST_BITS)):
            if value < 0 or value >> bits:
                raise ValueError(f"{value} needs more than {bits} bits")
        if self.price_limit < 0 or self.price_limit >> self._limit_exponent >> PRICE_LIMIT_BITS:
            raise ValueError(f"{self.price_limit} has more than {PRICE_LIMIT_BITS} significant bits")

    @property
    def _limit_exponent(self) -> int:
        """How many zero bits the price limit ends with."""
        return (self.price_limit & -self.price_limit).bit_length() - 1 if self.price_limit else 0

    def as_int(self) -> int:
        """Return the hop as the contracts pack it."""
        return (
            self.fee
            | self.venue << _VENUE_SHIFT
            | self.joined << _JOINED_SHIFT
            | self.skippable << _SKIPPABLE_SHIFT
            | self.dropped << _DROPPED_SHIFT
            | self.price_limit >> self._limit_exponent << _LIMIT_NUMBER_SHIFT
            | self._limit_exponent << _LIMIT_EXPONENT_SHIFT
            | self.least << _LEAST_SHIFT
        )


@dataclass(frozen=True)
class BatchLeg:
    """One token of a sweep; the user signs all of it except the hop."""

    token: str
    amount: int
    floor: int  # the least that the user receives for it, after the fee
    hop: BatchHop


@dataclass(frozen=True)
class RouterCall:
    """The call that swaps a router leg."""

    leg: int  # its index
    router: str
    data: bytes


@dataclass(frozen=True)
class BatchRoute:
    """The way of a sweep, whose hash the service signs."""

    legs: Sequence[BatchLeg]
    last_hop: BatchHop  # ``BatchHop()`` if no leg is joined
    max_skipped: int
    router_calls: Sequence[RouterCall]

    @property
    def floors(self) -> list[int]:
        """The floors of the legs, which the user signs."""
        return [leg.floor for leg in self.legs]

    def as_tuple(self) -> tuple[Any, ...]:
        """Return the route as the ABI encodes it."""
        return (
            [(leg.token, leg.amount, leg.floor, leg.hop.as_int()) for leg in self.legs],
            self.last_hop.as_int(),
            self.max_skipped,
            [(call.leg, call.router, call.data) for call in self.router_calls],
        )


@dataclass(frozen=True)
class Permission:
    """The user's part of the call: the Permit2 nonce, its deadline and the signature over both."""

    nonce: int
    deadline: int
    signature: bytes = bytes(SIGNATURE_BYTES)  # the placeholder of a template


class SkipReason(IntEnum):
    """Why a leg was left out."""

    DROPPED = 0  # by the offer
    BELOW_LEAST = 1  # its pool would have paid too little
    NOT_FILLED = 2  # its pool could not take the whole amount


@dataclass(frozen=True)
class SkippedLeg:
    """A decoded ``LegSkipped``; the token did not leave the user."""

    id: int  # the nonce of the authorization; on V4 the reference of the sweep
    leg: int
    token: str
    reason: SkipReason


@dataclass(frozen=True)
class TokenPermit:
    """A token's own permit as the contracts take it, with a placeholder for its signature."""

    leg: int  # its index
    is_dai_kind: bool
    value_or_nonce: int  # the nonce for DAI's kind, which has no value
    deadline: int
    signature: bytes = bytes(SIGNATURE_BYTES)

    def as_tuple(self) -> tuple[Any, ...]:
        """Return the permit as the ABI encodes it."""
        r, s, v = self.signature[:WORD], self.signature[WORD : 2 * WORD], self.signature[2 * WORD]
        return (self.leg, self.is_dai_kind, self.value_or_nonce, self.deadline, v, r, s)


@dataclass(frozen=True)
class EntryPoints:
    """The functions of a contract version that execute a sweep; the arguments of the others follow from ``sweep``'s."""

    sweep: Function
    with_permits: Function
    as_caller: Function

    def encode_with_permits(self, arguments: Sequence[Any], permits: Sequence[TokenPermit]) -> bytes:
        """Return the call that uses permits of tokens before the user's permission at Permit2."""
        ours, permission = arguments[:-_PERMISSION_ARGUMENTS], arguments[-_PERMISSION_ARGUMENTS:]
        return self.with_permits.encode(*ours, [permit.as_tuple() for permit in permits], *permission)

    def encode_as_caller(self, arguments: Sequence[Any]) -> bytes:
        """Return the call that needs no permission at Permit2, but approvals of the contract."""
        return self.as_caller.encode(*arguments[:-_PERMISSION_ARGUMENTS])


@dataclass(frozen=True)
class SignaturePart:
    """Bytes of a signature (r, s and v in 65 bytes) that go into a call."""

    signature: int  # its index among those that the user makes
    start: int  # in the signature
    length: int
    offset: int  # in the call


def hash_route(route: BatchRoute) -> str:
    """Return ``keccak256(abi.encode(route))``, with which the service signs the route."""
    return keccak_hex(_ROUTE.encode([route.as_tuple()]))


def decode_skipped(log: Log) -> SkippedLeg | None:
    """Return the event of this log, or None if it is not a well-formed ``LegSkipped``.

    The caller must check the emitter: any contract can emit these bytes.
    """
    if len(log.topics) != _SKIPPED_TOPICS or log.topics[0] != SKIPPED_TOPIC:
        return None
    try:
        leg, token, reason = decode(["uint256", "address", "uint8"], log.data)
        return SkippedLeg(int(log.topics[1], 16), leg, eip55(token), SkipReason(reason))
    except (DecodingError, ValueError):
        return None


def signature_offset(calldata: bytes) -> int:
    """Return where the bytes of the last argument begin: 65 bytes, padded to three words at the end of the call."""
    return len(calldata) - 3 * WORD


def signature_parts(calldata: bytes, permits: int) -> Iterator[SignaturePart]:
    """Yield where the signatures of that many permits go, and the Permit2 signature, which is signed last.

    The permits lie in a row before the last argument and the word with its length.
    """
    end = signature_offset(calldata)
    start = end - WORD - permits * _TOKEN_PERMIT_WORDS * WORD
    for i in range(permits):
        v, r, s = (start + (i * _TOKEN_PERMIT_WORDS + word) * WORD for word in (4, 5, 6))
        yield SignaturePart(i, 0, WORD, r)
        yield SignaturePart(i, WORD, WORD, s)
        yield SignaturePart(i, 2 * WORD, 1, v + WORD - 1)
    yield SignaturePart(permits, 0, SIGNATURE_BYTES, end)


def with_signatures(calldata: bytes, *, permits: Sequence[bytes], signature: bytes) -> bytes:
    """Return the call with signatures in place of their placeholders.

    Those of tokens' permits have 65 bytes each; the Permit2 signature has any length, and its word of length precedes
    it.
    """
    data = bytearray(calldata)
    for part in signature_parts(calldata, len(permits)):
        if part.signature < len(permits):
            taken = permits[part.signature][part.start : part.start + part.length]
            data[part.offset : part.offset + part.length] = taken
    before = data[: signature_offset(calldata) - WORD]
    return bytes(before) + len(signature).to_bytes(WORD, "big") + signature + bytes(-len(signature) % WORD)
