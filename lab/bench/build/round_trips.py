"""How many round trips to the chain a build takes, its simulation included."""

import json
from collections.abc import Sequence

from dev.chain.artifacts import CONTRACTS
from dev.chain.sender import calldata
from lab.bench.build import proxy
from lab.bench.report import Section, Target
from lab.bench.service import Service, reading_from

COUNTS = (1, 5, 10, 20, 30)
MOST, MOST_IF_LEFT_OUT = 4, 5
# As in TrapToken.sol: the token refuses transfers that a contract makes for its holder, so that no probe finds out.
CONTRACT_CALLS, REFUSE = 4, 0


def measure(service: Service) -> Section:
    """Count what arrives at the node; each request counts, also if several were sent at once."""
    rows = [
        {"tokens": str(count), "output": output, "roundTrips": _count(service, service.listed[:count], output)}
        for output in ("WETH", "USDC")
        for count in COUNTS
    ]
    taxed = [
        {
            "tokens": f"{count}, and one that keeps a part",
            "output": output,
            "roundTrips": _count(service, [*service.listed[:count], service.token("TFEE")], output),
        }
        for output in ("WETH", "USDC")
        for count in (1, 29)
    ]
    with service.rolled_back():
        _set_trap(service)
        left_out = [
            {
                "tokens": f"{count}, and one that has to be left out",
                "output": output,
                "roundTrips": _count(service, [*service.listed[:count], service.token("UNI")], output),
            }
            for output in ("WETH", "USDC")
            for count in (1, 29)
        ]
    targets = [
        Target("round trips of a build of 1 to 30 tokens", _most([*rows, *taxed]), MOST),
        Target("round trips where a token had to be left out", _most(left_out), MOST_IF_LEFT_OUT),
    ]
    return Section("Round trips of a build", [*rows, *taxed, *left_out], targets)


def _count(service: Service, tokens: Sequence[str], output: str) -> int:
    with proxy.running(service.rpc.url, delay_seconds=0) as node, reading_from(node.url):
        built = service.build(service.body(tokens, service.token(output), onUnroutable="skip"))
        kinds = {token["route"] and token["route"]["kind"] for token in built["tokens"]} - {"router"}
        if built["issues"]["simulation"]["status"] != "ok" or kinds != {"joined" if output == "USDC" else "pool"}:
            raise RuntimeError(f"not what was to be measured: {built['issues']['simulation']}")
        return len(node.asked)


def _most(rows: Sequence[dict[str, str | int]]) -> int:
    return max(int(row["roundTrips"]) for row in rows)


def _set_trap(service: Service) -> None:
    compiled = json.loads((CONTRACTS / "out/TrapToken.sol/TrapToken.json").read_text(encoding="utf-8"))
    token = service.token("UNI")
    service.rpc.call("anvil_setCode", token, compiled["deployedBytecode"]["object"])
    arm = calldata("arm(uint8,uint8)", CONTRACT_CALLS, REFUSE)
    service.wallets[1].send({"to": token, "data": f"0x{arm.hex()}", "value": "0"})
