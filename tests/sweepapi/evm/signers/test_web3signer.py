"""A Web3Signer signs; whatever it does wrong, nothing of another account is returned, and within seconds."""

from base64 import b64encode
from collections.abc import Iterator

import pytest
from eth_keys.datatypes import PrivateKey

from sweepapi.evm.chain.errors import FeeSignerUnavailableError
from sweepapi.evm.signers import web3signer
from sweepapi.evm.signers.web3signer import Web3SignerFeeSigner
from tests import fake_node, fake_web3signer
from tests.fake_web3signer import FakeWeb3Signer
from tests.sweepapi.evm.signers.cases import ADDRESS, CONTRACT, KEY, authorization

OTHER_KEY = "0x" + "01" * 32
PASSWORD = "the-password-of-the-proxy"
NOT_A_SIGNATURE = "Web3Signer returned something else than the key's signature"


@pytest.fixture
def fake() -> Iterator[FakeWeb3Signer]:
    with fake_web3signer.running(OTHER_KEY, KEY) as server:
        yield server


def signer_at(url: str, address: str = ADDRESS) -> Web3SignerFeeSigner:
    return Web3SignerFeeSigner(url=url.replace("://", f"://us:{PASSWORD}@"), address=address)


def failure(signer: Web3SignerFeeSigner) -> str:
    """Return why it does not sign, after looking for secrets in the error and in what led to it."""
    with pytest.raises(FeeSignerUnavailableError) as caught:
        signer.sign(authorization(1))
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    assert PASSWORD not in f"{caught.value} {signer!r}"
    return str(caught.value)


def test_the_key_is_looked_up_once_by_its_address_and_credentials_are_sent(fake: FakeWeb3Signer) -> None:
    signer = signer_at(fake.url + "/")
    assert fake.requests == [], "making a signer uses no network"
    for nonce in range(2):
        signer.sign(authorization(nonce))
    identifier = PrivateKey(bytes.fromhex(KEY[2:])).public_key.to_hex()
    sign = f"POST /api/v1/eth1/sign/{identifier}"
    assert fake.requests == ["GET /api/v1/eth1/publicKeys", sign, sign]
    assert set(fake.credentials) == {f"Basic {b64encode(f'us:{PASSWORD}'.encode()).decode()}"}


def test_a_web3signer_without_the_key_is_reported(fake: FakeWeb3Signer) -> None:
    problem = f"Web3Signer has no key of the address {CONTRACT}, which FEE_SIGNER_ADDRESS names"
    assert failure(signer_at(fake.url, CONTRACT)) == problem


@pytest.mark.parametrize("listed", ["", "{}}", "7", "[7]", "null", '["0x12"]', '["0xzz"]', "[[]]", '"0x12"'])
def test_what_is_not_a_list_of_public_keys_is_refused(fake: FakeWeb3Signer, listed: str) -> None:
    fake.alter = lambda _answer: (200, listed)
    assert failure(signer_at(fake.url)) == "Web3Signer returned something else than a list of public keys"


@pytest.mark.parametrize("answer", ["", "0x", "0xzz", "0x" + "01" * 64, "0x" + "01" * 65, "0x" + "ff" * 65, "é"])
def test_an_answer_that_is_not_a_signature_is_refused(fake: FakeWeb3Signer, answer: str) -> None:
    signer = signer_at(fake.url)
    signer.sign(authorization(0))
    fake.alter = lambda _answer: (200, answer)
    assert failure(signer) == NOT_A_SIGNATURE


def test_a_signature_of_another_key_is_refused(fake: FakeWeb3Signer) -> None:
    first, second = fake.keys
    fake.keys[second] = fake.keys[first]
    assert failure(signer_at(fake.url)) == NOT_A_SIGNATURE


@pytest.mark.parametrize("status", [302, 400, 404, 500, 503])
def test_an_error_is_reported_with_its_status_and_redirects_are_not_followed(fake: FakeWeb3Signer, status: int) -> None:
    fake.alter = lambda _answer: (status, "")
    assert failure(signer_at(fake.url)) == f"Web3Signer answered with status {status}"
    assert fake.requests == ["GET /api/v1/eth1/publicKeys"]


def test_after_an_outage_it_signs_again(fake: FakeWeb3Signer) -> None:
    signer = signer_at(fake.url)
    fake.alter = lambda _answer: (503, "")
    failure(signer)
    fake.alter = lambda answer: answer
    assert signer.sign(authorization(1))


def test_a_web3signer_that_refuses_connections_is_reported_without_its_url() -> None:
    assert failure(signer_at("http://127.0.0.1:1")) == "Web3Signer did not answer (ConnectionError)"


def test_a_web3signer_that_never_answers_is_given_up(fake: FakeWeb3Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web3signer, "TIMEOUT_SECONDS", 0.05)
    fake.may_answer.clear()
    assert failure(signer_at(fake.url)) == "Web3Signer did not answer (ReadTimeout)"


def test_a_web3signer_that_answers_byte_by_byte_is_given_up(
    fake: FakeWeb3Signer, monkeypatch: pytest.MonkeyPatch
) -> None:
    signer = signer_at(fake.url)
    signer.sign(authorization(0))
    monkeypatch.setattr(web3signer, "TIMEOUT_SECONDS", 0.1)
    with fake_node.trickling() as url:
        signer._url = url  # noqa: SLF001
        assert failure(signer) == "Web3Signer did not answer (ValueError)"


def test_an_endless_answer_is_not_read_to_its_end(fake: FakeWeb3Signer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web3signer, "MAX_RESPONSE_BYTES", 100)
    assert failure(signer_at(fake.url)) == "Web3Signer did not answer (BodyTooLongError)"
