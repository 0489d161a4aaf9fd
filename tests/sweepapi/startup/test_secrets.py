"""A secret that is short, malformed, known, made by hand or used twice is refused, and never shown."""

import secrets
from typing import Any

import pytest
from pytest_django import Settings

from sweepapi.startup.secrets import problems

ANVIL = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80"
WEB3 = "4c0883a69102937d6231471b5dbb6204fe5129617082792ae468d01a3f362318"
RFC8032 = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
COUNTED = bytes(range(32)).hex()
KNOWN, NOT_RANDOM = "is one that everyone knows", "is not random"


@pytest.fixture(autouse=True)
def given(settings: Settings) -> Settings:
    """Secrets as they should be."""
    settings.SECRET_KEY = secrets.token_urlsafe(50)
    settings.API_KEY_PEPPER = secrets.token_hex(32)
    settings.PROOF_KEY = secrets.token_hex(32)
    settings.WEBHOOK_KEYS = [secrets.token_hex(32), secrets.token_hex(32).upper()]
    settings.FEE_SIGNER_KEY = "0x" + secrets.token_hex(32)
    return settings


def test_random_secrets_are_taken() -> None:
    assert list(problems()) == []


def test_none_are_needed_to_look_at_those_that_are_given(given: Settings) -> None:
    given.SECRET_KEY = given.API_KEY_PEPPER = given.PROOF_KEY = given.FEE_SIGNER_KEY = ""
    given.WEBHOOK_KEYS = []
    assert list(problems()) == []


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("SECRET_KEY", "x", "is too short"),
        ("SECRET_KEY", "x" * 50, NOT_RANDOM),
        ("SECRET_KEY", " " * 50, NOT_RANDOM),
        ("SECRET_KEY", "0123456789abcdef" * 4, NOT_RANDOM),
        ("SECRET_KEY", "changeme" * 7, NOT_RANDOM),
        ("SECRET_KEY", "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz", NOT_RANDOM),
        ("SECRET_KEY", "django-insecure-1w$z!lr8v#7k2p0dq@x5h3m9u4t6y(e)c_jn*gbs", KNOWN),
        ("SECRET_KEY", "a-key-of-fifty-characters-for-checks-and-nothing-else-0123456789", KNOWN),
        ("SECRET_KEY", ANVIL, KNOWN),
        ("API_KEY_PEPPER", "salt", "is too short"),
        ("API_KEY_PEPPER", "p" * 32, NOT_RANDOM),
        ("API_KEY_PEPPER", ANVIL.upper(), KNOWN),
        ("PROOF_KEY", "00" * 31, "must be 64 hex digits"),
        ("PROOF_KEY", "0x" + ANVIL, "must be 64 hex digits"),
        ("PROOF_KEY", "00" * 31 + "01", NOT_RANDOM),
        ("PROOF_KEY", "deadbeef" * 8, NOT_RANDOM),
        ("PROOF_KEY", COUNTED, NOT_RANDOM),
        ("PROOF_KEY", RFC8032, KNOWN),
        ("WEBHOOK_KEYS", [""], "must be keys of 64 hex digits"),
        ("WEBHOOK_KEYS", ["11" * 32], NOT_RANDOM),
        ("WEBHOOK_KEYS", [ANVIL], KNOWN),
        ("FEE_SIGNER_KEY", "0x" + ANVIL, KNOWN),
        ("FEE_SIGNER_KEY", "0x" + ANVIL.upper(), KNOWN),
        ("FEE_SIGNER_KEY", "0x" + WEB3, KNOWN),
        ("FEE_SIGNER_KEY", "0x" + "00" * 31 + "01", NOT_RANDOM),
        ("FEE_SIGNER_KEY", "0x" + "ff" * 32, NOT_RANDOM),
    ],
)
def test_a_bad_secret_is_named_and_not_shown(given: Settings, name: str, value: Any, problem: str) -> None:
    setattr(given, name, value)
    (said,) = problems()
    assert said.startswith(f"{name} {problem}")
    text = value[0] if isinstance(value, list) else value
    assert len(text) <= 1 or text.lower() not in said.lower()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("PROOF_KEY", "WEBHOOK_KEYS"),
        ("PROOF_KEY", "FEE_SIGNER_KEY"),
        ("API_KEY_PEPPER", "PROOF_KEY"),
        ("SECRET_KEY", "API_KEY_PEPPER"),
        ("WEBHOOK_KEYS", "WEBHOOK_KEYS"),
    ],
)
def test_two_that_are_equal_are_named_in_whatever_spelling(given: Settings, one: str, other: str) -> None:
    same = secrets.token_hex(32)
    spelled = {"WEBHOOK_KEYS": [same, same.upper()] if one == other else [same.upper()], "FEE_SIGNER_KEY": "0x" + same}
    for name in (one, other):
        setattr(given, name, spelled.get(name, same))
    assert [said.partition(":")[0] for said in problems()] in (
        [f"{one} and {other} are equal"],
        [f"{other} and {one} are equal"],
    )
