"""A key in AWS KMS signs; whatever KMS does wrong, nothing of another account is returned, and within seconds."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from moto.kms.responses import KmsResponse

from sweepapi.evm.chain.errors import FeeSignerUnavailableError
from sweepapi.evm.signers import aws_kms
from sweepapi.evm.signers.aws_kms import KmsFeeSigner
from tests import fake_web3signer, kms
from tests.sweepapi.evm.signers.cases import ADDRESS, CONTRACT, KEY, authorization

SECRET = "the-secret-access-key"
BOTOCORE_SECONDS = 60  # how long it waits by itself


@pytest.fixture
def key_id() -> Iterator[str]:
    with kms.running(KEY) as created:
        yield created


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The requests to KMS so far."""
    requests: list[tuple[str, dict[str, Any]]] = []
    ask = KmsFeeSigner._ask  # noqa: SLF001 every request goes through it

    def recorded(signer: KmsFeeSigner, operation: str, **parameters: Any) -> dict[str, Any]:
        requests.append((operation, parameters))
        return ask(signer, operation, **parameters)

    monkeypatch.setattr(KmsFeeSigner, "_ask", recorded)
    return requests


def failure(signer: KmsFeeSigner) -> str:
    """Return why it does not sign, after looking for secrets in the error and in what led to it."""
    with pytest.raises(FeeSignerUnavailableError) as caught:
        signer.sign(authorization(1))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


def test_the_public_key_is_read_once_and_every_digest_is_signed_in_one_request(
    key_id: str, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    signer = KmsFeeSigner(key_id=key_id, address=ADDRESS)
    assert asked == [], "making a signer uses no network"
    for nonce in range(2):
        signer.sign(authorization(nonce))
    assert [operation for operation, _ in asked] == ["get_public_key", "sign", "sign"]
    assert asked[1][1] == {
        "Message": bytes.fromhex(authorization(0).digest[2:]),
        "MessageType": "DIGEST",
        "SigningAlgorithm": "ECDSA_SHA_256",
    }


def test_a_key_of_another_address_is_named_and_never_asked_to_sign(
    key_id: str, asked: list[tuple[str, dict[str, Any]]]
) -> None:
    signer = KmsFeeSigner(key_id=key_id, address=CONTRACT)
    assert failure(signer) == f"the key in AWS KMS is of the address {ADDRESS}, and FEE_SIGNER_ADDRESS is {CONTRACT}"
    assert [operation for operation, _ in asked] == ["get_public_key"]


def test_a_key_of_another_curve_is_refused() -> None:
    with kms.running(KEY, spec="ECC_NIST_P256") as key_id:
        signer = KmsFeeSigner(key_id=key_id, address=ADDRESS)
        assert failure(signer) == "the key in AWS KMS is not of the kind ECC_SECG_P256K1"


def test_a_key_that_was_replaced_behind_our_back_is_noticed(key_id: str) -> None:
    signer = KmsFeeSigner(key_id=key_id, address=ADDRESS)
    signer.sign(authorization(0))
    with kms.running("0x" + "01" * 32) as other:
        signer._key_id = other  # noqa: SLF001 as if an alias was moved
        assert failure(signer) == "AWS KMS returned something else than the key's signature"


@pytest.mark.parametrize(
    "answer",
    ['{"Signature": "AAAA"}', '{"Signature": ""}', "{}", '{"Signature": "MAYCAQECAQE="}'],
    ids=["garbage", "nothing", "no signature", "r and s are one"],
)
def test_an_answer_that_is_not_a_signature_is_refused(
    key_id: str, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    monkeypatch.setattr(KmsResponse, "sign", lambda _response: answer)
    signer = KmsFeeSigner(key_id=key_id, address=ADDRESS)
    assert failure(signer) == "AWS KMS returned something else than the key's signature"


def test_a_key_that_does_not_exist_is_reported_by_the_code_of_aws(key_id: str) -> None:
    signer = KmsFeeSigner(key_id=key_id.replace(key_id[0], "f" if key_id[0] != "f" else "e"), address=ADDRESS)
    assert failure(signer) == "AWS KMS refused: NotFoundException"


def _refused(_fake: fake_web3signer.FakeWeb3Signer) -> str:
    return "http://127.0.0.1:1"


def _hung(fake: fake_web3signer.FakeWeb3Signer) -> str:
    fake.may_answer.clear()
    return fake.url


@pytest.mark.parametrize(
    ("endpoint", "error"),
    [(_refused, "EndpointConnectionError"), (_hung, "ReadTimeoutError")],
    ids=["refused", "hung"],
)
def test_an_outage_ends_within_the_time_limit_and_shows_no_credentials(
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    endpoint: Callable[[fake_web3signer.FakeWeb3Signer], str],
    error: str,
) -> None:
    caplog.set_level(logging.DEBUG)  # at which botocore would log signed requests
    with fake_web3signer.running() as server:
        for name, value in {
            "AWS_ENDPOINT_URL_KMS": endpoint(server),
            "AWS_DEFAULT_REGION": kms.REGION,
            "AWS_ACCESS_KEY_ID": "the-access-key-id",
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr(aws_kms, "READ_SECONDS", 0.05)
        monkeypatch.setattr(aws_kms, "ATTEMPTS", 1)
        signer = KmsFeeSigner(key_id="alias/fee-signer", address=ADDRESS)
        started = time.monotonic()
        assert failure(signer) == f"AWS KMS did not answer ({error})"
        assert time.monotonic() - started < BOTOCORE_SECONDS, "our limits hold, not botocore's own"
    assert SECRET not in f"{signer!r} {caplog.text}"
    assert "the-access-key-id" not in caplog.text


def test_without_credentials_nothing_is_signed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", kms.REGION)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nonexistent")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    assert failure(KmsFeeSigner(key_id="k", address=ADDRESS)) == "AWS KMS did not answer (NoCredentialsError)"
