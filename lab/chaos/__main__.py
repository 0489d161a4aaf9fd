"""``python -m lab.chaos --seeds 3 --sweeps 500``: runs the seeds side by side and prints what happened.

Exits non-zero if a sweep was lost, doubled or stuck, or if the books differ from the chain.
"""

import argparse
import sys
import time
from collections.abc import Sequence

from dev.processes.errors import LocalWorldError
from dev.processes.supervisor import Interrupted, say
from lab.chaos.breaking.faults import DECKS
from lab.chaos.report import show
from lab.chaos.run import Plan, run
from lab.chaos.side_by_side import run_all


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m lab.chaos")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds to run")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--sweeps", type=int, default=500, help="stories per seed")
    parser.add_argument("--lanes", nargs="*", default=list(DECKS), choices=list(DECKS), help="the faults to draw")
    parser.add_argument("--jobs", type=int, default=3, help="how many seeds to run side by side")
    given = parser.parse_args(arguments)
    plan = Plan(sweeps=given.sweeps, lanes=given.lanes)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    began = time.monotonic()
    try:
        results = run_all(seeds, plan, jobs=given.jobs) if len(seeds) > 1 else [run(seeds[0], plan)]
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130
    show(results, time.monotonic() - began)
    return 1 if any(result.findings for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
