"""The format of keys: recognisable, protected against typos, and hashed under a pepper."""

import re

import pytest

from partners import keys
from sweepapi.modes import Mode

FORMAT = re.compile(r"swp_(live|test)_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}")


@pytest.mark.parametrize("mode", Mode)
def test_a_new_key_has_the_documented_format_and_contains_its_id(mode: Mode) -> None:
    new = keys.generate(mode)
    assert FORMAT.fullmatch(new.plaintext)
    assert new.plaintext.startswith(f"swp_{mode}_{new.key_id}_")
    assert keys.public_part(new.plaintext) == (mode, new.key_id)


def test_all_generated_keys_differ() -> None:
    made = [keys.generate(Mode.TEST) for _ in range(100)]
    assert len({new.key_id for new in made}) == 100
    assert len({new.plaintext for new in made}) == 100


def test_the_secret_holds_256_bits() -> None:
    """43 base62 characters are needed, and enough, for the largest number of 256 bits."""
    assert 62**42 < 2**256 - 1 < 62**43


def test_every_typo_of_one_character_is_detected() -> None:
    plaintext = keys.generate(Mode.TEST).plaintext
    for index, character in enumerate(plaintext):
        typo = plaintext[:index] + ("x" if character != "x" else "y") + plaintext[index + 1 :]
        assert keys.public_part(typo) is None


@pytest.mark.parametrize(
    "change", [lambda k: k + "\n", lambda k: " " + k, lambda k: k[:-1], lambda k: k + "0", str.upper]
)
def test_a_changed_or_incomplete_key_is_not_accepted(change: object) -> None:
    plaintext = keys.generate(Mode.TEST).plaintext
    assert callable(change)
    assert keys.public_part(change(plaintext)) is None


def test_the_digest_depends_on_key_and_pepper() -> None:
    assert keys.digest_of("key", pepper="pepper") == (
        # echo -n key | openssl dgst -sha256 -hmac pepper
        "23e49db7721548ac8aa1dfcce7a931f57b045fb1b72bf44c1eefa9f60a7bc3f8"
    )
    assert keys.digest_of("key", pepper="other") != keys.digest_of("key", pepper="pepper")
    assert keys.digest_of("other", pepper="pepper") != keys.digest_of("key", pepper="pepper")


def test_a_new_key_does_not_print_its_secret() -> None:
    new = keys.generate(Mode.TEST)
    assert new.plaintext not in repr(new)
