"""Python hashes and signs exactly as an independent implementation; the contracts' tests read the same vectors."""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_abi.abi import encode
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_utils.address import to_checksum_address
from eth_utils.crypto import keccak

from sweepapi.evm.contracts import batch, v5
from sweepapi.evm.contracts.permit2 import BatchPermit
from sweepapi.evm.encoding.eip712 import TypedData
from sweepapi.evm.signers import LocalFeeSigner
from tests.local_chain import LocalChain
from tests.route_vectors import route_of

FILE = json.loads((Path(__file__).parents[2] / "vectors" / "eip712.json").read_text(encoding="utf-8"))
each = pytest.mark.parametrize("vector", FILE["vectors"], ids=lambda vector: vector["name"])

Vector = dict[str, Any]


def authorization_of(vector: Vector) -> v5.Authorization:
    fields = vector["authorization"]
    return v5.Authorization(
        user=to_checksum_address(fields["user"]),
        partner_id=fields["partnerId"],
        partner_recipient=to_checksum_address(fields["partnerRecipient"]),
        protocol_recipient=to_checksum_address(fields["protocolRecipient"]),
        output_token=to_checksum_address(fields["outputToken"]),
        total_fee_bps=int(fields["totalFeeBps"]),
        partner_share_bps=int(fields["partnerShareBps"]),
        nonce=int(fields["nonce"]),
        deadline=int(fields["deadline"]),
        legs_hash=fields["legsHash"],
    )


def order_of(vector: Vector) -> v5.SweepOrderV5:
    fields = vector["order"]
    return v5.SweepOrderV5(
        output_token=to_checksum_address(fields["outputToken"]),
        floors=[int(floor) for floor in fields["floors"]],
        max_skipped=int(fields["maxSkipped"]),
        total_fee_bps=int(fields["totalFeeBps"]),
        partner_id=fields["partnerId"],
        authorization_nonce=int(fields["authorizationNonce"]),
    )


def authorization_message(vector: Vector) -> TypedData:
    contract = to_checksum_address(vector["verifyingContract"])
    return authorization_of(vector).typed_data(chain_id=int(vector["chainId"]), contract=contract)


def permit_message(vector: Vector) -> TypedData:
    permit = BatchPermit(
        spender=to_checksum_address(vector["verifyingContract"]),
        permitted=[(leg.token, leg.amount) for leg in route_of(vector).legs],
        nonce=int(vector["permitNonce"]),
        deadline=int(vector["permitDeadline"]),
        witness=order_of(vector).witness,
    )
    return permit.typed_data(chain_id=int(vector["chainId"]), permit2=FILE["permit2"])


@each
def test_hops_are_packed_as_the_vectors_say(vector: Vector) -> None:
    route = route_of(vector)
    assert [str(leg.hop.as_int()) for leg in route.legs] == [leg["packedHop"] for leg in vector["route"]["legs"]]
    assert str(route.last_hop.as_int()) == vector["route"]["packedLastHop"]


@each
def test_the_hash_of_the_route_agrees(vector: Vector) -> None:
    assert batch.hash_route(route_of(vector)) == vector["legsHash"]


@each
def test_the_order_is_the_one_of_the_route_and_the_authorization(vector: Vector) -> None:
    route, authorization, order = route_of(vector), authorization_of(vector), order_of(vector)
    assert (order.floors, order.max_skipped) == (route.floors, route.max_skipped)
    assert (order.output_token, order.total_fee_bps) == (authorization.output_token, authorization.total_fee_bps)
    assert (order.partner_id, order.authorization_nonce) == (authorization.partner_id, authorization.nonce)


@each
def test_the_digest_of_the_authorization_agrees(vector: Vector) -> None:
    assert authorization_message(vector).digest == vector["authorizationDigest"]


@each
def test_the_fee_signers_signature_agrees_to_the_byte(vector: Vector) -> None:
    signer = LocalFeeSigner.from_key(FILE["feeSigner"]["privateKey"])
    assert signer.address == FILE["feeSigner"]["address"]
    assert "0x" + signer.sign(authorization_message(vector)).hex() == vector["authorizationSignature"]


@each
def test_the_digest_of_the_permit_and_its_witness_agrees(vector: Vector) -> None:
    assert permit_message(vector).digest == vector["permitDigest"]


@each
def test_a_wallet_signs_the_permit_of_the_answer_to_the_byte(vector: Vector) -> None:
    user = Account.from_key(FILE["user"]["privateKey"])
    signed = user.sign_message(encode_typed_data(full_message=permit_message(vector).for_wallets()))
    assert "0x" + bytes(signed.signature).hex() == vector["permitSignature"]


@each
def test_the_hash_of_the_order_agrees(vector: Vector) -> None:
    order = order_of(vector)
    type_hash = keccak(
        text="SweepOrder(address outputToken,uint256[] floors,uint8 maxSkipped,uint16 totalFeeBps,bytes32 partnerId,"
        "uint256 authorizationNonce)"
    )
    floors_hash = keccak(b"".join(floor.to_bytes(32, "big") for floor in order.floors))
    values = [type_hash, order.output_token, floors_hash, order.max_skipped, order.total_fee_bps]
    values += [bytes.fromhex(order.partner_id[2:]), order.authorization_nonce]
    encoded = encode(["bytes32", "address", "bytes32", "uint8", "uint16", "bytes32", "uint256"], values)
    assert "0x" + keccak(encoded).hex() == vector["witness"]


def test_the_largest_integers_are_among_the_vectors() -> None:
    assert any(int(vector["authorization"]["nonce"]) == 2**256 - 1 for vector in FILE["vectors"])
    assert any(vector["order"]["floors"] == [str(2**128 - 1)] for vector in FILE["vectors"])


@each
def test_the_deployed_contract_hashes_route_and_authorization_the_same_way(chain: LocalChain, vector: Vector) -> None:
    abi = json.loads((Path(v5.__file__).parents[1] / "abi" / f"{v5.CONTRACT_NAME}.json").read_text(encoding="utf-8"))
    contract = chain.web3.eth.contract(address=chain.contracts["v5"], abi=abi)  # type: ignore[call-overload]
    route, authorization = route_of(vector).as_tuple(), authorization_of(vector)
    assert contract.functions.hashLegs(route).call().hex() == vector["legsHash"][2:]
    digest = contract.functions.hashAuthorization(tuple(authorization.message().values())).call()
    here = authorization.typed_data(chain_id=chain.world["chainId"], contract=chain.contracts["v5"])
    assert "0x" + digest.hex() == here.digest
