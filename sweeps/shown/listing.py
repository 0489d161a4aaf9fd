"""One sweep of a page of sweeps, as ``ListedSweepSerializer`` describes it."""

from sweepapi.token_amounts import whole_tokens
from sweeps.protocol.presentation import Part, Snapshot
from sweeps.protocol.rail import Rail
from sweeps.shown import parts


def listed(snapshot: Snapshot, rail: Rail) -> Part:
    """Return the JSON of a sweep of this rail in a list."""
    summary, decimals = parts.summary(snapshot), snapshot["output_decimals"]
    fees = {name: _formatted(summary["fees"][name], decimals) for name in ("expectedFees", "actualFees")}
    return {**parts.facts(snapshot, mode=rail.mode), **summary, "feesFormatted": fees}


def _formatted(split: Part | None, decimals: int) -> Part | None:
    if split is None:
        return None
    return {name: whole_tokens(int(units), decimals) for name, units in split.items()}
