"""The contracts' creation code from the build, and the CREATE2 addresses at which it will be deployed.

An address depends only on the code and the constructor's arguments. So anyone who sends the same bytes before us
creates the same contract in the same state: even the manager's first admin is an argument.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from eth_abi.abi import encode
from eth_typing import HexAddress, HexStr
from web3.utils.address import get_create2_address

from sweepapi.evm.chain.errors import BuildError
from sweepapi.evm.deployment.code import build_record
from sweepapi.evm.deployment.specification import MANAGER, V4, V5, Addresses, Specification
from sweepapi.evm.encoding.addresses import keccak_hex

# Arachnid's deterministic-deployment-proxy, at the same address on every chain: it creates the code after the salt.
CREATOR = "0x4e59b44847b379578588920cA78FbF26c0B4956C"
CREATOR_CODE_HASH = "0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989"
SALT = bytes(32)


@dataclass(frozen=True)
class Creation:
    """A contract, and the data of the transaction to ``CREATOR`` that creates it."""

    name: str
    address: str
    data: bytes


class Artifacts:
    """The build's creation code, checked against the record."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def creation_code(self, name: str) -> bytes:
        """Return a contract's creation code without arguments; raises ``BuildError``."""
        path = self._folder / f"{name}.sol" / f"{name}.json"
        if not path.exists():
            raise BuildError(f"{name} is not built: run `make contracts/out/.ready` and deploy from this checkout")
        code = bytes.fromhex(json.loads(path.read_text(encoding="utf-8"))["bytecode"]["object"].removeprefix("0x"))
        if keccak_hex(code) != build_record(name).creation_code_hash:
            raise BuildError(f"the build of {name} does not match the record (abi/build.json): rebuild it")
        return code


def creations(specification: Specification, artifacts: Artifacts, deployer: str) -> tuple[Creation, ...]:
    """Return the contracts in the order of their creation; later ones refer to the manager."""
    chain = specification.chain
    manager = _creation(artifacts, MANAGER, ("address", deployer))
    bound = (("address", manager.address), ("address", chain.permit2), ("address", chain.wrapped_native))
    v5 = _creation(artifacts, V5, *bound, ("address", specification.fee_signer))
    fee = (("uint16", specification.v4_fee_bps), ("address", specification.protocol_recipient))
    return manager, v5, _creation(artifacts, V4, *bound, *fee)


def addresses(made: tuple[Creation, ...]) -> Addresses:
    """Return the addresses of the contracts of ``creations``."""
    manager, v5, v4 = (creation.address for creation in made)
    return Addresses(manager, v5, v4)


def _creation(artifacts: Artifacts, name: str, *arguments: tuple[str, object]) -> Creation:
    kinds, values = zip(*arguments, strict=True)
    code = artifacts.creation_code(name) + encode(kinds, values)
    address = get_create2_address(HexAddress(HexStr(CREATOR)), HexStr("0x" + SALT.hex()), HexStr("0x" + code.hex()))
    return Creation(name, address, SALT + code)
