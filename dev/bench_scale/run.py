"""Loads sweeps and measures twice, with few and with many: ``python -m dev.bench_scale.run RESULT_JSON``."""

import os
import sys
from pathlib import Path

from rich.console import Console

from dev.bench.report import conclude, print_table
from dev.bench.service import Service

FEW, SWEEPS = 10_000, 5_000_000  # of the last, at least twice as many


def main(result_file: Path) -> int:
    """Run everything; returns the exit code."""
    console, service = Console(), Service.start()
    from dev.bench_scale import latency, sizes, worker  # noqa: PLC0415 - models exist after django.setup()
    from dev.bench_scale.stock import Stock  # noqa: PLC0415 - as above

    many = int(os.environ.get("SWEEPS", SWEEPS))
    with Stock.started(service) as stock:
        stock.load(FEW)
        stock.keep_as_few()
        stock.load(many)
        sections = [latency.measure(stock, FEW)]
        plans = latency.plans(stock)
        claims, plans_of_claims = worker.measure_claims(stock)
        sections += [claims, worker.measure_expiry(stock), sizes.measure_bytes(stock), sizes.measure_indexes()]
        relations = {name: round(size / stock.last_load, 1) for name, size in stock.bytes_by_relation.items()}
    for section in sections:
        print_table(console, section)
    return conclude(sections, result_file, plans=plans | plans_of_claims, bytesBySweep=relations)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
