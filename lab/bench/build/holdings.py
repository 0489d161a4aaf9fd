"""What discover finds and costs where an explorer names thousands of worthless tokens before the real ones."""

import json
import time
from dataclasses import replace
from http import HTTPStatus
from statistics import median
from typing import Any

from dev.chain.chains_file import CHAIN
from dev.chain.listing import list_tokens
from lab.bench.build import explorer, proxy
from lab.bench.report import Section, Target
from lab.bench.service import Service, reading_from
from sweepapi import networks
from sweepapi.evm.chain.chains import HoldingsSource
from sweepapi.evm.encoding.addresses import eip55, keccak_hex

SPAM, REAL = 5_000, 20
HOLDS_ONE = "0x600160005260206000f3"  # the code of a token of which everyone has one
RUNS = 5
MOST_ROUND_TRIPS, MOST_MILLISECONDS = 7, 1_000.0


def measure(service: Service) -> Section:
    """Read a wallet without candidates: what its first page has, and how many pages follow."""
    with service.rolled_back():
        wallet = eip55(keccak_hex(b"holder of spam")[:42])
        real = [
            token
            for kind in ("uniswap_v3", "uniswap_v2")
            for token in list_tokens(service.rpc, service.world["contracts"], [wallet], count=REAL // 2, kind=kind)
        ]
        spam = [eip55(keccak_hex(f"spam {i}".encode())[:42]) for i in range(SPAM)]
        service.rpc.batch([("anvil_setCode", [token, HOLDS_ONE]) for token in spam])
        with explorer.running([*spam, *real]) as url, proxy.running(service.rpc.url, delay_seconds=0) as node:
            body = {"chain": CHAIN, "wallet": wallet, "outputMint": service.token("WETH")}
            row = _row(service, body, url, node, real)
    found = f"{REAL} real tokens among {SPAM} of spam"
    targets = [
        Target(f"of {found}, those on the first page", row["realOnFirstPage"], REAL, at_least=True),
        Target(f"round trips for the first page of {found}", row["roundTrips"], MOST_ROUND_TRIPS),
        Target(f"median milliseconds of server CPU for it, of {found}", row["cpuMilliseconds"], MOST_MILLISECONDS),
        Target("tokens that all pages show", row["shown"], SPAM + REAL, at_least=True),
    ]
    return Section("Holdings", [row], targets)


def _row(service: Service, body: dict[str, Any], url: str, node: proxy.Proxy, real: list[str]) -> dict[str, Any]:
    current = networks.current()
    chain = replace(current.chains[CHAIN], holdings_sources=tuple(HoldingsSource))
    asking = replace(current, chains={**current.chains, CHAIN: chain}, blockscout_urls={CHAIN: url})
    with networks.replaced_by(asking):
        with reading_from(node.url):
            _discover(service, body)  # proves the provider
            node.asked.clear()
            first = _discover(service, body)
            round_trips = len(node.asked)
        used = round(median(_cpu_milliseconds(service, body) for _ in range(RUNS)), 1)
        pages = [first]
        while (cursor := pages[-1]["coverage"]["nextCursor"]) is not None:
            pages.append(_discover(service, body | {"cursor": cursor}))
    sellable = {token["mint"] for token in first["tokens"] if token["verdict"] == "sellable"}
    return {
        "named": SPAM + REAL,
        "realOnFirstPage": len(sellable & set(real)),
        "pages": len(pages),
        "shown": len({token["mint"] for page in pages for token in page["tokens"]}),
        "roundTrips": round_trips,
        "cpuMilliseconds": used,
    }


def _cpu_milliseconds(service: Service, body: dict[str, Any]) -> float:
    started = time.process_time()
    _discover(service, body)
    return 1_000 * (time.process_time() - started)


def _discover(service: Service, body: dict[str, Any]) -> dict[str, Any]:
    response = service.client.post("/v2/sweep/discover", json.dumps(body), content_type="application/json")
    if response.status_code != HTTPStatus.OK:
        raise RuntimeError(f"discover was refused: {response.content!r}")
    data: dict[str, Any] = response.json()["data"]
    return data
