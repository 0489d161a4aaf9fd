"""Follows sweeps on Solana: reads the cluster, and decides when to check again."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from sweepapi import networks
from sweepapi.networks import Networks
from sweepapi.solana.landed.sightings import Sighting, read_sightings
from sweeps import schedule
from sweeps.models import Flag
from sweeps.protocol.rail import SweepProgress, Verdict
from sweeps.rails.solana_v1.follow.followed import FollowedSolanaSweep, ends_at

# Beat runs a few seconds late, and a check is promised at least every 30 seconds.
MAX_RECHECK_SECONDS = 20


@dataclass(frozen=True)
class SolanaReading:
    """What was read of one sweep, by execution."""

    sightings: Mapping[Hashable, Sighting]
    is_final: bool = False  # final blocks show it, at two providers where there are two


def read(
    registry: Networks,
    network: str,
    followed: Sequence[FollowedSolanaSweep],
    *,
    timeout_seconds: float | None = None,  # noqa: ARG001 - of a confirm, which V1 does not have
) -> Iterator[list[tuple[UUID, SolanaReading | None]]]:
    """Yield what was read of the sweeps, None where no provider answered about all of it."""
    now = timezone.now()
    subjects = {one.sweep_id: list(one.subjects(now)) for one in followed}
    found = read_sightings(registry.pool(network), [subject for each in subjects.values() for subject in each])
    readings: list[tuple[UUID, SolanaReading | None]] = []
    for sweep_id, each in subjects.items():
        sightings = {subject.key: found[subject.key] for subject in each if subject.key in found}
        readings.append((sweep_id, SolanaReading(sightings) if len(sightings) == len(each) else None))
    yield readings


def next_check(progress: SweepProgress, _verdict: Verdict) -> datetime:
    """Return when to check again: within a few blocks while any can change something, and then ever more rarely."""
    cluster, end = networks.current().cluster(progress.network), ends_at(progress.deadline)
    changes_soon = progress.is_executed or Flag.REORGANISED in progress.flags or progress.now < end
    if changes_soon:
        return progress.now + timedelta(seconds=min(cluster.recheck_seconds, MAX_RECHECK_SECONDS))
    return schedule.backed_off(progress.now, since=end)


def clock(_registry: Networks, _network: str) -> datetime | None:
    """Return None: a blockhash expires at a block height, not at a time."""
