"""Runs the stories side by side, counts their steps, and lets faults and blocks come at counted points."""

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from random import Random

from lab.chaos.breaking.drawer import Drawer
from lab.chaos.breaking.fault_effects import Scene
from lab.chaos.users.cast import Cast, Running
from lab.chaos.users.sweeper import Steps

CLIENTS = 12  # steps at the same time
ACTIONS_PER_BLOCK = 4
POLL_SECONDS = 0.02


class Driver:
    """Keeps as many stories going as there are wallets."""

    def __init__(self, *, scene: Scene, drawer: Drawer, cast: Cast, random: Random) -> None:
        self._world, self._chain, self._journal = scene.world, scene.chain, scene.journal
        self._drawer, self._cast, self._random = drawer, cast, random
        self._idle: list[Running] = []
        self._busy: dict[Future[int | None], Running] = {}
        self.actions = 0

    def run(self) -> None:
        """Run every story to its end."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            while self._begin_stories() or self._idle or self._busy:
                self._collect()
                if len(self._busy) < CLIENTS and not self._step(clients) and not self._busy:
                    self._count()  # all stories wait for others to act
                elif self._busy:
                    wait(self._busy, timeout=POLL_SECONDS, return_when=FIRST_COMPLETED)
                self._drawer.tick(self.actions)
                self._revive()

    def _begin_stories(self) -> bool:
        """Begin as many stories as have a wallet; False if none was begun."""
        begun = False
        while (story := self._cast.begin()) is not None:
            self._idle.append(story)
            begun = True
        return begun

    def _step(self, clients: ThreadPoolExecutor) -> bool:
        """Start the next step of a story that is due; False if none is."""
        due = [story for story in self._idle if story.due <= self.actions]
        if not due:
            return False
        story = self._random.choice(due)
        self._idle.remove(story)
        self._busy[clients.submit(_next_step, story.steps)] = story
        self._count()
        return True

    def _count(self) -> None:
        self.actions += 1
        if self.actions % ACTIONS_PER_BLOCK == 0:
            self._chain.mine()

    def _collect(self) -> None:
        for future in [future for future in self._busy if future.done()]:
            story = self._busy.pop(future)
            pause = future.result()
            if pause is None:
                self._cast.end(story)
            else:
                story.due = self.actions + pause
                self._idle.append(story)

    def _revive(self) -> None:
        """Start again what ended by itself, as ``restart`` does in compose.yaml."""
        for name in self._world.fleet.exited():
            self._journal.add("exited", name=name)
            self._world.bring_up(name)


def _next_step(steps: Steps) -> int | None:
    """Take one step; returns the pause after it, None at the end of the story."""
    return next(steps, None)
