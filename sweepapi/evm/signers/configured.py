"""Makes the fee signer that the settings choose; nothing here uses the network."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from eth_utils.address import is_checksum_address

from sweepapi.evm.chain.errors import FeeSignerSettingsError
from sweepapi.evm.signers.aws_kms import KmsFeeSigner
from sweepapi.evm.signers.fee_signer import FeeSigner
from sweepapi.evm.signers.local import LocalFeeSigner
from sweepapi.evm.signers.web3signer import Web3SignerFeeSigner


@dataclass(frozen=True)
class SignerSettings:
    """The settings of every kind of signer; blank if its kind is not used."""

    kind: str = field(repr=False)  # hidden as well, because a key may have been put there by mistake
    key: str = field(default="", repr=False)
    keystore: str = ""
    password_file: str = ""
    kms_key_id: str = ""
    web3signer_url: str = field(default="", repr=False)
    address: str = ""


def make_signer(settings: SignerSettings) -> FeeSigner:
    """Return the signer; raises ``FeeSignerSettingsError``, which names a variable and never shows its value."""
    if settings.kind not in _KINDS:
        raise FeeSignerSettingsError(f"FEE_SIGNER must be one of {', '.join(_KINDS)}.")
    return _KINDS[settings.kind](settings)


def _local(settings: SignerSettings) -> FeeSigner:
    return LocalFeeSigner.from_key(settings.key)


def _keystore(settings: SignerSettings) -> FeeSigner:
    return LocalFeeSigner.from_keystore(keystore=settings.keystore, password_file=settings.password_file)


def _aws_kms(settings: SignerSettings) -> FeeSigner:
    if not settings.kms_key_id:
        raise FeeSignerSettingsError("FEE_SIGNER_KMS_KEY_ID must be the id, the alias or the ARN of a key in AWS KMS.")
    return KmsFeeSigner(key_id=settings.kms_key_id, address=_address(settings))


def _web3signer(settings: SignerSettings) -> FeeSigner:
    return Web3SignerFeeSigner(url=settings.web3signer_url, address=_address(settings))


def _address(settings: SignerSettings) -> str:
    if not is_checksum_address(settings.address):
        raise FeeSignerSettingsError("FEE_SIGNER_ADDRESS must be the fee signer's address, with EIP-55 checksum.")
    return settings.address


_KINDS: Mapping[str, Callable[[SignerSettings], FeeSigner]] = {
    "local": _local,
    "keystore": _keystore,
    "aws_kms": _aws_kms,
    "web3signer": _web3signer,
}
