"""What the secrets that a process was given must be like, whether it needs them or not."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from eth_account import Account

from sweepapi.startup.known_keys import KNOWN_ADDRESSES

# In letters, digits and whatever else; the other secrets are keys of 32 bytes.
SHORTEST = {"SECRET_KEY": 50, "API_KEY_PEPPER": 32}
_KEY = re.compile(r"[0-9a-f]{64}", re.ASCII | re.IGNORECASE)
_PLACEHOLDER = re.compile(r"change.?me|replace.?me|insecure|placeholder|example|secret.?key|for.checks", re.IGNORECASE)
_WINDOW = 3

Named = tuple[str, str]


def problems() -> Iterator[str]:
    """Yield a sentence for each secret that is short, malformed, known or not random, and for those that are equal."""
    given = list(_given())
    for name, value in given:
        problem = _problem(name, value)
        if problem:
            yield f"{name} {problem}"
    for (one, value), (other, same) in combinations(given, 2):
        if value and _bare(value) == _bare(same):
            yield f"{one} and {other} are equal: each needs a secret of its own."


def secret_key() -> str:
    """Return Django's secret, which it does not hand out if it is blank."""
    try:
        return str(settings.SECRET_KEY)
    except ImproperlyConfigured:
        return ""


def _given() -> Iterator[Named]:
    single = {name: getattr(settings, name) for name in ("API_KEY_PEPPER", "PROOF_KEY", "FEE_SIGNER_KEY")}
    for name, value in {"SECRET_KEY": secret_key(), **single}.items():
        if value:
            yield name, value
    yield from (("WEBHOOK_KEYS", key) for key in settings.WEBHOOK_KEYS)


def _problem(name: str, value: str) -> str:
    bare = _bare(value)
    is_key = _KEY.fullmatch(bare) is not None
    if len(value) < SHORTEST.get(name, 0):
        return f"is too short: it must be {SHORTEST[name]} random characters or more."
    if name == "WEBHOOK_KEYS" and not (is_key and value.lower() == bare):
        return "must be keys of 64 hex digits."
    if name == "PROOF_KEY" and not (is_key and value.lower() == bare):
        return "must be 64 hex digits."
    if not _is_random(bytes.fromhex(bare) if is_key else value.encode()):
        return "is not random: it repeats itself or counts."
    if _PLACEHOLDER.search(value) or (is_key and _is_known(bare)):
        return "is one that everyone knows: it is in documentation, or in a development tool."
    return ""


def _bare(value: str) -> str:
    """Return the digits of a key, of which two spellings are the same key."""
    return value.lower().removeprefix("0x")


def _is_random(data: Sequence[int]) -> bool:
    """Whether the steps from byte to byte hardly repeat; those of random bytes do not, and those of a pattern do."""
    steps = [(later - earlier) % 256 for earlier, later in pairwise(data)]
    windows = {tuple(steps[at : at + _WINDOW]) for at in range(len(steps) - _WINDOW + 1)}
    return len(windows) * 2 >= len(data)


def _is_known(digits: str) -> bool:
    try:
        return Account.from_key(digits).address in KNOWN_ADDRESSES
    except ValueError:  # too large for an account's key
        return False
