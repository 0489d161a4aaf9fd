"""A fee signer whose key never leaves AWS KMS (an asymmetric key of the kind ECC_SECG_P256K1, for signing)."""

from functools import cached_property
from typing import Any

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from coincurve import PublicKey
from coincurve.ecdsa import der_to_cdata, serialize_compact
from eth_utils.crypto import keccak

from sweepapi.evm.chain.errors import FeeSignerSettingsError, FeeSignerUnavailableError
from sweepapi.evm.signers.fee_signer import FeeSigner
from sweepapi.evm.signers.recovery import address_of, recoverable

# Two attempts, each within these; the pause between them is at most a second.
ATTEMPTS = 2
CONNECT_SECONDS = 1.0
READ_SECONDS = 2.0
# A DER-encoded public key (RFC 5480): what comes before the point is the same for every uncompressed key of secp256k1.
PUBLIC_KEY_HEADER = bytes.fromhex("3056301006072a8648ce3d020106052b8104000a034200")


class KmsFeeSigner(FeeSigner):
    """Signs by requests to AWS KMS; region and credentials come from AWS's own variables and files."""

    def __init__(self, *, key_id: str, address: str) -> None:
        super().__init__(address)
        self._key_id = key_id
        self._session = botocore.session.get_session()
        if not self._session.get_config_variable("region"):
            raise FeeSignerSettingsError("AWS_DEFAULT_REGION must name the region of the key in AWS KMS.")

    def _signature_of(self, preimage: bytes) -> bytes:
        if self._address_of_key != self.address:
            raise FeeSignerUnavailableError(
                f"the key in AWS KMS is of the address {self._address_of_key}, and FEE_SIGNER_ADDRESS is {self.address}"
            )
        # KMS calls every 32-byte digest SHA-256; it signs what it is given.
        answer = self._ask("sign", Message=keccak(preimage), MessageType="DIGEST", SigningAlgorithm="ECDSA_SHA_256")
        try:
            compact = serialize_compact(der_to_cdata(answer["Signature"]))
            return recoverable(compact, preimage=preimage, address=self.address)
        except (KeyError, ValueError):
            raise FeeSignerUnavailableError("AWS KMS returned something else than the key's signature") from None

    @cached_property
    def _address_of_key(self) -> str:
        """Read once, so that an error names a wrong key instead of only refusing its signatures."""
        encoded = self._ask("get_public_key").get("PublicKey", b"")
        try:
            return address_of(PublicKey(encoded.removeprefix(PUBLIC_KEY_HEADER)))
        except ValueError:
            raise FeeSignerUnavailableError("the key in AWS KMS is not of the kind ECC_SECG_P256K1") from None

    def _ask(self, operation: str, **parameters: str | bytes) -> dict[str, Any]:
        try:
            answer: dict[str, Any] = getattr(self._client, operation)(KeyId=self._key_id, **parameters)
        except ClientError as error:
            raise FeeSignerUnavailableError(f"AWS KMS refused: {error.response['Error']['Code']}") from None
        except BotoCoreError as error:  # not chained: its text may name hosts and accounts
            raise FeeSignerUnavailableError(f"AWS KMS did not answer ({type(error).__name__})") from None
        return answer

    @cached_property
    def _client(self) -> Any:  # noqa: ANN401 - botocore makes the client's class at run time
        """Made on first use, because botocore may look for credentials over the network."""
        retries = {"total_max_attempts": ATTEMPTS, "mode": "standard"}
        config = Config(connect_timeout=CONNECT_SECONDS, read_timeout=READ_SECONDS, retries=retries)
        return self._session.create_client("kms", config=config)
