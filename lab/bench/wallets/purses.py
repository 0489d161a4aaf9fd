"""Random wallets: a few tokens worth cents to dollars, some of them approved, at a gas price that some are worth."""

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eth_utils.crypto import keccak

from dev.chain.chains_file import CHAIN
from dev.wallets import Wallet
from lab.bench.service import Service
from lab.bench.wallets.models import Plain
from sweepapi import networks
from sweepapi.evm.encoding.abi import Function
from sweepapi.evm.tokens.erc20 import APPROVE, UNLIMITED

MOST_TOKENS = 12
LEAST_DOLLARS, MOST_DOLLARS = 0.05, 50.0
COIN_DOLLARS = 2_500
MOST_IMPACT_BPS = 100  # of what the first user holds, from which prices are taken
OUTPUTS = ("WETH", "USDC")
ATOMIC = ("ready", "unsupported", None)
TRANSFER = Function("transfer(address,uint256)")


@dataclass(frozen=True)
class Purse:
    """One wallet, what it holds, and how it can execute sweeps."""

    wallet: Wallet
    amounts: Mapping[str, int]  # by token
    output: str
    choices: Mapping[str, Any]  # of a request
    prices: Mapping[str, int]  # as its fee model takes them


def dollars_per_unit(service: Service) -> dict[str, float]:
    """Return what the smallest unit of each token of the first user is worth, as discover says."""
    holder = service.wallets[0].address
    body = {"chain": CHAIN, "wallet": holder, "outputMint": service.token("WETH"), "candidates": list(service.listed)}
    answer = service.client.post("/v2/sweep/discover", json.dumps(body), content_type="application/json").json()["data"]
    return {
        token["mint"]: int(token["value"]) / 10**6 / int(token["amount"])
        for token in answer["tokens"]
        if token["verdict"] == "sellable" and token["priceImpactBps"] < MOST_IMPACT_BPS
    }


def purse(model: Plain, worth: Mapping[str, float], number: int) -> Purse:
    """Fill a new wallet, whose first transactions are approvals; ``worth`` is that of tokens, in dollars per unit."""
    service = model.service
    chance = random.Random(f"wallet {number}")  # noqa: S311 - the same wallets in each run
    wallet = Wallet(service.rpc, f"0x{keccak(text=f'purse {number}').hex()}")
    service.rpc.call("anvil_setBalance", wallet.address, hex(10**19))
    model.charge(**model.least_prices())
    output = service.token(chance.choice(OUTPUTS))
    tokens = chance.sample(sorted(worth.keys() - {output}), chance.randint(1, MOST_TOKENS))
    dollars = {token: LEAST_DOLLARS * (MOST_DOLLARS / LEAST_DOLLARS) ** chance.random() for token in tokens}
    amounts = {token: int(dollars[token] / worth[token]) for token in tokens}
    for token, amount in amounts.items():
        _send(service, service.wallets[0], token, TRANSFER.encode(wallet.address, amount))
        _approve(service, chance, wallet, token, amount)
    atomic = chance.choice(ATOMIC)
    choices: dict[str, Any] = {"approvals": chance.choice(["exact", "exact", "unlimited"])}
    if atomic is not None:
        choices["execution"] = {"wallet": {"atomic": atomic}}
    coins = _coins(sorted(dollars.values()), chance.uniform(0.25, 0.75))
    return Purse(wallet, amounts, output, choices, model.prices(chance, coins))


def _approve(service: Service, chance: random.Random, wallet: Wallet, token: str, amount: int) -> None:
    for spender in (networks.current().chains[CHAIN].permit2, service.world["contracts"]["v5"]):
        given = chance.choice([None, None, None, amount, amount * 2, UNLIMITED])
        if given is not None:
            _send(service, wallet, token, APPROVE.encode(spender, given))


def _coins(dollars: Sequence[float], part: float) -> float:
    """Return the wei that about this part of the tokens is worth less than."""
    return dollars[min(int(part * len(dollars)), len(dollars) - 1)] / COIN_DOLLARS * 10**18


def _send(service: Service, wallet: Wallet, to: str, data: bytes) -> None:
    receipt = service.receipt(wallet.send({"to": to, "data": f"0x{data.hex()}", "value": 0, "gas": 200_000}))
    if receipt["status"] != "0x1":
        raise RuntimeError(f"a transaction that fills a wallet failed: {receipt}")
