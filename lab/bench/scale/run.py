"""Loads sweeps and measures twice, with few and with many: ``python -m lab.bench.scale.run``."""

import os
import sys

from lab.bench.database import set_up
from lab.bench.report import conclude, print_table

FEW, SWEEPS = 10_000, 5_000_000  # of the last, at least twice as many


def main() -> int:
    """Run everything; returns the exit code."""
    set_up()
    from lab.bench.scale import console, latency, sizes, worker  # noqa: PLC0415 - models exist after django.setup()
    from lab.bench.scale.stock import Stock  # noqa: PLC0415 - as above
    from lab.bench.service import Service  # noqa: PLC0415 - as above

    many = int(os.environ.get("SWEEPS", SWEEPS))
    with Stock.started(Service.start()) as stock:
        stock.load(FEW)
        stock.keep_as_few()
        stock.load(many)
        sections = [latency.measure(stock, FEW), console.measure_console(stock)]
        plans = latency.plans(stock)
        claims, plans_of_claims = worker.measure_claims(stock)
        sections += [claims, worker.measure_expiry(stock), sizes.measure_bytes(stock), sizes.measure_indexes()]
        relations = {name: round(size / stock.last_load, 1) for name, size in stock.bytes_by_relation.items()}
    for section in sections:
        print_table(section)
    return conclude(sections, "scale", plans=plans | plans_of_claims, bytesBySweep=relations)


if __name__ == "__main__":
    sys.exit(main())
