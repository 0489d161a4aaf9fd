"""Puts the fee oracle of the OP stack on the local chain."""

import json

from dev.chain.artifacts import CONTRACTS
from sweepapi.evm.chain.fee_models.op_stack import ORACLE
from sweepapi.evm.encoding.abi import Function
from tests.local_chain import LocalChain

SET = Function("set(uint256,uint256,uint256)")


def put_op_oracle(
    chain: LocalChain, *, wei_per_unit: int, operator_scalar: int = 0, operator_constant: int = 0
) -> None:
    """Charge so much for a unit of gas of the chain below, of which a byte takes 16, and a zero byte 4."""
    artifact = json.loads((CONTRACTS / "out/GasPriceOracle.sol/GasPriceOracle.json").read_text(encoding="utf-8"))
    chain.put_code(ORACLE, artifact["deployedBytecode"]["object"].removeprefix("0x"))
    data = SET.encode(wei_per_unit, operator_scalar, operator_constant)
    assert chain.receipt(chain.send(chain.users[0], {"to": ORACLE, "data": f"0x{data.hex()}"}))["status"] == 1


def units_of(signed: bytes) -> int:
    """Return the units that a signed transaction is charged for."""
    return sum(16 if byte else 4 for byte in signed)
