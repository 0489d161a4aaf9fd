"""The network that a provider has to be on, and what its responses show of that network."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sweepapi.rpc.calls import Call
from sweepapi.rpc.errors import CallFailedError


@dataclass(frozen=True)
class Head:
    """The newest block that a response shows: its number, and its time where the response has it."""

    number: int
    timestamp: int | None = None  # seconds since 1970


@dataclass(frozen=True)
class Proof:
    """A call whose result tells the network from others; a refusal that the call accepts proves nothing."""

    call: Call
    expected: object

    def is_contradicted_by(self, shown: object) -> bool:
        return not isinstance(shown, CallFailedError) and shown != self.expected


@dataclass(frozen=True)
class Target:
    """The network that a provider has to be on, and how its responses show that and their head."""

    name: str  # for logs
    network: str  # its CAIP-2 identifier
    proofs: tuple[Proof, ...]
    head_of: Callable[[Call, Any], Head | None]  # None if the call does not ask for the head
    lagging_blocks: int  # a provider whose head is further behind than this is queried after the others
    max_head_age_seconds: int | None = None  # None: a head is never too old
    prepare: Callable[[Call], Call] = lambda call: call  # returns a call as nodes of this network take it
