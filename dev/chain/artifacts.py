"""Finds the bytecode for the local chain: in npm packages, our own forge build, and one constant of a PyPI package."""

import ast
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from eth_utils.abi import collapse_if_tuple
from eth_utils.crypto import keccak

from dev.packages import package_folder
from dev.processes.errors import NotInstalledError

CONTRACTS = Path(__file__).parents[2] / "contracts"
_UNISWAP = CONTRACTS / "node_modules" / "@uniswap"
_FILES = {
    "WETH9": _UNISWAP / "v2-periphery/build/WETH9.json",
    "UniswapV2Factory": _UNISWAP / "v2-core/build/UniswapV2Factory.json",
    "UniswapV2Pair": _UNISWAP / "v2-core/build/UniswapV2Pair.json",
    "UniswapV2Router02": _UNISWAP / "v2-periphery/build/UniswapV2Router02.json",
    "UniswapV3Factory": _UNISWAP / "v3-core/artifacts/contracts/UniswapV3Factory.sol/UniswapV3Factory.json",
    "UniswapV3Pool": _UNISWAP / "v3-core/artifacts/contracts/UniswapV3Pool.sol/UniswapV3Pool.json",
    "NonfungiblePositionManager": _UNISWAP
    / "v3-periphery/artifacts/contracts/NonfungiblePositionManager.sol/NonfungiblePositionManager.json",
    "SwapRouter02": _UNISWAP / "swap-router-contracts/artifacts/contracts/SwapRouter02.sol/SwapRouter02.json",
    "QuoterV2": _UNISWAP / "swap-router-contracts/artifacts/contracts/lens/QuoterV2.sol/QuoterV2.json",
    "Permit2": CONTRACTS / "out/permit2/Permit2.sol/Permit2.json",
    **{
        name: CONTRACTS / f"out/{name}.sol/{name}.json"
        for name in (
            "BatchAccount",
            "DaiPermitToken",
            "EndlessAllowanceToken",
            "MintableToken",
            "NestingBatchAccount",
            "NoReturnToken",
            "OwnedWallet",
            "PermitToken",
            "RehashingBatchAccount",
            "SandboxToken",
            "SigningBatchAccount",
            "TransferFeeToken",
            "TrapToken",
        )
    },
}
# The code hash of 0xcA11bde05977b3631167028862bE2a173976CA11 on every public chain.
_MULTICALL3_CODE_HASH = "d5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891"


@dataclass(frozen=True)
class Artifact:
    """A compiled contract: its creation code, and the ABI types of its constructor's arguments."""

    creation_code: bytes
    constructor_types: tuple[str, ...]


@cache
def artifact(name: str) -> Artifact:
    """Return a compiled contract; raises NotInstalledError if its package or our build is missing."""
    path = _FILES[name]
    if not path.exists():
        raise NotInstalledError(f"{path.relative_to(CONTRACTS.parent)} is missing: run `make demo` to get it")
    compiled = json.loads(path.read_text())
    code = compiled["bytecode"]
    inputs = [entry["inputs"] for entry in compiled["abi"] if entry["type"] == "constructor"]
    return Artifact(
        creation_code=bytes.fromhex((code["object"] if isinstance(code, dict) else code).removeprefix("0x")),
        constructor_types=tuple(collapse_if_tuple(argument) for listed in inputs for argument in listed),
    )


@cache
def multicall3_runtime() -> bytes:
    """Return the canonical Multicall3's code, read without importing it from the package `multicall`."""
    source = ast.parse((package_folder("multicall") / "constants.py").read_text())
    literals = (node.value for node in ast.walk(source) if isinstance(node, ast.Constant))
    codes = (bytes.fromhex(value[2:]) for value in literals if isinstance(value, str) and value.startswith("0x60"))
    for code in codes:
        if keccak(code).hex() == _MULTICALL3_CODE_HASH:
            return code
    raise NotInstalledError("the package `multicall` does not contain the canonical Multicall3")
