"""A process names what it lacks, and no more."""

import pytest
from pytest_django import Settings

from sweepapi.evm.encoding.addresses import ZERO_ADDRESS
from sweepapi.startup.needs import FEE_SIGNER, STORES, WEB, missing

ANVILS_FIRST = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"


def test_a_process_that_has_everything_lacks_nothing() -> None:
    assert list(missing(WEB)) == []


def test_all_that_is_missing_is_named(settings: Settings) -> None:
    settings.SECRET_KEY = settings.API_KEY_PEPPER = settings.PROOF_KEY = settings.FEE_SIGNER_KEY = ""
    settings.WEBHOOK_KEYS = settings.ALLOWED_HOSTS = []
    settings.REDIS_URL = ""
    names = [
        "REDIS_URL",
        "SECRET_KEY",
        "API_KEY_PEPPER",
        "WEBHOOK_KEYS",
        "PROOF_KEY",
        "ALLOWED_HOSTS",
        "FEE_SIGNER_KEY",
    ]
    assert [said.partition(" must be")[0] for said in missing(WEB)] == names
    assert list(missing(STORES)) == ["REDIS_URL must be set."]


def test_a_remote_signer_whose_key_everyone_knows_is_refused(settings: Settings) -> None:
    settings.FEE_SIGNER, settings.FEE_SIGNER_ADDRESS = "web3signer", ANVILS_FIRST
    settings.FEE_SIGNER_WEB3SIGNER_URL = "http://127.0.0.1:1"
    assert list(missing([FEE_SIGNER])) == [f"FEE_SIGNER: everyone knows the key of {ANVILS_FIRST}."]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"FEE_SIGNER": "kms"}, "FEE_SIGNER must be one of local, keystore, aws_kms, web3signer."),
        ({"FEE_SIGNER_KEY": ""}, "FEE_SIGNER_KEY must be a private key, 0x and 64 hex digits."),
        (
            {"FEE_SIGNER": "keystore", "FEE_SIGNER_KEYSTORE": "/nonexistent"},
            "FEE_SIGNER_KEYSTORE must name a file that can be read: No such file or directory.",
        ),
        (
            {"FEE_SIGNER": "keystore", "FEE_SIGNER_KEYSTORE": __file__, "FEE_SIGNER_PASSWORD_FILE": "/nonexistent"},
            "FEE_SIGNER_PASSWORD_FILE must name a file that can be read: No such file or directory.",
        ),
        (
            {"FEE_SIGNER": "aws_kms"},
            "FEE_SIGNER_KMS_KEY_ID must be the id, the alias or the ARN of a key in AWS KMS.",
        ),
        (
            {"FEE_SIGNER": "aws_kms", "FEE_SIGNER_KMS_KEY_ID": "k"},
            "FEE_SIGNER_ADDRESS must be the fee signer's address, with EIP-55 checksum.",
        ),
        (
            {"FEE_SIGNER": "web3signer", "FEE_SIGNER_ADDRESS": ZERO_ADDRESS},
            "FEE_SIGNER_WEB3SIGNER_URL must be the URL of a Web3Signer.",
        ),
    ],
)
def test_a_fee_signer_that_cannot_be_made_is_refused(
    settings: Settings, changes: dict[str, str], sentence: str
) -> None:
    for name, value in changes.items():
        setattr(settings, name, value)
    assert list(missing([FEE_SIGNER])) == [sentence]
