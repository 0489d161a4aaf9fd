"""Measures what others have of the service while a partner attacks it: ``python -m dev exec -- python -m lab.hostile``.

Prints tables and a line for each target, and writes both to ``var/bench/hostile.json``; exits with 1 if one is missed.
"""

import json
import os
import sys
from pathlib import Path

from dev.chain.chains_file import CHAIN
from lab.bench.database import set_up
from lab.bench.report import conclude, print_table

AMOUNT = 10**6


def main() -> int:
    """Run all measures; returns the exit code."""
    set_up()
    from lab.bench.service import issued_key  # noqa: PLC0415 its models need django.setup()
    from lab.hostile import reads  # noqa: PLC0415 beside it

    file = Path(os.environ["DEV_WORLD_FILE"])
    world = json.loads(file.read_text(encoding="utf-8")) | {"folder": str(file.parent)}
    quote = {
        "chain": CHAIN,
        "wallet": world["users"][0]["address"],
        "tokens": [{"mint": world["tokens"]["USDC"]["address"], "amount": str(AMOUNT)}],
        "outputMint": world["tokens"]["WETH"]["address"],
        "slippageBps": 100,
    }
    found = reads.measure(world, reader_key=issued_key("live"), attacker_key=issued_key("test"), quote=quote)
    for section in found:
        print_table(section)
    return conclude(found, "hostile")


if __name__ == "__main__":
    sys.exit(main())
