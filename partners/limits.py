"""How many requests a partner may send: the limits of each policy, which operations may change for a partner."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError

BUILD, DISCOVER, READ = "build", "discover", "read"
# Bodies that were refused, whatever they were sent to: to find out what is wrong with one costs more than a read.
REFUSED = "refused"
# All keys of a partner together may send so many times what one key may.
KEYS_PER_PARTNER = 4
# A request a day, and not so seldom that Redis can't count the microseconds.
MIN_PER_SECOND, MAX_PER_SECOND = 1 / 86_400, 10_000
MAX_BURST = 100_000


@dataclass(frozen=True, slots=True)
class Limit:
    """How many requests one key may send at once, and in each second after that."""

    per_second: float
    burst: int


DEFAULTS: Mapping[str, Limit] = {
    BUILD: Limit(per_second=20, burst=60),
    DISCOVER: Limit(per_second=5, burst=15),
    READ: Limit(per_second=100, burst=300),  # confirm and cancel as well
    REFUSED: Limit(per_second=10, burst=30),
}


def limits_of(stored: Mapping[str, Mapping[str, Any]]) -> dict[str, Limit]:
    """Return the limits that a partner's row sets, by policy."""
    return {policy: Limit(one["perSecond"], one["burst"]) for policy, one in stored.items()}


def validate_limits(value: object) -> None:
    """Raise ``ValidationError`` unless this is what ``limits_of`` reads."""
    if not isinstance(value, dict) or not value.keys() <= DEFAULTS.keys():
        raise ValidationError(f"This must be an object with limits of {', '.join(DEFAULTS)}.")
    for policy, limit in value.items():
        if not isinstance(limit, dict) or limit.keys() != {"perSecond", "burst"}:
            raise ValidationError(f'{policy} must be as {{"perSecond": 20, "burst": 60}}.')
        if not _is_number(limit["perSecond"]) or not MIN_PER_SECOND <= limit["perSecond"] <= MAX_PER_SECOND:
            raise ValidationError(f"{policy}: perSecond must be a number from 1/86400 to {MAX_PER_SECOND}.")
        if not _is_integer(limit["burst"]) or not 1 <= limit["burst"] <= MAX_BURST:
            raise ValidationError(f"{policy}: burst must be an integer from 1 to {MAX_BURST}.")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
