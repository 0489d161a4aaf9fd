"""Draws the stories of a seed: which sweep each is about, and who its partner and user are."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any, TypeVar

from dev.chain.rpc import Rpc
from dev.wallets import SolanaWallet
from lab.chaos.chain import ChaosChain
from lab.chaos.journal import Journal
from lab.chaos.partner import PartnerApi
from lab.chaos.users import solana_stories, stories
from lab.chaos.users.solana_stories import SolanaUser
from lab.chaos.users.sweeper import Steps, Sweeper
from lab.chaos.wallets import ChaosWallet
from lab.chaos.world import ChaosWorld

MODES = {"v5": 65, "v4": 25, "v1": 10}  # in per cent

Story = TypeVar("Story")


@dataclass(eq=False)
class Running:
    """A story under way."""

    name: str
    steps: Steps
    wallet: ChaosWallet | None  # None on Solana, where users share wallets
    due: int = 0  # the action before which its next step does not come


class Cast:
    """Begins stories, one after another; a wallet is in one story at a time."""

    def __init__(  # noqa: PLR0913 - all that a story needs
        self,
        *,
        seed: int,
        sweeps: int,
        world: ChaosWorld,
        chain: ChaosChain,
        journal: Journal,
        tokens: dict[str, dict[str, Any]],
        wallets: Sequence[ChaosWallet],
    ) -> None:
        self._seed, self._sweeps = seed, sweeps
        self._world, self._chain, self._journal, self._tokens = world, chain, journal, tokens
        self._free = deque(wallets)
        self._solana = world.cluster.describe()
        self._begun = 0

    def begin(self) -> Running | None:
        """Begin the next story; None if there are no more, or if every wallet is in use."""
        if self._begun == self._sweeps or not self._free:
            return None
        number, self._begun = self._begun, self._begun + 1
        random = Random(f"{self._seed} story {number}")
        [mode] = random.choices(list(MODES), list(MODES.values()))
        partner = random.randrange(len(self._world.api_keys))
        urls = [self._world.fallback_url] if mode == "v4" else self._world.base_urls
        api = PartnerApi(urls, self._world.api_keys[partner], self._journal)
        if mode == "v1":
            return self._on_solana(number, partner, api, random)
        story, wallet = _drawn(stories.WEIGHTS, random), self._free.popleft()
        self._journal.add("story", story=number, name=story.__name__, mode=mode)
        user = Sweeper(number, mode, partner, api, wallet, self._chain, self._tokens, random, self._journal)
        return Running(story.__name__, story(user), wallet)

    def end(self, running: Running) -> None:
        """Take the wallet of a story that is over."""
        if running.wallet is not None:
            self._free.append(running.wallet)

    def _on_solana(self, number: int, partner: int, api: PartnerApi, random: Random) -> Running:
        story = _drawn(solana_stories.WEIGHTS, random)
        self._journal.add("story", story=number, name=f"solana_{story.__name__}", mode="v1")
        rpc = Rpc(self._world.cluster.rpc_url)
        wallet = SolanaWallet(rpc, random.choice(self._solana["users"])["privateKey"])
        user = SolanaUser(number, partner, api, wallet, rpc, self._solana["mints"], random, self._journal)
        return Running(story.__name__, story(user), None)


def _drawn(weights: Mapping[Story, int], random: Random) -> Story:
    [story] = random.choices(list(weights), list(weights.values()))
    return story
