"""The faults that a seed fixes: which, to what, from which counted action on, and for how many actions.

They are drawn in lanes. Within a lane one fault ends before the next begins, so at most one provider of a network is
bad at a time; across lanes they overlap, which takes engines and processes down in pairs.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random

from lab.chaos.breaking.providers import KINDS, KINDS_ON_SOLANA

GAP_ACTIONS = {  # between faults, of a run of up to SWEEPS_PER_SPACING sweeps
    "provider": 6,
    "solana_provider": 30,
    "process": 14,
    "engine": 22,
    "chain": 16,
    "tasks": 12,
}
SWEEPS_PER_SPACING = 150
LONGEST_ACTIONS = 18
# A fault ends after this time even if the driver, which may wait for what is down, took no further action.
LONGEST_SECONDS = 3.0
DEEPEST_REORG_BLOCKS = 20
LONGEST_DELAY_SECONDS = 0.08  # after an action began, so that kills come at any point of it

# Which have further processes below them.
SERVERS = ("web-1", "web-2", "web-fallback", "celery-1", "celery-2")
PROCESSES = (*SERVERS, "work-1", "work-2", "beat-1", "beat-2")
_KILLS = [f"{what}:{name}" for what in ("killed", "frozen") for name in PROCESSES]
_PARTS = [f"part_killed:{name}" for name in SERVERS]
_SKEWS = [f"skewed:{name}" for name in PROCESSES]
DECKS: Mapping[str, Sequence[str]] = {
    "provider": KINDS,
    "solana_provider": KINDS_ON_SOLANA,
    "process": [*_KILLS, *_PARTS, *_SKEWS],
    "engine": [
        "redis_flushed",
        "redis_restarted",
        "redis_frozen",
        "postgres_restarted",
        "postgres_frozen",
        "postgres_skewed",
        "failed_over",
    ],
    "chain": ["reorg", "reorg", "reorg", "reorg", "clock_jumped"],
    "tasks": ["duplicated", "delayed"],
}


@dataclass(frozen=True)
class Drawn:
    """One fault; ``kind`` is the name under which it is counted."""

    lane: str
    kind: str
    target: str  # a process, or the position of a provider; blank where there is only one
    at: int
    lasts: int
    seed: int  # of whatever else the fault chooses
    delay_seconds: float

    @property
    def name(self) -> str:
        return f"{self.lane}: {self.kind}"


def draw(seed: int, lane: str, *, sweeps: int) -> Iterator[Drawn]:
    """Yield the faults of one lane for ever; each kind comes once before any comes again.

    The more sweeps, the longer the gaps, so that every run has a few hundred faults, however long it is.
    """
    random = Random(f"{seed} {lane}")
    gap_actions = GAP_ACTIONS[lane] * max(1.0, sweeps / SWEEPS_PER_SPACING)
    deck = list(DECKS[lane])
    at = 0
    while True:
        random.shuffle(deck)
        for card in deck:
            kind, _, target = card.partition(":")
            if lane.endswith("provider"):
                target = str(random.randrange(3))
            at += 1 + random.randrange(int(2 * gap_actions))
            lasts = random.randint(2, LONGEST_ACTIONS)
            yield Drawn(lane, kind, target, at, lasts, random.getrandbits(32), random.random() * LONGEST_DELAY_SECONDS)
            at += lasts
