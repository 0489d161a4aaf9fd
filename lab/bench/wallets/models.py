"""The local chain under each fee model: how a wallet's prices are set there, and what its data cost."""

import json
import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dev.chain.artifacts import CONTRACTS
from dev.chain.chains_file import CHAIN
from dev.chain.nitro import node as nitro
from dev.chain.rpc import Rpc
from dev.wallets import Wallet
from lab.bench.service import Service
from sweepapi import networks
from sweepapi.evm.chain.fee_models.costs import FeeModel
from sweepapi.evm.chain.fee_models.nitro import NitroFees
from sweepapi.evm.chain.fee_models.op_stack import ORACLE, OpStackFees
from sweepapi.evm.encoding.abi import Function

LEAST_BASE_FEE = 10
GAS_OF_A_TOKEN = 120_000
MOST_RATIO = 300  # of the price of data to the base fee, on Nitro
DATA_GAS_OF_A_TOKEN = 1_000  # at a ratio of one
MOST_UNIT_PRICE = 20  # of the OP stack's data, in base fees: about what the gas costs
TIP_WEI = 10**9  # what the local chain asks for
SET_ORACLE, GET_L1_FEE = Function("set(uint256,uint256,uint256)"), Function("getL1Fee(bytes)", "(uint256)")


@dataclass(frozen=True)
class Plain:
    """A chain that charges nothing for data."""

    service: Service

    def prices(self, chance: random.Random, coins: float) -> dict[str, int]:  # noqa: ARG002 - others draw
        """Return prices at which about so many wei are what a token costs."""
        return {"base_fee": max(int(coins / GAS_OF_A_TOKEN) - TIP_WEI, LEAST_BASE_FEE)}

    def charge(self, *, base_fee: int) -> None:
        """Mine a block with these prices: a base fee falls with each block that is almost empty, also undone ones."""
        self.service.rpc.call("anvil_setNextBlockBaseFeePerGas", hex(base_fee))
        self.service.rpc.call("evm_mine")

    def least_prices(self) -> dict[str, int]:
        """Return the prices at which wallets are filled."""
        return {"base_fee": LEAST_BASE_FEE}

    def data_fee(self, tx_hashes: Sequence[str]) -> int:  # noqa: ARG002 - others charge
        """Return what the data of these transactions cost in addition to their gas, in wei."""
        return 0


@dataclass(frozen=True)
class OpStack(Plain):
    """A chain whose oracle prices the bytes of a transaction."""

    def prices(self, chance: random.Random, coins: float) -> dict[str, int]:
        """Draw the price of data."""
        base = super().prices(chance, coins / 2)
        return {**base, "unit_price": int((base["base_fee"] + TIP_WEI) * MOST_UNIT_PRICE * chance.random())}

    def charge(self, *, base_fee: int, unit_price: int) -> None:  # type: ignore[override]  # with the price of data
        """Set both prices."""
        data = SET_ORACLE.encode(unit_price, 0, 0)
        super().charge(base_fee=LEAST_BASE_FEE)
        call = {"to": ORACLE, "data": f"0x{data.hex()}", "value": 0, "gas": 200_000}
        self.service.receipt(self.service.wallets[0].send(call))
        super().charge(base_fee=base_fee)

    def least_prices(self) -> dict[str, int]:
        """Return the prices at which wallets are filled."""
        return {**super().least_prices(), "unit_price": 0}

    def data_fee(self, tx_hashes: Sequence[str]) -> int:
        """Ask the oracle about the signed bytes, without what it adds for the signature of others."""
        raw = [self.service.rpc.call("eth_getRawTransactionByHash", tx_hash) for tx_hash in tx_hashes]
        nothing = self._fee(b"")
        return sum(self._fee(bytes.fromhex(one.removeprefix("0x"))) - nothing for one in raw)

    def _fee(self, data: bytes) -> int:
        call = {"to": ORACLE, "data": f"0x{GET_L1_FEE.encode(data).hex()}"}
        return int(self.service.rpc.call("eth_call", call, "latest"), 16)


@dataclass(frozen=True)
class Nitro(Plain):
    """A chain that charges for data in gas."""

    node: nitro.NitroNode

    def prices(self, chance: random.Random, coins: float) -> dict[str, int]:
        """Draw the ratio of both prices."""
        ratio = int(MOST_RATIO ** chance.random())
        base_fee = max(int(coins / (GAS_OF_A_TOKEN + ratio * DATA_GAS_OF_A_TOKEN)), LEAST_BASE_FEE)
        return {"base_fee": base_fee, "data_price": ratio * base_fee}

    def charge(self, *, base_fee: int, data_price: int) -> None:  # type: ignore[override]  # with the price of data
        """Set both prices."""
        self.node.base_fee = self.node.min_base_fee = base_fee
        self.node.data_price = data_price
        super().charge(base_fee=LEAST_BASE_FEE)

    def least_prices(self) -> dict[str, int]:
        """Return the prices at which wallets are filled."""
        return {**super().least_prices(), "data_price": 0}


@contextmanager
def plain(service: Service) -> Iterator[Plain]:
    """Leave the local chain as it is."""
    yield Plain(service)


@contextmanager
def op_stack(service: Service) -> Iterator[Plain]:
    """Put the oracle on the chain."""
    artifact: dict[str, Any] = json.loads(
        (CONTRACTS / "out/GasPriceOracle.sol/GasPriceOracle.json").read_text(encoding="utf-8")
    )
    service.rpc.call("anvil_setCode", ORACLE, artifact["deployedBytecode"]["object"])
    with _charged_by(OpStackFees(), service.rpc.url):
        yield OpStack(service)


@contextmanager
def nitro_chain(service: Service) -> Iterator[Plain]:
    """Put a node that charges for data in front of the chain."""
    with nitro.charging(service.rpc.url, ratio=0) as node, _charged_by(NitroFees(), node.url):
        rpc = Rpc(node.url)
        wallets = [Wallet(rpc, user["privateKey"]) for user in service.world["users"]]
        yield Nitro(replace(service, rpc=rpc, wallets=wallets), node)


@contextmanager
def _charged_by(model: FeeModel, url: str) -> Iterator[None]:
    known = networks.current()
    chains = {**known.chains, CHAIN: replace(known.chains[CHAIN], fee_model=model)}
    with networks.replaced_by(replace(known, chains=chains, rpc_urls={CHAIN: [url]})):
        yield
