"""A fee signer whose key is held by a Web3Signer, which is asked over HTTP (its eth1 API)."""

import json
import time
from functools import cached_property
from typing import Any

import requests
from coincurve import PublicKey
from requests.adapters import HTTPAdapter
from urllib3.exceptions import HTTPError

from sweepapi.evm.chain.errors import FeeSignerSettingsError, FeeSignerUnavailableError
from sweepapi.evm.signers.fee_signer import FeeSigner
from sweepapi.evm.signers.recovery import address_of, recoverable
from sweepapi.limits.http_body import read_body

TIMEOUT_SECONDS = 3.0
MAX_CONNECTIONS = 16
MAX_RESPONSE_BYTES = 2**20
POINT_BYTES = 64  # of a public key without its prefix, which Web3Signer leaves out
UNCOMPRESSED = b"\x04"


class Web3SignerFeeSigner(FeeSigner):
    """Signs by requests to a Web3Signer; its URL may contain credentials, so it never leaves this object."""

    def __init__(self, *, url: str, address: str) -> None:
        super().__init__(address)
        if not url.startswith(("https://", "http://")):
            raise FeeSignerSettingsError("FEE_SIGNER_WEB3SIGNER_URL must be the URL of a Web3Signer.")
        self._url = url.rstrip("/")
        self._session = requests.Session()
        adapter = HTTPAdapter(pool_maxsize=MAX_CONNECTIONS, max_retries=0)
        self._session.mount("http://", adapter)
        self._session.mount("https://", adapter)

    def _signature_of(self, preimage: bytes) -> bytes:
        # Web3Signer hashes what it gets with Keccak-256.
        answer = self._ask("POST", f"sign/{self._identifier}", body={"data": f"0x{preimage.hex()}"})
        try:
            signature = bytes.fromhex(answer.removeprefix("0x"))
            return recoverable(signature[:-1], preimage=preimage, address=self.address)
        except ValueError:
            raise FeeSignerUnavailableError("Web3Signer returned something else than the key's signature") from None

    @cached_property
    def _identifier(self) -> str:
        """The public key, by which Web3Signer knows its keys."""
        try:
            listed: Any = json.loads(self._ask("GET", "publicKeys"))
            return next(str(key) for key in listed if _address_of(key) == self.address)
        except (ValueError, TypeError, AttributeError):
            raise FeeSignerUnavailableError("Web3Signer returned something else than a list of public keys") from None
        except StopIteration:
            message = f"Web3Signer has no key of the address {self.address}, which FEE_SIGNER_ADDRESS names"
            raise FeeSignerUnavailableError(message) from None

    def _ask(self, method: str, endpoint: str, *, body: dict[str, str] | None = None) -> str:
        deadline = time.monotonic() + TIMEOUT_SECONDS
        try:
            # A redirect would send the request, and credentials, to another host.
            with self._session.request(
                method,
                f"{self._url}/api/v1/eth1/{endpoint}",
                json=body,
                timeout=TIMEOUT_SECONDS,
                stream=True,
                allow_redirects=False,
            ) as response:
                answer = read_body(response, deadline=deadline, max_bytes=MAX_RESPONSE_BYTES)
        except (requests.RequestException, HTTPError, ValueError) as error:
            # Not chained: the text of these errors contains the URL.
            raise FeeSignerUnavailableError(f"Web3Signer did not answer ({type(error).__name__})") from None
        if response.status_code != requests.codes.ok:
            raise FeeSignerUnavailableError(f"Web3Signer answered with status {response.status_code}")
        return answer.decode(errors="replace")


def _address_of(public_key: str) -> str:
    return address_of(PublicKey(UNCOMPRESSED + bytes.fromhex(public_key.removeprefix("0x"))[-POINT_BYTES:]))
