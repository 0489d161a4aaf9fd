"""Runs the swap API as a process: ``python -m dev.solana.swap_api PORT FILE``; the JSON file describes the maker."""

import json
import sys
from pathlib import Path
from typing import Any

from solders.keypair import Keypair
from solders.pubkey import Pubkey

from dev.chain.rpc import Rpc
from dev.solana.swap_api.maker import Maker, Price
from dev.solana.swap_api.server import LocalSwapApi, create_server


def main() -> None:
    port, file = sys.argv[1:]
    maker = _maker(json.loads(Path(file).read_text(encoding="utf-8")))
    api = LocalSwapApi(maker.build, listed=lambda: map(str, maker.prices), dollars=maker.dollars)
    with create_server(api, int(port)) as server:
        server.serve_forever()


def _maker(facts: dict[str, Any]) -> Maker:
    return Maker(
        rpc=Rpc(facts["rpcUrl"]),
        keypair=Keypair.from_base58_string(facts["makerKey"]),
        prices={
            Pubkey.from_string(mint): Price(
                decimals=price["decimals"],
                micro_usd=price["microUsd"],
                through=Pubkey.from_string(price["through"]) if price["through"] else None,
            )
            for mint, price in facts["prices"].items()
        },
        lookup_tables=tuple(Pubkey.from_string(table) for table in facts["lookupTables"]),
    )


if __name__ == "__main__":
    main()
