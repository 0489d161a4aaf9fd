"""AWS KMS as moto plays it, in this process, with a key whose private part the tests know."""

from collections.abc import Iterator
from contextlib import contextmanager

import botocore.session
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.hashes import SHA256
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.kms.models import kms_backends
from moto.kms.responses import KmsResponse
from moto.kms.utils import ECDSAPrivateKey

REGION = "eu-central-1"


@contextmanager
def running(private_key: str, *, spec: str = "ECC_SECG_P256K1") -> Iterator[str]:
    """Replace AWS within the block; yields the id of a key that signs with this private key, or with one of KMS."""
    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        patch.setattr(KmsResponse, "sign", _sign)
        client = botocore.session.get_session().create_client("kms")
        key_id: str = client.create_key(KeySpec=spec, KeyUsage="SIGN_VERIFY")["KeyMetadata"]["KeyId"]
        if spec == "ECC_SECG_P256K1":
            held = kms_backends[DEFAULT_ACCOUNT_ID][REGION].keys[key_id].private_key
            assert isinstance(held, ECDSAPrivateKey)
            held.private_key = ec.derive_private_key(int(private_key, 16), ec.SECP256K1())
        yield key_id


_moto_sign = KmsResponse.sign


def _sign(response: KmsResponse) -> str:
    """Sign as moto does, but without hashing a DIGEST again (getmoto/moto, pull request 10202)."""
    with pytest.MonkeyPatch.context() as patch:
        if response._get_param("MessageType") == "DIGEST":  # noqa: SLF001
            patch.setattr(ECDSAPrivateKey, "sign", _sign_digest)
        return _moto_sign(response)


def _sign_digest(key: ECDSAPrivateKey, message: bytes, signing_algorithm: str) -> bytes:
    assert signing_algorithm in key.valid_signing_algorithms
    return key.private_key.sign(message, ec.ECDSA(Prehashed(SHA256())))
