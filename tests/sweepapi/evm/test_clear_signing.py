"""Wallets show users everything they sign, with an ERC-7730 descriptor that conforms to the standard's schema.

The tests of the contracts check that its message types are theirs.
"""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from eth_account import Account
from jsonschema import Draft202012Validator

from sweepapi.evm.contracts.permit2 import BatchPermit
from sweepapi.evm.contracts.v5 import SweepOrderV5

ROOT = Path(__file__).parents[3]
VECTORS = ROOT / "tests" / "vectors"
DESCRIPTOR = json.loads((ROOT / "contracts" / "erc7730" / "eip712-sweep.json").read_text(encoding="utf-8"))
SCHEMA = json.loads((ROOT / "contracts" / "erc7730" / "erc7730-v2.schema.json").read_text(encoding="utf-8"))
FORMATS: dict[str, dict[str, Any]] = {item["$id"]: item for item in DESCRIPTOR["display"]["formats"].values()}
TYPES = {item["$id"]: key for key, item in DESCRIPTOR["display"]["formats"].items()}
each = pytest.mark.parametrize("version", ["V5", "V4"])


def structs_of(version: str) -> dict[str, dict[str, str]]:
    """Return the members of each struct of a message, as name to type, from its encodeType string."""
    structs = re.findall(r"(\w+)\(([^)]*)\)", TYPES[version])
    return {name: {key: kind for kind, key in map(str.split, members.split(","))} for name, members in structs}


def leaves(structs: dict[str, dict[str, str]], struct: str, prefix: str = "") -> set[str]:
    """Return the paths of all signed values in a struct."""
    paths: set[str] = set()
    for name, kind in structs[struct].items():
        path = prefix + name + (".[]" if kind.endswith("[]") else "")
        inner = kind.removesuffix("[]")
        paths |= leaves(structs, inner, path + ".") if inner in structs else {path}
    return paths


def fields_of(version: str) -> dict[str, dict[str, Any]]:
    """Return the fields of a message by path, with their definitions resolved."""
    definitions = DESCRIPTOR["display"]["definitions"]
    return {
        field["path"]: definitions.get(field.get("$ref", "").removeprefix("$.display.definitions."), {}) | field
        for entry in FORMATS[version]["fields"]
        for field in entry.get("fields", [entry])
    }


def permit_of(vector: dict[str, Any]) -> dict[str, Any]:
    """Return the message that the user of a vector signed."""
    return {
        "permitted": [{key: leg[key] for key in ("token", "amount")} for leg in vector["route"]["legs"]],
        "spender": vector["verifyingContract"],
        "nonce": vector["permitNonce"],
        "deadline": vector["permitDeadline"],
        "witness": vector["order"],
    }


def test_the_descriptor_conforms_to_the_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(DESCRIPTOR)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda spoilt: spoilt["display"]["definitions"]["fee"].update(lable="Fee"),
        lambda spoilt: spoilt["display"]["definitions"]["fee"].update(format="percent"),
        lambda spoilt: spoilt["display"]["definitions"]["fee"]["params"].pop("base"),
        lambda spoilt: spoilt["display"]["formats"].update(SweepOrderV5={}),
        lambda spoilt: spoilt["context"].pop("eip712"),
    ],
)
def test_the_schema_rejects_a_wrong_descriptor(spoil: Any) -> None:
    spoilt = json.loads(json.dumps(DESCRIPTOR))
    spoil(spoilt)
    assert not Draft202012Validator(SCHEMA).is_valid(spoilt)


def test_it_applies_to_permit2_on_every_configured_chain() -> None:
    chains = tomllib.loads((ROOT / "config" / "chains.toml").read_text(encoding="utf-8"))["chains"]
    expected = [{"chainId": chain["chain_id"], "address": chain["permit2"]} for chain in chains.values()]
    binding = DESCRIPTOR["context"]["eip712"]
    assert sorted(binding["deployments"], key=str) == sorted(expected, key=str)
    assert binding["domain"] == {"name": "Permit2"}


def test_it_describes_the_message_that_users_sign() -> None:
    permit = BatchPermit("", [], nonce=0, deadline=0, witness=SweepOrderV5("", [], 0, 0, "", 0).witness)
    asked = permit.typed_data(chain_id=1, permit2="")
    members = {
        struct: {field["name"]: field["type"] for field in struct_fields}
        for struct, struct_fields in asked.types.items()
    }
    assert structs_of("V5") == members


@pytest.mark.parametrize(("version", "file"), [("V5", "eip712.json"), ("V4", "eip712_v4.json")])
def test_a_wallet_that_knows_only_the_descriptor_signs_what_permit2_accepts(version: str, file: str) -> None:
    """The signatures are an independent implementation's; the contracts' tests show that Permit2 accepts them."""
    vectors = json.loads((VECTORS / file).read_text(encoding="utf-8"))
    types = {
        name: [{"name": member, "type": kind} for member, kind in struct.items()]
        for name, struct in structs_of(version).items()
    }
    for vector in vectors["vectors"]:
        signed = Account.sign_typed_data(
            vectors["user"]["privateKey"],
            domain_data={"name": "Permit2", "chainId": int(vector["chainId"]), "verifyingContract": vectors["permit2"]},
            message_types=types,
            message_data=permit_of(vector),
        )
        assert "0x" + bytes(signed.signature).hex() == vector["permitSignature"], vector["name"]


@each
def test_every_signed_value_is_described(version: str) -> None:
    fields = fields_of(version)
    shown_by_ticker = {field["params"]["tokenPath"] for field in fields.values() if field["format"] == "tokenAmount"}
    assert fields.keys() | shown_by_ticker == leaves(structs_of(version), "PermitBatchWitnessTransferFrom")
    optional = {path for path, field in fields.items() if field.get("visible", "always") != "always"}
    assert optional <= {"nonce", "witness.authorizationNonce"}


@each
def test_amounts_are_shown_with_their_ticker_and_the_fee_in_percent(version: str) -> None:
    fields = fields_of(version)
    sent, received = fields["permitted.[].amount"], fields["witness.floors.[]"]
    assert (sent["format"], sent["params"]["tokenPath"]) == ("tokenAmount", "permitted.[].token")
    assert (received["format"], received["params"]["tokenPath"]) == ("tokenAmount", "witness.outputToken")
    fee = fields["witness.totalFeeBps" if version == "V5" else "witness.feeBps"]
    assert (fee["format"], fee["params"]) == ("unit", {"base": "%", "decimals": 2})  # 75 bps are 0.75 %


@each
def test_each_token_is_shown_with_what_is_received_for_it(version: str) -> None:
    (group,) = [entry for entry in FORMATS[version]["fields"] if "fields" in entry]
    assert group["iteration"] == "bundled"  # amount, floor, amount, floor; by default all amounts would come first
    assert [field["path"] for field in group["fields"]] == ["permitted.[].amount", "witness.floors.[]"]


@each
def test_the_intent_names_only_fields_that_are_always_shown(version: str) -> None:
    fields = fields_of(version)
    named = re.findall(r"{([^}]*)}", FORMATS[version]["interpolatedIntent"])
    assert len(named) == 2
    assert all(fields[path].get("visible", "always") == "always" for path in named)
