"""How many round trips discover takes, its simulated sales included, and how much CPU of the server."""

import json
import time
from http import HTTPStatus
from statistics import median
from typing import Any

from dev.chain.chains_file import CHAIN
from dev.chain.listing import list_tokens
from lab.bench.build import proxy
from lab.bench.report import Section, Target
from lab.bench.service import Service, reading_from
from sweepapi.evm.encoding.addresses import eip55, keccak_hex

CANDIDATES, HELD = 500, 50
WARM_UP, RUNS = 2, 10
MOST_ROUND_TRIPS, MOST_MILLISECONDS = 7, 450.0


def measure(service: Service) -> Section:
    """Read a wallet that holds a tenth of the candidates, each of which has a pool with the wrapped coin."""
    with service.rolled_back():
        body = _body(service)
        rows = [_row(service, body, output) for output in ("WETH", "USDC")]
    held = f"{CANDIDATES} candidates of which {HELD} are held"
    targets = [
        Target(f"round trips for {held}", max(row["roundTrips"] for row in rows), MOST_ROUND_TRIPS),
        Target(
            f"median milliseconds of server CPU for {held}",
            max(row["cpuMilliseconds"] for row in rows),
            MOST_MILLISECONDS,
        ),
    ]
    return Section("Discover", rows, targets)


def _row(service: Service, body: dict[str, Any], output: str) -> dict[str, Any]:
    request = json.dumps(body | {"outputMint": service.token(output)})
    with proxy.running(service.rpc.url, delay_seconds=0) as node, reading_from(node.url):
        found = _discover(service, request)
        round_trips = len(node.asked)
    sellable = sum(token["verdict"] == "sellable" for token in found["tokens"])
    if sellable != HELD:
        raise RuntimeError(f"not what was to be measured: {sellable} tokens can be sold")
    for _ in range(WARM_UP):
        _discover(service, request)
    used = round(median(_cpu_milliseconds(service, request) for _ in range(RUNS)), 1)
    return {
        "candidates": CANDIDATES,
        "held": HELD,
        "output": output,
        "roundTrips": round_trips,
        "cpuMilliseconds": used,
    }


def _body(service: Service) -> dict[str, Any]:
    """Return the request for a new wallet, without its output."""
    wallet = _account("wallet")
    held = [
        token
        for kind in ("uniswap_v3", "uniswap_v2")
        for token in list_tokens(service.rpc, service.world["contracts"], [wallet], count=HELD // 2, kind=kind)
    ]
    code = service.rpc.call("eth_getCode", held[0], "latest")
    others = [_account(f"token {i}") for i in range(CANDIDATES - HELD)]
    service.rpc.batch([("anvil_setCode", [token, code]) for token in others])
    return {"chain": CHAIN, "wallet": wallet, "candidates": [*others, *held]}


def _account(name: str) -> str:
    """Return an address that nothing else uses."""
    return eip55(keccak_hex(f"discover {name}".encode())[:42])


def _cpu_milliseconds(service: Service, request: str) -> float:
    started = time.process_time()
    _discover(service, request)
    return 1_000 * (time.process_time() - started)


def _discover(service: Service, request: str) -> dict[str, Any]:
    response = service.client.post("/v2/sweep/discover", request, content_type="application/json")
    if response.status_code != HTTPStatus.OK:
        raise RuntimeError(f"discover was refused: {response.content!r}")
    data: dict[str, Any] = response.json()["data"]
    return data
