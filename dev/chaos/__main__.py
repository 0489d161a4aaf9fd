"""``python -m dev.chaos --seeds 3 --sweeps 500``: runs the seeds one after another and prints what happened.

Exits non-zero if a sweep was lost, doubled or stuck, or if the books differ from the chain.
"""

import argparse
import sys
from collections.abc import Sequence

from dev.chaos.faults import DECKS
from dev.chaos.report import show
from dev.chaos.run import Plan, Result, run
from dev.errors import LocalWorldError
from dev.supervisor import Interrupted, say


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.chaos")
    parser.add_argument("--seeds", type=int, default=3, help="how many seeds to run")
    parser.add_argument("--first-seed", type=int, default=1)
    parser.add_argument("--sweeps", type=int, default=500, help="stories per seed")
    parser.add_argument("--lanes", nargs="*", default=list(DECKS), choices=list(DECKS), help="the faults to draw")
    parser.add_argument("--fail-over", action="store_true", help="also lose the last commits of the database")
    given = parser.parse_args(arguments)
    plan = Plan(sweeps=given.sweeps, lanes=given.lanes, fails_over=given.fail_over)
    results: list[Result] = []
    try:
        for seed in range(given.first_seed, given.first_seed + given.seeds):
            results.append(run(seed, plan))
            say(f"seed {seed}: {len(results[-1].findings)} findings after {results[-1].seconds['all']:.0f} s")
    except LocalWorldError as error:
        say(f"stopped: {error}")
        return 1
    except Interrupted as signal_name:
        say(f"stopped by {signal_name}")
        return 130
    show(results)
    return 1 if any(result.findings for result in results) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
