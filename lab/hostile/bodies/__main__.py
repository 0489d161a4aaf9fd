"""Measures refused bodies: ``python -m dev exec -- python -m lab.hostile.bodies``.

Prints tables and targets, and writes both to ``var/bench/hostile_bodies.json``; exits with 1 if a target is missed.
"""

import logging
import sys

from django.conf import settings

from lab.bench.database import set_up
from lab.bench.report import conclude, print_table

SEED = 29
UNLIMITED = 1e6
NO_PROVIDER = "http://127.0.0.1:9"


def main() -> int:
    """Run all measures; returns the exit code."""
    set_up()
    logging.disable(logging.ERROR)  # there would be a line for each refusal
    from lab.bench.service import issued_key, reading_from  # noqa: PLC0415  its models need django.setup()
    from lab.hostile.bodies import at_the_limits, refusing  # noqa: PLC0415
    from lab.hostile.bodies.operations import operations  # noqa: PLC0415

    settings.RATE_LIMIT_FACTOR = UNLIMITED
    api_key, every = issued_key(), operations()
    caller = refusing.Caller(api_key)
    webhooks = next(one for one in every if one.name == "createWebhook")
    types = refusing.measure_types(caller, webhooks)
    with reading_from(NO_PROVIDER):  # a valid body is answered 503, which does not count
        table, worst = refusing.measure(caller, every, seed=SEED)
    slowest = sorted(worst, key=lambda one: -one.seconds)[:3]
    found = [types, table, at_the_limits.measure(api_key, slowest)]
    for section in found:
        print_table(section)
    return conclude(found, "hostile_bodies")


if __name__ == "__main__":
    sys.exit(main())
