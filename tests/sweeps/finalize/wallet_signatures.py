"""What wallets sign for the executions of an answer, in every spelling, and requests that finalize a sweep with it."""

from typing import Any

from eth_abi.abi import encode
from eth_account.messages import encode_typed_data
from eth_account.signers.local import LocalAccount
from eth_utils.crypto import keccak

from tests.openapi import assert_documented
from tests.partner_app import PartnerApp
from tests.wallets import executions_of

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141  # of the curve's group
PATH = "/v2/sweep/status/{sweep_id}/finalize"


def sign(user: LocalAccount, typed_data: dict[str, Any]) -> bytes:
    """Return r, s and v, as most wallets do."""
    return bytes(user.sign_message(encode_typed_data(full_message=typed_data)).signature)


def signatures_of(user: LocalAccount, built: dict[str, Any], kind: str = "permit2") -> list[str]:
    """Return the user's signatures of everything that an execution has signed."""
    return [f"0x{sign(user, typed_data).hex()}" for typed_data in executions_of(built)[kind]["typedData"]]


def digest_of(typed_data: dict[str, Any]) -> bytes:
    """Return the 32 bytes that are signed."""
    signable = encode_typed_data(full_message=typed_data)
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def high_s(signature: bytes) -> bytes:
    """Return the other signature of the same key, which has the other parity."""
    s = ORDER - int.from_bytes(signature[32:64])
    return signature[:32] + s.to_bytes(32) + bytes([55 - signature[64]])


def compact(signature: bytes) -> bytes:
    """Return 64 bytes, with the parity in the highest bit of s (ERC-2098)."""
    return signature[:32] + bytes([signature[32] | (signature[64] - 27) << 7]) + signature[33:64]


def wrapped(signature: bytes) -> bytes:
    """Return what the wallet of an account that may not be deployed yet returns (ERC-6492)."""
    return encode(["address", "bytes", "bytes"], ["0x" + "fa" * 20, b"\x01", signature]) + bytes.fromhex("6492" * 16)


def nested(user: LocalAccount, typed_data: dict[str, Any], *, name: str, version: str) -> bytes:
    """Return the signature of typed data nested in that of the user's account (ERC-7739)."""
    types, primary = {**typed_data["types"]}, typed_data["primaryType"]
    types.pop("EIP712Domain")
    account = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
    outer = {"contents": primary, **account, "salt": "bytes32"}
    types["TypedDataSign"] = [{"name": field, "type": kind} for field, kind in outer.items()]
    message = {
        "contents": typed_data["message"],
        "name": name,
        "version": version,
        "chainId": typed_data["domain"]["chainId"],
        "verifyingContract": user.address,
        "salt": bytes(32),
    }
    signable = encode_typed_data(typed_data["domain"], types, message)
    signature = bytes(user.sign_message(signable).signature)
    plain = encode_typed_data(full_message=typed_data)
    structs = (primary, *sorted(typed_data["types"].keys() - {"EIP712Domain", primary}))
    described = "".join(_described(struct, typed_data["types"][struct]) for struct in structs).encode()
    return signature + plain.header + plain.body + described + len(described).to_bytes(2)


def _described(struct: str, members: list[dict[str, str]]) -> str:
    listed = ",".join("{type} {name}".format(**member) for member in members)
    return f"{struct}({listed})"


def post(app: PartnerApp, built: dict[str, Any], signatures: list[Any], kind: str = "permit2") -> Any:
    """Send a request to finalize a sweep, and check that the answer is as documented."""
    body = {"execution": kind, "signatures": signatures}
    response = app.api.post(PATH.format(sweep_id=built["sweepId"]), body, content_type="application/json")
    assert_documented(response, path=PATH)
    return response


def finalize(app: PartnerApp, built: dict[str, Any], signatures: list[Any], kind: str = "permit2") -> dict[str, Any]:
    """Finalize a sweep and return the answer's data."""
    response = post(app, built, signatures, kind)
    assert response.status_code == 200, response.content
    data: dict[str, Any] = response.json()["data"]
    return data


def send(app: PartnerApp, built: dict[str, Any], answer: dict[str, Any]) -> dict[str, Any]:
    """Send the answered transaction, confirm it, and return the status object."""
    transaction = answer["transaction"]
    return app.confirm(built, app.chain.send(app.user, transaction, gas=int(transaction["gas"])))


def problems(response: Any) -> dict[tuple[str, str], str]:
    """Return the messages of the details of a refused signature by their fields and codes."""
    assert (response.status_code, response.json()["error"]["code"]) == (422, "signature_invalid"), response.content
    details = response.json()["error"]["details"]
    return {(detail["field"], detail["code"]): detail["message"] for detail in details}
