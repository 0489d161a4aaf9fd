"""The settings choose the signer; what is wrong with them is said with the variable's name and without its value."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account

from sweepapi.evm.chain.errors import FeeSignerSettingsError
from sweepapi.evm.signers import SignerSettings, make_signer
from tests.sweepapi.evm.signers.cases import ADDRESS, KEY

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # SEC 2, secp256k1: n
PASSWORD = "correct horse battery staple"
REMOTE = SignerSettings(
    "web3signer", kms_key_id="alias/k", web3signer_url="https://us:pw@signer.example", address=ADDRESS
)

BAD_KEY = "FEE_SIGNER_KEY must be a private key, 0x and 64 hex digits."
BAD_KEYSTORE = (
    "FEE_SIGNER_KEYSTORE must be a keystore file (version 3) that the password in FEE_SIGNER_PASSWORD_FILE decrypts."
)
BAD_ADDRESS = "FEE_SIGNER_ADDRESS must be the fee signer's address, with EIP-55 checksum."


def problem(settings: SignerSettings) -> str:
    """Return what is wrong, after looking at what else the error carries."""
    with pytest.raises(FeeSignerSettingsError) as caught:
        make_signer(settings)
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.fixture
def keystore(tmp_path: Path) -> Callable[..., SignerSettings]:
    """Write a keystore file and the file of its password."""

    def write(*, password: str = PASSWORD, **changes: Any) -> SignerSettings:
        content = {**Account.encrypt(bytes.fromhex(KEY[2:]), PASSWORD, kdf="pbkdf2", iterations=1), **changes}
        (tmp_path / "keystore.json").write_text(json.dumps(content))
        (tmp_path / "password").write_text(password)
        return SignerSettings(
            "keystore", keystore=str(tmp_path / "keystore.json"), password_file=str(tmp_path / "password")
        )

    return write


@pytest.mark.parametrize("kind", ["", "Local", "kms", KEY])
def test_a_kind_that_does_not_exist_is_refused(kind: str) -> None:
    settings = SignerSettings(kind)
    assert problem(settings) == "FEE_SIGNER must be one of local, keystore, aws_kms, web3signer."
    assert KEY[2:] not in repr(settings)


@pytest.mark.parametrize(
    "key",
    [
        "",
        "0x",
        KEY[2:],
        KEY[:-1],
        KEY + "5",
        KEY + "\n",
        "0x" + "zz" * 32,
        "0x" + "00" * 32,
        hex(ORDER),
        "0x" + "ff" * 32,
    ],
)
def test_what_is_not_a_private_key_is_refused(key: str) -> None:
    assert problem(SignerSettings("local", key=key)) == BAD_KEY


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_a_keystore_is_decrypted_with_the_password_of_the_file(
    keystore: Callable[..., SignerSettings], ending: str
) -> None:
    assert make_signer(keystore(password=PASSWORD + ending)).address == ADDRESS


@pytest.mark.parametrize(
    "changes",
    [
        {"password": "wrong"},
        {"password": PASSWORD + " "},
        {"version": 1},
        {"version": None},
        {"crypto": {}},
        {"crypto": []},
        {"crypto": None},
    ],
    ids=str,
)
def test_a_keystore_that_cannot_be_decrypted_is_refused(
    keystore: Callable[..., SignerSettings], changes: dict[str, Any]
) -> None:
    assert problem(keystore(**changes)) == BAD_KEYSTORE


@pytest.mark.parametrize("content", ["", "{", "[]", "7", "null", '"text"', KEY])
def test_a_file_that_is_not_a_keystore_is_refused(keystore: Callable[..., SignerSettings], content: str) -> None:
    settings = keystore()
    Path(settings.keystore).write_text(content)
    assert problem(settings) == BAD_KEYSTORE


@pytest.mark.parametrize(
    ("field", "variable"), [("keystore", "FEE_SIGNER_KEYSTORE"), ("password_file", "FEE_SIGNER_PASSWORD_FILE")]
)
def test_a_file_that_cannot_be_read_is_named_by_its_variable(
    keystore: Callable[..., SignerSettings], tmp_path: Path, field: str, variable: str
) -> None:
    settings, binary = keystore(), tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe")
    for path, reason in {
        str(tmp_path / PASSWORD): "No such file or directory",
        str(tmp_path): "Is a directory",
        str(binary): "it is not text",
    }.items():
        changed = replace(settings, **{field: path})
        assert problem(changed) == f"{variable} must name a file that can be read: {reason}."


@pytest.mark.parametrize("kind", ["aws_kms", "web3signer"])
@pytest.mark.parametrize("address", ["", "0x12", ADDRESS.lower(), ADDRESS[2:], ADDRESS + "0"])
def test_a_remote_signer_needs_its_address(monkeypatch: pytest.MonkeyPatch, kind: str, address: str) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    assert make_signer(replace(REMOTE, kind=kind)).address == ADDRESS
    assert problem(replace(REMOTE, kind=kind, address=address)) == BAD_ADDRESS


@pytest.mark.parametrize("url", ["", "signer.example", "ftp://us:pw@signer.example"])
def test_what_is_not_the_url_of_a_web3signer_is_refused(url: str) -> None:
    settings = replace(REMOTE, web3signer_url=url)
    assert problem(settings) == "FEE_SIGNER_WEB3SIGNER_URL must be the URL of a Web3Signer."
    assert "us:pw" not in repr(settings)


def test_aws_kms_needs_a_key_and_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", "/nonexistent")
    settings = replace(REMOTE, kind="aws_kms")
    assert problem(settings) == "AWS_DEFAULT_REGION must name the region of the key in AWS KMS."
    missing = "FEE_SIGNER_KMS_KEY_ID must be the id, the alias or the ARN of a key in AWS KMS."
    assert problem(replace(settings, kms_key_id="")) == missing
