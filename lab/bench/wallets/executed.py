"""Executes a way to execute a sweep as its wallet would, and compares what it has then with what was promised."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from dev.chain.chains_file import CHAIN
from dev.processes.errors import NodeError
from lab.bench.service import Service
from lab.bench.wallets.models import Nitro, Plain
from lab.bench.wallets.purses import Purse
from sweepapi.evm.tokens.erc20 import BALANCE_OF

PRECISION = 500  # of the least limit that is searched, in gas


@dataclass(frozen=True)
class Kept:
    """A promise, and what became of it; amounts in the output's smallest unit, at the prices of the answer."""

    kind: str
    tokens: int
    promised_net: int
    net: int
    gross: int
    cost: int
    promised_gas: int
    gas: int
    limit_to_least: float | None  # None for a batch, whose limit its wallet sets, and where data needs gas

    @property
    def deviation(self) -> float:
        """By how much the wallet has other than it was promised, as a part of gross and cost."""
        return abs(self.promised_net - self.net) / max(self.gross + self.cost, 1)


def built(model: Plain, purse: Purse, tokens: Sequence[str]) -> dict[str, Any] | None:
    """Build a sweep of these tokens whatever it costs; None if it is refused."""
    body = {
        "chain": CHAIN,
        "wallet": purse.wallet.address,
        "tokens": [{"mint": token, "amount": str(purse.amounts[token])} for token in tokens],
        "outputMint": purse.output,
        "slippageBps": 100,
        "acceptUneconomic": True,
        **purse.choices,
    }
    model.charge(**purse.prices)
    response = model.service.client.post("/v2/sweep/build", json.dumps(body), content_type="application/json")
    data: dict[str, Any] | None = response.json()["data"] if response.status_code == HTTPStatus.CREATED else None
    return data


def discovered(model: Plain, purse: Purse) -> dict[str, Any]:
    """Return what discover says of the wallet."""
    body = {
        "chain": CHAIN,
        "wallet": purse.wallet.address,
        "outputMint": purse.output,
        "candidates": list(purse.amounts),
        **purse.choices,
    }
    model.charge(**purse.prices)
    response = model.service.client.post("/v2/sweep/discover", json.dumps(body), content_type="application/json")
    data: dict[str, Any] = response.json()["data"]
    return data


def executed(model: Plain, purse: Purse, answer: dict[str, Any], way: dict[str, Any], delegate: str) -> Kept:
    """Execute one way, and undo it; raises RuntimeError if it reverts."""
    service = model.service
    price = int(answer["economics"]["gasPrice"])
    with service.rolled_back():
        before = _balance(service, purse)
        receipts, ratio = [], None
        if way["calls"] is not None:
            tx_hash = purse.wallet.send_calls(way["calls"], delegate=delegate, gas=int(way["gasLimit"]))
        else:
            receipts = [service.receipt(purse.wallet.send(approval)) for approval in way["approvals"]]
            sweep = {**way["transaction"], "data": _signed(purse, way)}
            # What a call needs on Nitro has no data.
            ratio = None if isinstance(model, Nitro) else int(sweep["gas"]) / _least(service, sweep)
            tx_hash = purse.wallet.send(sweep)
        receipts.append(service.receipt(tx_hash))
        if any(receipt["status"] != "0x1" for receipt in receipts):
            raise RuntimeError(f"{way['kind']} reverted for {purse.wallet.address}")
        received = _balance(service, purse) - before
        data_fee = model.data_fee([receipt["transactionHash"] for receipt in receipts])
    gas = sum(int(receipt["gasUsed"], 16) for receipt in receipts)
    paid, stated = gas * price + data_fee, int(way["cost"])
    cost = int(way["gasShare"]) * paid // stated if stated else 0
    return Kept(
        way["kind"],
        len(answer["tokens"]),
        promised_net=int(way["netOutput"]),
        net=received - cost,
        gross=int(answer["estimatedOutput"]["gross"]),
        cost=cost,
        promised_gas=int(way["gas"]),
        gas=gas,
        limit_to_least=ratio,
    )


def _signed(purse: Purse, way: dict[str, Any]) -> str:
    signatures = [purse.wallet.sign(typed_data) for typed_data in way["typedData"]]
    data = bytearray.fromhex(way["transaction"]["data"][2:])
    for part in way["signatureParts"]:
        start, length, offset = part["start"], part["length"], part["byteOffset"]
        data[offset : offset + length] = signatures[part["signature"]][start : start + length]
    return f"0x{data.hex()}"


def _least(service: Service, sweep: dict[str, Any]) -> int:
    """Return the least limit that suffices, by bisection."""
    call = {"from": sweep["from"], "to": sweep["to"], "data": sweep["data"]}
    too_little, enough = 0, int(sweep["gas"])
    while enough - too_little > PRECISION:
        middle = (too_little + enough) // 2
        try:
            service.rpc.call("eth_call", call | {"gas": hex(middle)}, "latest")
        except NodeError:
            too_little = middle
        else:
            enough = middle
    return enough


def _balance(service: Service, purse: Purse) -> int:
    data = f"0x{BALANCE_OF.encode(purse.wallet.address).hex()}"
    return int(service.rpc.call("eth_call", {"to": purse.output, "data": data}, "latest"), 16)
