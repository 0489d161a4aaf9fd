"""How much a body may hold, for each operation: derived from its serializer, and counted while the body is read."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from rest_framework import serializers

from sweepapi.api.input.lists import StrictListField, StrictListSerializer

MAX_BODY_BYTES = 256 * 1024
LARGEST_BODY_BYTES = 2 * 2**20  # of any operation: confirm takes the logs that wallets report
MAX_DEPTH = 16
# No number of the API has more digits than a uint256.
MAX_DIGITS = 78
# More names, and more items, than the serializer takes: a misspelt one, or a token too many, is explained by its field.
_SLACK = 32


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that a body may have: members of all its objects, items of all its lists, digits of one number."""

    names: int
    items: int
    bytes: int = MAX_BODY_BYTES
    digits: int = MAX_DIGITS
    depth: int = MAX_DEPTH


@dataclass(frozen=True, slots=True)
class Room:
    """What a value can have in it; a field whose shape is open says so itself, as its ``room``."""

    names: int = 0
    items: int = 0

    def __add__(self, other: "Room") -> "Room":
        return Room(self.names + other.names, self.items + other.items)

    def __mul__(self, count: int) -> "Room":
        return Room(self.names * count, self.items * count)


@cache
def budget_of(body: type[serializers.Serializer[Any]]) -> Budget:
    """Return the budget of the operations that take this body."""
    most = _room_of(body())
    return Budget(names=most.names + _SLACK, items=most.items + _SLACK)


def _room_of(field: Any) -> Room:  # noqa: ANN401 a field of any kind
    match field:
        case object(room=Room() as declared):
            return declared
        case serializers.Serializer():
            return sum(map(_room_of, field.fields.values()), Room(names=len(field.fields)))
        case StrictListSerializer() | StrictListField():
            return (_room_of(field.child) + Room(items=1)) * (field.max_length or 0)
    return Room()
