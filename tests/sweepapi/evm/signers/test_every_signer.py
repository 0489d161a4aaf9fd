"""Wherever the key is, the same account signs, as the contract and nodes require, and its key is not shown."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.hexadecimal import encode_hex

from sweepapi.evm.signers import FeeSigner, LocalFeeSigner
from sweepapi.evm.signers.aws_kms import KmsFeeSigner
from sweepapi.evm.signers.web3signer import Web3SignerFeeSigner
from tests import fake_web3signer, kms
from tests.sweepapi.evm.signers.cases import ADDRESS, HALF_OF_THE_CURVES_ORDER, KEY, authorization, cancellation


@pytest.fixture(params=["local", "keystore", "aws_kms", "web3signer"])
def signer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FeeSigner]:
    match request.param:
        case "local":
            yield LocalFeeSigner.from_key(KEY)
        case "keystore":
            keystore, password_file = tmp_path / "keystore.json", tmp_path / "password"
            keystore.write_text(
                json.dumps(Account.encrypt(bytes.fromhex(KEY[2:]), "a password", kdf="pbkdf2", iterations=1))
            )
            password_file.write_text("a password\n")
            yield LocalFeeSigner.from_keystore(keystore=str(keystore), password_file=str(password_file))
        case "aws_kms":
            with kms.running(KEY) as key_id:
                yield KmsFeeSigner(key_id=key_id, address=ADDRESS)
        case "web3signer":
            with fake_web3signer.running("0x" + "01" * 32, KEY) as fake:
                yield Web3SignerFeeSigner(url=fake.url, address=ADDRESS)


def test_every_signature_is_of_the_message_and_the_account_with_a_low_s(signer: FeeSigner) -> None:
    assert signer.address == ADDRESS
    for nonce in range(10):
        typed_data = authorization(nonce)
        signature = signer.sign(typed_data)
        assert len(signature) == 65
        assert int.from_bytes(signature[32:64], "big") <= HALF_OF_THE_CURVES_ORDER
        assert signature[64] in (27, 28)
        signable = encode_typed_data(full_message=typed_data.signable())
        assert Account.recover_message(signable, signature=signature) == ADDRESS


def test_every_transaction_is_signed_by_the_account(signer: FeeSigner) -> None:
    for account_nonce in range(10):
        signed = signer.sign_transaction(cancellation(account_nonce))
        assert Account.recover_transaction(encode_hex(signed.raw)) == ADDRESS


def test_the_key_is_not_shown(signer: FeeSigner) -> None:
    assert repr(signer) == f"<{type(signer).__name__} {ADDRESS}>"
    assert KEY[2:] not in f"{signer} {signer!r}"
