"""The key of receipts and statements: what it signs can be checked by published keys with any library."""

import json
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.test import Client
from pytest_django import Settings

from sweepapi.crypto.canonical_json import canonical
from sweepapi.crypto.proof_keys import PublicKey, SigningKey

# Key and thumbprint of RFC 8037, appendix A.
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
X = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
THUMBPRINT = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def jwks(anonymous: Client) -> list[dict[str, Any]]:
    response = anonymous.get("/.well-known/jwks.json")
    assert (response.status_code, response.headers["Content-Type"]) == (200, "application/json")
    keys: list[dict[str, Any]] = response.json()["keys"]
    return keys


def test_keys_are_published_as_the_standard_spells_them(settings: Settings, anonymous: Client) -> None:
    settings.PROOF_KEY = SEED
    assert jwks(anonymous) == [
        {"kty": "OKP", "crv": "Ed25519", "x": X, "kid": THUMBPRINT, "alg": "EdDSA", "use": "sig"}
    ]


def test_a_retired_key_stays_published_behind_the_one_that_signs(settings: Settings, anonymous: Client) -> None:
    settings.PROOF_KEY = SEED
    former = SigningKey.from_settings()
    jws = former.jws(b"{}", kind="sweep.receipt")
    settings.PROOF_KEY = "11" * 32
    settings.PROOF_RETIRED_KEYS = [former.public.raw.hex()]
    current, retired = jwks(anonymous)
    assert (current["kid"], retired["kid"]) == (SigningKey.from_settings().public.id, THUMBPRINT)
    assert jwt.PyJWS().decode(jws, jwt.PyJWK(retired), algorithms=["EdDSA"]) == b"{}"
    with pytest.raises(jwt.InvalidSignatureError):
        jwt.PyJWS().decode(jws, jwt.PyJWK(current), algorithms=["EdDSA"])


def test_a_signature_is_the_same_each_time_and_names_key_and_kind(settings: Settings) -> None:
    settings.PROOF_KEY = SEED
    first, second = (SigningKey.from_settings().jws(b'{"a":1}', kind="sweep.receipt") for _ in range(2))
    assert first == second
    assert jwt.get_unverified_header(first) == {"alg": "EdDSA", "kid": THUMBPRINT, "typ": "sweep.receipt"}


def test_the_keys_are_only_read(anonymous: Client) -> None:
    assert anonymous.post("/.well-known/jwks.json").status_code == 405


def test_the_private_key_is_nowhere_in_what_is_published(settings: Settings, anonymous: Client) -> None:
    published = json.dumps(jwks(anonymous))
    assert settings.PROOF_KEY not in published
    assert PublicKey(Ed25519PrivateKey.generate().public_key().public_bytes_raw()).id not in published


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("PROOF_KEY", "00" * 31, "E001"),
        ("PROOF_RETIRED_KEYS", [""], "E002"),
        ("PROOF_RETIRED_KEYS", ["11" * 32, "zz" * 32], "E002"),
    ],
)
def test_a_wrong_key_setting_is_an_error(settings: Settings, name: str, value: object, problem: str) -> None:
    setattr(settings, name, value)
    with pytest.raises(SystemCheckError, match=f"sweepapi.{problem}"):
        call_command("check")


def test_canonical_json_has_one_spelling() -> None:
    assert canonical({"b": ["é", 1], "a": None}) == b'{"a":null,"b":["\\u00e9",1]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))
