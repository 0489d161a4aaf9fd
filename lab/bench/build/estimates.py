"""How exactly a build predicts its sweep: output and gas, and whether the gas limit suffices."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dev.wallets import Wallet
from lab.bench.report import Section, Target
from lab.bench.service import Service
from sweepapi.evm.contracts.v5 import decode_executed
from sweepapi.evm.encoding import responses
from sweepapi_client import finalized

SWEEPS = 200
SEED = 11
MOST_TOKENS = 8
OUTPUTS = ("ETH", "WETH", "USDC", "USDT", "DAI", "WBTC", "LINK")
# What a wallet holds of each token is worth a multiple of these whole units; from a few dollars to a few thousand.
UNITS = {"USDC": 5.0, "USDT": 5.0, "DAI": 5.0, "GUSD": 5.0, "WBTC": 0.0001, "LINK": 0.4, "UNI": 0.7, "TFEE": 3.0}
UNITS_OF_WRAPPED_COIN = 0.002
MOST_TIMES = 300
MOST_GAS_ERROR = 0.05
# Between blocks, as on public chains: a V2 pool writes two more words in the first swap of a second.
BLOCK_SECONDS = 2


@dataclass(frozen=True)
class Compared:
    """A sweep as built and as executed."""

    tokens: int
    output: str
    estimated_gross: int
    gross: int | None  # None if it reverted
    estimated_gas: int
    gas: int
    gas_limit: int

    @property
    def gas_error(self) -> float:
        return abs(self.estimated_gas - self.gas) / self.gas


def measure(service: Service) -> Section:
    """Build random sweeps, each executed at once, so that nothing moves in between."""
    chance = random.Random(SEED)  # noqa: S311 - the same sweeps in each run
    with service.rolled_back():
        compared = [_compare(service, chance) for _ in range(SWEEPS)]
    targets = [
        Target("sweeps whose gross output was not the estimated one", sum(_differs(one) for one in compared), 0),
        Target("largest error of the estimated gas", round(max(one.gas_error for one in compared), 4), MOST_GAS_ERROR),
        Target("sweeps that ran out of gas or failed otherwise", sum(one.gross is None for one in compared), 0),
    ]
    return Section(f"Estimates of {SWEEPS} random sweeps", list(_rows(compared)), targets)


def _rows(compared: Sequence[Compared]) -> Iterator[dict[str, Any]]:
    for output in OUTPUTS:
        sweeps = [one for one in compared if one.output == output]
        yield {
            "output": output,
            "sweeps": len(sweeps),
            "tokens": sum(one.tokens for one in sweeps),
            "exact outputs": sum(not _differs(one) for one in sweeps),
            "mean gas error": round(sum(one.gas_error for one in sweeps) / len(sweeps), 4),
            "largest gas error": round(max(one.gas_error for one in sweeps), 4),
            "mean limit to gas": round(sum(one.gas_limit / one.gas for one in sweeps) / len(sweeps), 3),
        }


def _differs(one: Compared) -> bool:
    return one.gross != one.estimated_gross


def _compare(service: Service, chance: random.Random) -> Compared:
    service.rpc.batch([("evm_increaseTime", [BLOCK_SECONDS]), ("evm_mine", [])])
    wallet, output = chance.choice(service.wallets), chance.choice(OUTPUTS)
    built = service.build(_body(service, chance, wallet, output))
    (way,) = (one for one in built["executions"] if one["kind"] == "permit2")
    approved = [service.receipt(wallet.send(approval)) for approval in way["approvals"]]
    receipt = service.receipt(wallet.send(finalized(built, wallet.sign(built["permit2"]))))
    return Compared(
        tokens=len(built["tokens"]),
        output=output,
        estimated_gross=int(built["estimatedOutput"]["gross"]),
        gross=_gross(receipt),
        estimated_gas=int(way["gas"]),
        gas=sum(int(one["gasUsed"], 16) for one in (*approved, receipt)),
        gas_limit=int(way["gasLimit"]),
    )


def _body(service: Service, chance: random.Random, wallet: Wallet, output: str) -> str:
    units = {service.token(symbol): (whole, service.decimals(symbol)) for symbol, whole in UNITS.items()}
    units |= dict.fromkeys([*service.listed, service.token("WETH")], (UNITS_OF_WRAPPED_COIN, 18))
    units.pop(service.token(output) if output != "ETH" else "", None)
    tokens = chance.sample(sorted(units), chance.randint(1, MOST_TOKENS))
    amounts = {token: int(units[token][0] * MOST_TIMES ** chance.random() * 10 ** units[token][1]) for token in tokens}
    on_leg_failure = chance.choice(["revert", "skip"])
    return service.request(amounts, service.token(output), wallet=wallet, onLegFailure=on_leg_failure)


def _gross(receipt: dict[str, Any]) -> int | None:
    events = [decode_executed(log) for log in responses.logs(receipt["logs"])]
    return next((event.gross_output for event in events if event is not None), None)
