"""Sweeps that are executed before and during an outage, and when each was completed."""

import time
from collections.abc import Collection
from itertools import count, cycle
from random import Random
from uuid import UUID

import psycopg

from dev.processes.errors import LocalWorldError
from lab.chaos import wallets
from lab.chaos.breaking.fault_effects import Scene
from lab.chaos.partner import PartnerApi
from lab.chaos.users.sweeper import Sweeper

WALLETS = 8
RETRY_SECONDS = 0.5


class NotBuiltError(LocalWorldError):
    """No web built a sweep, or the chain refused its transaction."""


class Users:
    """Makes sweeps, one after another."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._tokens = scene.world.local.describe()["tokens"]
        self._wallets = cycle(wallets.create(scene.chain, self._tokens, WALLETS, seed=0))
        self._numbers = count()

    def submit(self) -> str:
        """Build a sweep, send its transaction, which is not mined yet, and report its hash; returns the sweep's id."""
        number, world = next(self._numbers), self._scene.world
        api = PartnerApi(world.base_urls, world.api_keys[0], self._scene.journal)
        wallet, random = next(self._wallets), Random(number)  # noqa: S311 - the same in each run
        user = Sweeper(number, "v5", 0, api, wallet, self._scene.chain, self._tokens, random, self._scene.journal)
        building = user.build()
        try:
            while True:
                next(building)
                time.sleep(RETRY_SECONDS)
        except StopIteration as ended:
            built = ended.value
        tx_hash = user.send(built) if built else None
        if not built or tx_hash is None:
            raise NotBuiltError("no sweep could be built and sent")
        user.report(built, tx_hash)
        return str(built["sweepId"])

    def completed(self, sweeps: Collection[str]) -> dict[str, float]:
        """Return when each of these that is completed was so, in seconds since the epoch."""
        with psycopg.connect(self._scene.world.database_url) as connection:
            found = connection.execute(
                "SELECT id, extract(epoch FROM completed_at)::float8 FROM sweeps_sweep"
                " WHERE id = ANY(%s) AND completed_at IS NOT NULL",
                [[UUID(sweep) for sweep in sweeps]],
            )
            return {str(sweep): at for sweep, at in found}
