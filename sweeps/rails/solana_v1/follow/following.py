"""Follows sweeps on Solana: looks at the cluster, and decides when to look again."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.utils import timezone

from sweepapi import networks
from sweepapi.solana.landed.sightings import Sighting, look
from sweeps import schedule
from sweeps.models import Flag
from sweeps.protocol.rail import Outlook, Verdict
from sweeps.rails.solana_v1.follow.watching import FollowedSolanaSweep

# Beat runs a few seconds late, and a look is promised at least every 30 seconds.
MAX_RECHECK_SECONDS = 20


@dataclass(frozen=True)
class SolanaReading:
    """What was seen of one sweep, by execution."""

    sightings: Mapping[Hashable, Sighting]
    is_final: bool = False  # final blocks show it, at two providers where there are two


def see(
    network: str,
    watched: Sequence[FollowedSolanaSweep],
    *,
    timeout_seconds: float | None = None,  # noqa: ARG001 - of a confirm, which V1 does not have
) -> Iterator[list[tuple[UUID, SolanaReading | None]]]:
    """Yield what was seen of the sweeps, None where no provider answered about all of it."""
    now = timezone.now()
    subjects = {one.sweep_id: list(one.subjects(now)) for one in watched}
    found = look(networks.current().pool(network), [subject for each in subjects.values() for subject in each])
    seen: list[tuple[UUID, SolanaReading | None]] = []
    for sweep_id, each in subjects.items():
        sightings = {subject.key: found[subject.key] for subject in each if subject.key in found}
        seen.append((sweep_id, SolanaReading(sightings) if len(sightings) == len(each) else None))
    yield seen


def next_look(outlook: Outlook, _verdict: Verdict) -> datetime:
    """Return when to look again: within a few blocks while any can change something, and then ever more rarely."""
    cluster = networks.current().cluster(outlook.network)
    changes_soon = outlook.is_executed or Flag.REORGANISED in outlook.flags or outlook.now < outlook.deadline
    if changes_soon:
        return outlook.now + timedelta(seconds=min(cluster.recheck_seconds, MAX_RECHECK_SECONDS))
    return schedule.backed_off(outlook.now, since=outlook.deadline)


def clock(_network: str) -> datetime | None:
    """Return None: a blockhash expires at a block height, not at a time."""
