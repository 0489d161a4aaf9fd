"""Has the drawn faults happen at their counted points, and remembers which happened."""

import time
from collections.abc import Collection
from dataclasses import asdict, dataclass

from lab.chaos.breaking.fault_effects import Scene, effects_of
from lab.chaos.breaking.faults import DECKS, LONGEST_SECONDS, Drawn, draw


@dataclass
class _Lane:
    """The fault under way in a lane, or the next one."""

    next_one: Drawn
    began_at: float = 0.0  # 0 while it waits


class Drawer:
    """Runs on one thread; each lane has one fault at a time."""

    def __init__(self, seed: int, scene: Scene, *, lanes: Collection[str], sweeps: int) -> None:
        self._scene = scene
        self._draws = {lane: draw(seed, lane, sweeps=sweeps) for lane in DECKS if lane in lanes}
        self._lanes = {lane: _Lane(next(faults)) for lane, faults in self._draws.items()}
        self.happened: list[Drawn] = []

    def tick(self, actions: int) -> None:
        """Begin and end what is due after this many actions."""
        for lane in self._lanes.values():
            fault = lane.next_one
            is_over = lane.began_at and (
                actions >= fault.at + fault.lasts or time.monotonic() > lane.began_at + LONGEST_SECONDS
            )
            if is_over:
                self._end(lane)
            elif not lane.began_at and actions >= fault.at:
                self._begin(lane)

    def end_all(self) -> None:
        """End what is under way; nothing begins any more."""
        for lane in self._lanes.values():
            if lane.began_at:
                self._end(lane)

    def _begin(self, lane: _Lane) -> None:
        fault = lane.next_one
        time.sleep(fault.delay_seconds)
        begin, _ = effects_of(fault)
        number = self._scene.journal.add("fault_begins", fault=asdict(fault))
        facts = begin(self._scene, fault)
        self._scene.journal.add("fault_began", begins=number, facts=facts, fault=asdict(fault))
        self.happened.append(fault)
        lane.began_at = time.monotonic()

    def _end(self, lane: _Lane) -> None:
        _, end = effects_of(lane.next_one)
        end(self._scene, lane.next_one)
        self._scene.journal.add("fault_ended", fault=asdict(lane.next_one))
        lane.next_one, lane.began_at = next(self._draws[lane.next_one.lane]), 0.0
